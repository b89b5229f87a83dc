"""Comparisons of nodeb with its references: ns-2, Linux, closed forms, studies, decoders, traces.

Each module but `row` has a function `rows` that repeats the comparison with one reference.
"""
