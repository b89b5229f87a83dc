"""Results of link experiments: error rates with intervals, error sequences, and their files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from nodeb.answer.answering import Answering
from nodeb.answer.words import counted
from nodeb.base.table import Table, read_only
from nodeb.errors import InputError
from nodeb.results.provenance import Provenance
from nodeb.storage.cells import name_of
from nodeb.storage.files import read_parquet, write_bytes, write_json, write_parquet
from nodeb.storage.folders import Owner, Place, claim

if TYPE_CHECKING:
    from nodeb.answer import Answer
    from nodeb.link.experiment import Experiment

RATES = {
    "ber": "bits",
    "per": "pdus",
    "bler": "blocks",
    "raw_ber": "raw",
    "signalling_bler": "signalling",
}
"""Kind of trial of each rate, by the column of the rate in the table `points`."""
POINTS, EXPERIMENT = "points.parquet", "experiment.json"


@dataclass(frozen=True)
class Rate:
    """Error rate with numbers of trials and errors, and a 95 % interval that allows for bursts."""

    trials: int
    errors: int
    rate: float
    """Errors per trial; NaN if there were no trials."""
    ci95_low: float
    ci95_high: float


@dataclass(frozen=True)
class Point:
    """Results of the link at one Eb/N0: error sequence and error rates."""

    eb_n0_db: float
    pdus_per_block: int
    """Number of PDUs of a transport block."""
    pdu_errors: NDArray[np.uint8]
    """Error sequence: for each PDU in the order of transmission, 1 if it was lost, else 0."""
    rates: Mapping[str, Rate]
    """Error rates by kind of trial.

    The kinds are `bits` (after decoding), `raw` (bits before decoding), `pdus`, `blocks`, and
    `signalling` (TTIs of the signalling channel).
    """
    undetected: int
    """Number of PDUs with wrong bits whose CRC is correct; without a CRC, all with wrong bits."""
    iterations: float
    """Mean number of iterations of the turbo decoder for a transport block.

    Iterations for all code blocks of the transport block are added. 0 with a convolutional code, or
    if no block was simulated.
    """
    air_s: float
    """Simulated time on the air, s."""
    interrupted: bool = False
    """Whether Ctrl-C interrupted the simulation of this point."""

    @classmethod
    def from_core(cls, eb_n0_db: float, pdus_per_block: int, found: Mapping[str, Any]) -> Self:
        """Creates a point from the dict that the core returns for one Eb/N0."""
        blocks = found["blocks"]["trials"]
        return cls(
            eb_n0_db,
            pdus_per_block,
            read_only(found["pdu_errors"]),
            {kind: Rate(**found[kind]) for kind in RATES.values()},
            found["undetected"],
            found["iterations"] / blocks if blocks else 0.0,
            found["air_s"],
            found["interrupted"],
        )

    @property
    def ber(self) -> Rate:
        """Bit error rate after decoding, with its 95 % interval."""
        return self.rates["bits"]

    @property
    def per(self) -> Rate:
        """PDU error rate: the share of PDUs whose CRC failed, with its 95 % interval."""
        return self.rates["pdus"]

    @property
    def bler(self) -> Rate:
        """Block error rate: share of transport blocks with a lost PDU, with its 95 % interval."""
        return self.rates["blocks"]

    def row(self) -> dict[str, Any]:
        """Returns the point's row of the table `LinkResult.points`: values by column."""
        row: dict[str, Any] = {"eb_n0_db": self.eb_n0_db}
        for name, kind in RATES.items():
            rate = self.rates[kind]
            row |= {f"{kind}": rate.trials, f"{kind}_errors": rate.errors, name: rate.rate}
            row |= {f"{name}_ci95_low": rate.ci95_low, f"{name}_ci95_high": rate.ci95_high}
        more = {"undetected": self.undetected, "iterations_mean": self.iterations}
        return row | more | {"air_s": self.air_s}


