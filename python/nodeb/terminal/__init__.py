"""What is shown on a terminal: aligned tables and progress."""
