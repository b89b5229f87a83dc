"""Helpers of all other modules: argument checks, signals, tables, units, Student's t."""
