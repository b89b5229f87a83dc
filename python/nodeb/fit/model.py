"""Models of PDU errors: a chain of PDUs, or of blocks with a distribution inside a failed one."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nodeb.base.arguments import as_path
from nodeb.errors import writing
from nodeb.fit.chain import Chain
from nodeb.fit.sequence import Bits, ErrorSequence
from nodeb.inputs.named_files import run_lengths
from nodeb.storage.files import write_json

FORMAT, VERSION = "nodeb-error-model", 1


@dataclass(frozen=True, eq=False)
class Within:
    """Distribution of the lost PDUs inside a failed block: of patterns, or of their number."""

    pdus: int
    """PDUs per block."""
    patterns: dict[str, float]
    """Pattern, such as "0101", -> probability; empty if the number of lost PDUs is modelled."""
    count_law: tuple[float, ...]
    """Probability of 1, 2, ... `pdus` lost PDUs; empty if patterns are modelled.

    All patterns with the same number of lost PDUs are equally likely.
    """
    parameters: int

    @classmethod
    def of_patterns(cls, errors: ErrorSequence) -> Self:
        """Fits the probability of each observed loss pattern: its share of the failed blocks."""
        seen, counts = np.unique(_failed(errors), axis=0, return_counts=True)
        shares = counts / counts.sum()
        law = {"".join(map(str, row)): float(p) for row, p in zip(seen, shares, strict=True)}
        return cls(errors.pdus_per_block, law, (), len(law) - 1)

    @classmethod
    def of_counts(cls, errors: ErrorSequence) -> Self:
        """Fits the probability of each number of lost PDUs: its share of the failed blocks."""
        n = errors.pdus_per_block
        counts = np.bincount(_failed(errors).sum(axis=1), minlength=n + 1)[1:]
        return cls(n, {}, tuple(float(p) for p in counts / counts.sum()), n - 1)

    @classmethod
    def fitted(cls, errors: ErrorSequence) -> Self:
        """Fits both, and returns the one with the smaller BIC."""
        failed = len(_failed(errors))

        def bic(law: Self) -> float:
            return law.parameters * math.log(failed) - 2.0 * law.log_likelihood(errors)

        return min(cls.of_counts(errors), cls.of_patterns(errors), key=bic)

    @property
    def lost_share(self) -> float:
        """Mean share of the PDUs of a failed block that are lost."""
        if self.patterns:
            lost = sum(p * text.count("1") for text, p in self.patterns.items())
        else:
            lost = sum(p * number for number, p in enumerate(self.count_law, start=1))
        return lost / self.pdus

    def log_likelihood(self, errors: ErrorSequence) -> float:
        """Log-probability of the loss patterns of the failed blocks; -inf if one is impossible."""
        failed = _failed(errors)
        if self.patterns:
            seen, counts = np.unique(failed, axis=0, return_counts=True)
            shares = np.array([self.patterns.get("".join(map(str, row)), 0.0) for row in seen])
        else:
            seen, counts = np.unique(failed.sum(axis=1), return_counts=True)
            shares = np.array([self.count_law[k - 1] / math.comb(self.pdus, k) for k in seen])
        with np.errstate(divide="ignore"):
            return float(counts @ np.log(shares))

    def expand(self, block_errors: Bits, random: np.random.Generator) -> Bits:
        """Draws the lost PDUs of each failed block, and returns the PDU errors of all blocks."""
        blocks = np.zeros((len(block_errors), self.pdus), dtype=np.uint8)
        failed = np.flatnonzero(block_errors)
        if self.patterns:
            rows = np.array([list(map(int, text)) for text in self.patterns], dtype=np.uint8)
            chosen = random.choice(len(rows), len(failed), p=list(self.patterns.values()))
            blocks[failed] = rows[chosen]
        else:
            lost = random.choice(self.pdus, len(failed), p=list(self.count_law)) + 1
            place = random.random((len(failed), self.pdus)).argsort(axis=1).argsort(axis=1)
            blocks[failed] = place < lost[:, None]
        return np.asarray(blocks.ravel())

    def to_dict(self) -> dict[str, Any]:
        """Value of `within_block` in a model file."""
        return {"patterns": self.patterns} if self.patterns else {"count_law": list(self.count_law)}


def _failed(errors: ErrorSequence) -> NDArray[np.uint8]:
    """One row per failed block."""
    return np.asarray(errors.blocks[errors.block_errors == 1])


@dataclass(frozen=True, eq=False)
class ErrorModel:
    """Model of the losses of a link: a random process that determines whether each PDU is lost."""

    name: str
    """Name in tables, such as `hmm3`."""
    chain: Chain
    pdus_per_block: int
    within: Within | None
    """Distribution of losses inside a failed block; None if the chain's symbols are PDUs."""
    provenance: dict[str, Any] = field(default_factory=dict)

    @property
    def unit(self) -> str:
        """Unit that one step of the chain describes: `pdu`, or `block` for transport blocks."""
        return "pdu" if self.within is None else "block"

    @property
    def parameters(self) -> int:
        """Number of fitted parameters, with those of the losses inside a failed block."""
        return self.chain.parameters + (self.within.parameters if self.within else 0)

    @property
    def error_rate(self) -> float:
        """Long-term share of lost PDUs."""
        return self.chain.error_rate * (self.within.lost_share if self.within else 1.0)

    def log_likelihood(self, errors: ErrorSequence) -> float:
        """Returns the log-probability of the PDU errors, -inf if they are impossible.

        It is comparable between models of PDUs and of blocks.
        """
        if self.within is None:
            return self.chain.log_likelihood(errors.errors)
        blocks = self.chain.log_likelihood(errors.block_errors)
        return blocks + self.within.log_likelihood(errors)

    def simulate(self, blocks: int, random: np.random.Generator) -> ErrorSequence:
        """Simulates the sequence of PDU errors of `blocks` transport blocks."""
        if self.within is None:
            errors: Bits = self.chain.simulate(blocks * self.pdus_per_block, random)
        else:
            errors = self.within.expand(self.chain.simulate(blocks, random), random)
        return ErrorSequence(errors, self.pdus_per_block, f"model {self.name}")

    def to_dict(self) -> dict[str, Any]:
        """Returns the content of a model file, for use in a scenario's radio."""
        within = {"within_block": self.within.to_dict()} if self.within else {}
        parameters = _parameters(self.chain) | within
        return _file(self.unit, self.pdus_per_block, self.chain.kind, parameters, self.provenance)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the model as a JSON file, and returns its path.

        Raises:
            OutputError: the file cannot be written.
        """
        file = as_path(path, "path")
        with writing(f"write {file}"):
            write_json(file, self.to_dict())
        return file


def _parameters(chain: Chain) -> dict[str, Any]:
    if chain.kind == "bsc":
        return {"error_rate": float(chain.error[0])}
    if chain.kind == "gilbert_elliott":
        return {
            "p": float(chain.transition[0, 1]),
            "r": float(chain.transition[1, 0]),
            "error_in_good": float(chain.error[0]),
            "error_in_bad": float(chain.error[1]),
        }
    return {
        "start": chain.stationary.tolist(),
        "transition": chain.transition.tolist(),
        "error": chain.error.tolist(),
    }


def recorded_model(errors: ErrorSequence, provenance: dict[str, Any]) -> dict[str, Any]:
    """Content of a model file that repeats a sequence, as lengths of runs."""
    lengths = {"errors": run_lengths(errors.errors)}
    return _file("pdu", errors.pdus_per_block, "recorded", lengths, provenance)


def _file(
    unit: str, pdus: int, kind: str, parameters: dict[str, Any], provenance: dict[str, Any]
) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "unit": unit,
        "pdus_per_block": pdus,
        "kind": kind,
        **parameters,
        "provenance": provenance,
    }
