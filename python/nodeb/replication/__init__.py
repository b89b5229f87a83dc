"""Replications: stopping rules, the engine that simulates them, threads and clusters."""
