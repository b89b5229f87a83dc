"""Helpers of the other modules, such as argument checks, signals, tables and Student's t."""
