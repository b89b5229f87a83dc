"""The simulation core, written in Rust. Use it through `nodeb.Scenario` rather than directly."""

import os
from typing import Any, final

__all__ = [
    "Cancelled",
    "Control",
    "ScenarioError",
    "capture",
    "document",
    "line_of",
    "parse_toml",
    "registry",
    "resolve",
    "run",
    "schema",
    "to_toml",
    "version",
    "wcdma_ber",
    "wcdma_check_bits",
    "wcdma_frame",
    "wcdma_mean_factor",
    "wcdma_rates",
    "wcdma_shares",
    "wcdma_sinr",
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
    """Resolved scenario, as JSON, of a TOML text and of overrides `key.path=value`.

    A `[sweep]` table is left aside.
    """

def document(text: str, file: str) -> str:
    """Everything that a TOML text says, as JSON, in its order; only its form is checked."""

def line_of(text: str, path: list[str]) -> int | None:
    """Line, from 1, of the value at a path of keys, or of what is nearest around it."""

def resolve(json: str) -> str:
    """Resolved scenario (every default filled in) of a partial one, both as JSON."""

def to_toml(json: str) -> str:
    """A scenario given as JSON, written as TOML."""

def run(json: str, seed: int, run: int, control: Control) -> dict[str, dict[str, Any]]:
    """Simulate one replication; returns table -> column -> values. Releases the GIL.

    A column is a NumPy array of one dimension, or a list of str.
    """

def capture(
    json: str,
    seed: int,
    run: int,
    control: Control,
    path: str | os.PathLike[str],
    snap_length: int | None = None,
    interfaces: list[str] = ...,
) -> dict[str, dict[str, Any]]:
    """Simulate as `run` does, and write the packets that pass server, phones and proxy.

    Args:
        json: the scenario.
        seed: seed of the random streams.
        run: number of the replication.
        control: stops the replication; the file then holds the packets so far.
        path: the pcapng file.
        snap_length: bytes kept of each packet, 80 to 65535; None keeps the headers.
        interfaces: where packets are kept, of `server`, `phone` and `proxy`; empty for all.

    Raises:
        OSError: the file cannot be written, or not all of it; what it holds can be read.
        ValueError: the snap length makes no sense, or there is no such interface.
    """

def version() -> str:
    """Version of the core."""

def wcdma_sinr(
    path: float, own_cell: float, other_cells: float, spreading: float, eb_n0: float
) -> float:
    """Average SINR of a path."""

def wcdma_ber(gammas: list[float]) -> float:
    """Bit error rate over paths with these mean signal-to-noise ratios."""

def wcdma_frame(ber: float, bits: int, correctable: int) -> tuple[float, float]:
    """Probabilities of at most and of more than `correctable` errors in a frame."""

def wcdma_check_bits(bits: int, correctable: int) -> int | None:
    """Check bits of a code that corrects so many errors; None where no data would be left."""

def wcdma_shares(json: str) -> list[float]:
    """The share of each path of a scenario's power delay profile."""

def wcdma_rates(
    json: str, most: int, seed: int, run: int
) -> tuple[list[list[int]], list[list[float]], float]:
    """For 1 to `most` active connections their rates and frame error rates, and alpha."""

def wcdma_mean_factor(json: str, places: int) -> float:
    """The factor of the mean sense that stands for a scenario's map."""
