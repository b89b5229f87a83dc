"""Real packets through a scenario's cell: commands run as its phones, in network namespaces of their own.

`session.emulate` is the whole of it; `plan.make` says which users are real. Only Linux has what this needs.
"""
