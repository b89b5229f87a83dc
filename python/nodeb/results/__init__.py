"""What comes out: tables, their columns, summaries, and where they come from."""
