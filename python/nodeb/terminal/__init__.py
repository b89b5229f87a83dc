"""Terminal output: progress of long operations."""
