"""Real packets through a scenario's cell: commands run as its phones, in real time.

`session.emulate` is the whole of it; `plan.make` says which users are real; `host` is what runs in
a network namespace. Only Linux has what this needs.
"""
