"""Results: tables, their columns, summaries and provenance."""
