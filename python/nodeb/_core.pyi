"""The simulation core, written in Rust. Use it through `nodeb.Scenario` rather than directly."""

from typing import Any, final

__all__ = [
    "Cancelled",
    "Control",
    "ScenarioError",
    "parse_toml",
    "registry",
    "resolve",
    "run",
    "schema",
    "to_toml",
    "version",
]

class ScenarioError(ValueError):
    """A scenario is wrong; the message names file, line and key, and is complete."""

class Cancelled(Exception):
    """The replication was cancelled through its `Control`."""

@final
class Control:
    """Watches and stops one replication from another thread."""

    def __new__(cls) -> Control: ...
    def cancel(self) -> None:
        """Ask the replication to stop; it raises `Cancelled` soon after."""

    def progress(self) -> float:
        """How much of the replication is done, from 0 to 1."""

def schema() -> str:
    """JSON Schema (draft 2020-12) of a scenario."""

def registry() -> list[tuple[str, str, str]]:
    """Kind, name and one-line description of every registered variant."""

def parse_toml(text: str, file: str, overrides: list[str]) -> str:
    """Resolved scenario, as JSON, of a TOML text and of overrides `key.path=value`."""

def resolve(json: str) -> str:
    """Resolved scenario (every default filled in) of a partial one, both as JSON."""

def to_toml(json: str) -> str:
    """A scenario given as JSON, written as TOML."""

def run(json: str, seed: int, run: int, control: Control) -> dict[str, dict[str, Any]]:
    """Simulate one replication; returns table -> column -> values. Releases the GIL.

    A column is a NumPy array of one dimension, or a list of str.
    """

def version() -> str:
    """Version of the core."""
