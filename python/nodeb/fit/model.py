"""Model of PDU errors: a chain of PDUs, or of blocks with a distribution inside a failed one."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from nodeb.base.arguments import as_path
from nodeb.errors import writing
from nodeb.fit.chain import Chain
from nodeb.fit.sequence import Bits, ErrorSequence
from nodeb.fit.within import Within
from nodeb.storage.files import write_bytes

__all__ = ["FORMAT", "VERSION", "ErrorModel"]

FORMAT, VERSION = "nodeb-error-model", 1


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
        """Number of fitted parameters: of the chain, and of the losses inside a failed block."""
        return self.chain.parameters + (self.within.parameters if self.within else 0)

    @property
    def error_rate(self) -> float:
        """Long-term share of lost PDUs, from 0 to 1."""
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
        head = {"format": FORMAT, "version": VERSION, "unit": self.unit}
        within = {"within_block": self.within.to_dict()} if self.within else {}
        return {
            **head,
            "pdus_per_block": self.pdus_per_block,
            "kind": self.chain.kind,
            **_parameters(self.chain),
            **within,
            "provenance": self.provenance,
        }

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the model as a JSON file. Returns the path of the file.

        Raises:
            OutputError: the file cannot be written.
        """
        file = as_path(path, "path")
        with writing(f"write {file}"):
            write_bytes(file, f"{json.dumps(self.to_dict(), indent=2)}\n".encode())
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
