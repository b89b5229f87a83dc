"""Replications: rules that say how many, the engine that simulates them, threads, signals."""
