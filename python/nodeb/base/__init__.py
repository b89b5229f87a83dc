"""Basic modules: arguments, signals, tables, units, Student's t."""
