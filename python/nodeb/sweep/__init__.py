"""Sweeps: a scenario with many values of some keys, from the `[sweep]` table of its file.

    [sweep]
    "radio.hs_dsch.bler" = { from = 0.0, to = 0.2, steps = 5 }
    "users.0.count" = [1, 2, 4]

`Sweep.load(file).run(folder)` simulates the missing cells of the folder and returns the table.
"""

from nodeb.sweep.sweep import Outcome, Sweep

__all__ = ["Outcome", "Sweep"]
