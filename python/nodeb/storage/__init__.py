"""Files and folders: written atomically, claimed by their owners, verified when read."""
