"""Scenarios and the files that they name: reading, checking, importing."""
