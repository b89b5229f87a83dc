"""Reproductions of published studies: tables and figures measured again, statements judged.

A study is a program (`nodeb.study`); this package measures its tables and figures, and writes a
report.

    >>> from pathlib import Path
    >>> import nodeb.reproduce
    >>> outcome = nodeb.reproduce.run("wang", Path("out"), items=["Table 13"])  # doctest: +SKIP
"""

from nodeb.reproduce.every import Summary, run_all
from nodeb.reproduce.reproduction import DEFAULT_SEED, ReproduceOutcome, run
from nodeb.studies import names

__all__ = ["DEFAULT_SEED", "ReproduceOutcome", "Summary", "names", "run", "run_all"]
