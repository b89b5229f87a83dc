"""Provenance of a result: data needed to reproduce it."""

from __future__ import annotations

import hashlib
import platform
import sys
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from nodeb import _core
from nodeb.inputs.scenario import PLAN, Scenario
from nodeb.storage.cells import name_of


@dataclass(frozen=True, slots=True)
class Provenance:
    """Facts besides the scenario that a result depends on, or that readers may need."""

    seed: int
    runs: int
    stopping: str
    """Reason for the number of replications, such as "20 replications, as asked"."""
    precision_reached: bool | None
    wall_time_s: float
    jobs: int
    """Replications simulated concurrently; does not change any result."""
    started: str
    """Start of the experiment, ISO 8601, UTC."""
    version: str
    git: str | None
    python: str
    platform: str

    @classmethod
    def now(cls, **known: Any) -> Provenance:
        return cls(
            **origin() | known,
            python=sys.version.split()[0],
            platform=platform.platform(),
        )

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields by name, as plain data that JSON supports."""
        return asdict(self)


def origin(when: str = "started") -> dict[str, Any]:
    """Returns the version (key `version`), the commit (key `git`), and the present time."""
    return {"version": _core.version(), "git": git_hash(), when: utc_now()}


def results_hash(scenario: Scenario, seed: int, **more: Any) -> str:
    """The name and the number of replications do not change the hash. Results also depend on the
    version of the core, which is not part of the hash."""
    data, recorded = scenario.resolved().without_recordings()
    parts = {key: value for key, value in data.items() if key not in PLAN}
    return name_of({**parts, "recorded": [one.digest() for one in recorded], "seed": seed, **more})


def utc_now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


@cache
def core_hash() -> str:
    """Returns a hash that identifies the compiled core: of its version and its file."""
    file = Path(_core.__file__ or "")
    content = file.read_bytes() if file.is_file() else b""
    return hashlib.sha256(_core.version().encode() + content).hexdigest()


@cache
def git_hash() -> str | None:
    root = Path(__file__).resolve().parents[3]
    if not (root / ".git").exists():  # An installed copy.
        return None
    import subprocess

    # Without optional locks, a full disk leaves no lock file in the checkout.
    command = ["git", "-C", str(root), "--no-optional-locks", "status", "--porcelain=v2"]
    try:
        shown = subprocess.run(
            [*command, "--branch", "--untracked-files=no"],
            capture_output=True,
            text=True,
            check=True,
            timeout=10,
        ).stdout.splitlines()
    except (OSError, subprocess.SubprocessError):
        return None
    commit = next(line.split()[-1] for line in shown if line.startswith("# branch.oid"))
    return f"{commit}-dirty" if any(line[0] != "#" for line in shown) else commit