class LinkResult(Answering):
    """Points of a link experiment, in the order of its `eb_n0_db`; `result[0]` is the first one."""

    def __init__(
        self, experiment: Experiment, points: Sequence[Point], provenance: Provenance
    ) -> None:
        self.experiment = experiment
        """Experiment that was simulated, with every default filled in."""
        self._points = tuple(points)
        self.provenance = provenance
        """Origin of the result: seed, version of nodeb, wall time and more."""

    def __len__(self) -> int:
        return len(self._points)

    def __getitem__(self, number: int) -> Point:
        return self._points[number]

    def __iter__(self) -> Iterator[Point]:
        return iter(self._points)

    def db(self, point: Point) -> str:
        """Returns the Eb/N0 of one of the points as text, dB.

        It has six significant digits, or as many more as distinguish the points.
        """
        return f"{point.eb_n0_db:.{self._digits}g}"

    @cached_property
    def _digits(self) -> int:
        """Number of significant digits that distinguish all points; 17 do so for any two."""
        every = [point.eb_n0_db for point in self]
        enough = (n for n in range(6, 17) if len({f"{at:.{n}g}" for at in every}) == len(every))
        return next(enough, 17)

    @property
    def points(self) -> Table:
        """Table with one row per Eb/N0: trials, errors and rates with 95 % intervals.

        `ber`, `per` and `bler` are the rates of bit errors after decoding, of lost PDUs, and of
        blocks with a lost PDU. `raw_ber` is the bit error rate before decoding, and
        `signalling_bler` the block error rate of the signalling channel.
        """
        return Table.of_rows([point.row() for point in self])

    def save(self, folder: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Writes the result to a folder, completely or not at all.

        Args:
            folder: results folder, created if missing. An earlier result of the same experiment in
                it is replaced, unless that one is complete and this one was interrupted.
            force: whether to replace results of another experiment or command too.

        Returns:
            The folder: `points.parquet`, `experiment.json`, `provenance.json`, and for each point
            its error sequence, `errors_<Eb/N0>dB.txt`, which `nodeb fit` reads.

        Raises:
            OutputError: the folder is not nodeb's, belongs to another experiment, or cannot be
                written; its previous content is kept.
        """
        settled = name_of(self.experiment.to_dict())
        runs = self.provenance.runs
        owner = Owner("link", self.experiment.name, made_of=settled, runs=runs)
        with claim(folder, owner, force=force) as place:
            return self.put(place)

    def put(self, place: Place) -> Path:
        """Writes the files of `save` to a claimed folder. Returns the folder."""

        def write(part: Path) -> None:
            for point in self:
                text = errors_text(point.pdu_errors, point.pdus_per_block, self._origin(point))
                write_bytes(part / f"errors_{self.db(point)}dB.txt", text.encode())
            write_json(part / EXPERIMENT, self.experiment.to_dict())
            write_parquet(part / POINTS, self.points, {"name": self.experiment.name})

        return place.put(write, self.provenance.to_dict())

    def _origin(self, point: Point) -> str:
        return f"{self.experiment.name}, Eb/N0 {self.db(point)} dB, seed {self.experiment.seed}"

    @property
    def answer(self) -> Answer:
        """Answer of the experiment: the shares of failed blocks."""
        from nodeb.link.answer import answer

        return answer(self)

    def __repr__(self) -> str:
        return f"<LinkResult {self.experiment.name!r}: {counted(len(self), 'point')}>"


def errors_text(errors: NDArray[np.uint8], pdus_per_block: int, origin: str) -> str:
    """Returns an error sequence as text: a line per transport block, a digit (0 or 1) per PDU.

    Args:
        errors: for each PDU, 1 if it was lost, else 0.
        pdus_per_block: number of PDUs of a transport block.
        origin: description of the simulation for the first line, a comment.
    """
    digits = (errors + ord("0")).astype(np.uint8).tobytes().decode("ascii")
    blocks = (digits[at : at + pdus_per_block] for at in range(0, len(digits), pdus_per_block))
    head = f"# {origin}\n# 1 is a lost PDU; a line is a transport block\n"
    return f"{head}# pdus_per_block = {pdus_per_block}\n" + "\n".join(blocks) + "\n"


def read_points(folder: Path) -> tuple[str, Table]:
    """Reads the experiment's name and the table of points from a folder of link results.

    Raises:
        InputError: the folder has no link results, or they cannot be read.
    """
    try:
        table, about = read_parquet(folder / POINTS)
    except FileNotFoundError:
        raise InputError(f"{folder}: no results of `nodeb link run` in here ({POINTS})") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{folder / POINTS}: cannot be read: {error}") from None
    return about.get("name", folder.name), table
