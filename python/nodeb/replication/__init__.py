"""Replications: stopping rules, the engine that simulates replications, threads and clusters."""
