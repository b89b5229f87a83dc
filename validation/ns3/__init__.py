"""Comparison of LTE cells in nodeb and ns-3: cases, predictions, both simulations, results."""
