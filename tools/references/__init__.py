"""How far nodeb can be trusted: every witness, asked again; a file for each."""
