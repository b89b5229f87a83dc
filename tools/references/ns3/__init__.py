"""Comparison of LTE cells in nodeb and in ns-3: cases with predictions, both simulations, results."""
