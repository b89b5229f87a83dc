"""What comes from files and from users: scenarios, and the files that they name."""
