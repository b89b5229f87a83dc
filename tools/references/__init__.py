"""Comparisons of nodeb with its references: ns-2, a Linux kernel, closed forms, studies, decoders.

Each module has a function `rows` that repeats the comparison with one reference.
"""
