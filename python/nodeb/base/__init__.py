"""What everything stands on: arguments, signals, tables, units."""
