"""Terminal output: progress."""
