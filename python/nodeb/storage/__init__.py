"""Files and folders: written whole, claimed by what made them, checked when read."""
