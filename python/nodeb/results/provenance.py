"""Where a result comes from, so that it can be made again."""

from __future__ import annotations

import hashlib
import platform
import subprocess
import sys
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from nodeb import _core
from nodeb.inputs.scenario import PLAN, Scenario
from nodeb.storage.store import name_of

__all__ = ["Provenance", "core_hash", "git_hash", "made", "made_of", "utc_now"]


@dataclass(frozen=True, slots=True)
class Provenance:
    """Everything beside the scenario that a result depends on, or that one may want to know."""

    seed: int
    """Seed of the named random streams."""
    runs: int
    """Replications in the result."""
    stopping: str
    """Why there are that many replications."""
    precision_reached: bool | None
    """Whether the precision asked for was reached; None when none was asked for."""
    wall_time_s: float
    """Duration of the experiment on the clock, s."""
    jobs: int
    """Replications simulated at a time; does not change any result."""
    started: str
    """When the experiment began, ISO 8601, UTC."""
    version: str
    """Version of nodeb."""
    git: str | None
    """Commit of the checkout that nodeb runs from, `-dirty` if changed; None outside of one."""
    python: str
    """Version of Python."""
    platform: str
    """Operating system and processor."""

    @classmethod
    def now(cls, **known: Any) -> Provenance:
        """Provenance with the fields that describe this installation filled in.

        Args:
            known: the remaining fields, by name.
        """
        return cls(
            **made() | known,
            python=sys.version.split()[0],
            platform=platform.platform(),
        )

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain data."""
        return asdict(self)


def made(when: str = "started") -> dict[str, Any]:
    """What made results, and when: `version`, `git` and the time.

    Args:
        when: what the time is called.
    """
    return {"version": _core.version(), "git": git_hash(), when: utc_now()}


def made_of(scenario: Scenario, seed: int, **more: Any) -> str:
    """Returns a hash of all that results depend on but the number of replications.

    Args:
        scenario: what is simulated.
        seed: of the random streams.
        more: plain data besides.
    """
    data, recorded = scenario.resolved().without_recordings()
    parts = {key: value for key, value in data.items() if key not in PLAN}
    return name_of({**parts, "recorded": [one.digest() for one in recorded], "seed": seed, **more})


def utc_now() -> str:
    """The time, ISO 8601, UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@cache
def core_hash() -> str:
    """What tells the compiled core from all others: its version and a hash of its file."""
    file = Path(_core.__file__ or "")
    content = file.read_bytes() if file.is_file() else b""
    return hashlib.sha256(_core.version().encode() + content).hexdigest()


@cache
def git_hash() -> str | None:
    """Commit of the checkout that this file belongs to; None when it is not under git."""
    here = Path(__file__).resolve()

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", "-C", str(here.parent), *arguments],
            capture_output=True,
            text=True,
            check=True,
            timeout=10,
        ).stdout.strip()

    try:
        # An installed copy may lie in an ignored folder of somebody else's checkout.
        git("ls-files", "--error-unmatch", here.name)
        return git("describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")
    except (OSError, subprocess.SubprocessError):
        return None
