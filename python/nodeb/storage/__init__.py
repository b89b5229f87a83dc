"""Files and folders of results: a temporary name and one rename; SQLite for cells."""
