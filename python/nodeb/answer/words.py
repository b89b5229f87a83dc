"""Shares, counts and lists in words."""

from nodeb._core import counted, fraction, joined, part_percent, percent, sentence, spelled

__all__ = ["counted", "fraction", "joined", "part_percent", "percent", "sentence", "spelled"]
