"""Comparisons of nodeb with its references: ns-2, Linux, closed forms, studies, decoders,
traces.

The comparison with ns-3 is the package `ns3`, whose program is `validation/ns3_lte.py`.
"""
