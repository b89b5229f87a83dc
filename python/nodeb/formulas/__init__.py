"""Closed formulas: TCP on a radio link, and the link model of the WCDMA downlink."""
