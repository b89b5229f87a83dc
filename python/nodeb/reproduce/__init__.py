"""Published studies, reproduced: every table and figure measured again, every statement judged.

A study is a folder of data (`study.toml`, `published.toml`, `claims.toml` and a scenario file);
the code here is common to all studies.

    >>> from pathlib import Path
    >>> import nodeb.reproduce
    >>> outcome = nodeb.reproduce.run("wang", Path("out"), items=["Table 13"])  # doctest: +SKIP
"""

from nodeb.reproduce.every import Summary, run_all
from nodeb.reproduce.outcome import ReproduceOutcome
from nodeb.reproduce.reproduction import DEFAULT_SEED, run
from nodeb.reproduce.study import names

__all__ = ["DEFAULT_SEED", "ReproduceOutcome", "Summary", "names", "run", "run_all"]
