"""Error sequences: 0 is a correct PDU, 1 an error, in the order of transmission."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nodeb.answer.words import counted
from nodeb.base.arguments import as_path
from nodeb.base.streams import printable
from nodeb.errors import InputError
from nodeb.storage.files import read_bytes

Bits = NDArray[np.uint8]

HEAD = re.compile(r"#\s*pdus_per_block\s*=\s*(\d+)\s*$", re.MULTILINE)
"""Comment `# pdus_per_block = N` at the end of a line: the number of PDUs per transport block."""
MAX_BYTES = 1 << 32


@dataclass(frozen=True)
class ErrorSequence:
    """Sequence of lost PDUs, and the number of PDUs per transport block.

    Raises:
        InputError: the sequence is empty, has values other than 0 and 1, or does not consist of
            whole blocks; or `pdus_per_block` is below 1.
    """

    errors: Bits
    """One element per PDU, 1 if it was lost."""
    pdus_per_block: int = 1
    origin: str = ""
    """Short description of the source, such as the file's path, for messages; may be empty."""

    def __post_init__(self) -> None:
        here = f"{self.origin}: " if self.origin else ""
        if self.pdus_per_block < 1:
            raise InputError(f"{here}pdus_per_block is {self.pdus_per_block}; expected at least 1")
        if not len(self):
            raise InputError(f"{here}the sequence is empty; expected at least one PDU")
        if np.any(self.errors > 1):
            raise InputError(f"{here}an error is {self.errors.max()}; expected 0 or 1")
        if rest := len(self) % self.pdus_per_block:
            raise InputError(
                f"{here}{counted(len(self), 'PDU')} cannot be divided into transport blocks of "
                f"{self.pdus_per_block} PDUs: {rest} {'is' if rest == 1 else 'are'} left over"
            )

    def __len__(self) -> int:
        return len(self.errors)

    @cached_property
    def blocks(self) -> NDArray[np.uint8]:
        """PDUs of each transport block, one row per block."""
        return self.errors.reshape(-1, self.pdus_per_block)

    @cached_property
    def block_errors(self) -> Bits:
        """One element per block, 1 if it lost a PDU."""
        return np.asarray(self.blocks.max(axis=1))

    def digest(self) -> str:
        """SHA-256 hash of the PDU errors, which a results folder is made of."""
        return hashlib.sha256(self.errors.tobytes()).hexdigest()

    @property
    def error_rate(self) -> float:
        """Share of the PDUs that were lost."""
        return float(self.errors.mean())


def read_errors(path: str | os.PathLike[str], pdus_per_block: int | None = None) -> ErrorSequence:
    """Reads an error sequence.

    Args:
        path: a text of 0 and 1, in which white space and comments from `#` to the end of the line
            are ignored; or a folder of `nodeb link run` with one point.
        pdus_per_block: number of PDUs per transport block; None takes the number in the first
            comment `# pdus_per_block = N`, or 1 without such a comment.

    Raises:
        InputError: the file cannot be read, is empty, has other symbols, or does not consist of
            whole blocks; or the folder has no or several sequences.
    """
    file = as_path(path, "path")
    if file.is_dir():
        file = _in_folder(file)
    data = read_bytes(file, MAX_BYTES)
    text = re.sub(rb"#[^\n]*", b"", data)
    if odd := re.search(rb"[^01\s]", text):
        at = odd.start()
        line, column = text.count(b"\n", 0, at) + 1, at - text.rfind(b"\n", 0, at)
        symbol = text[at : at + 4].decode("utf-8", "replace")[0]
        raise InputError(
            f"{file}:{line}:{column}: found `{symbol}`; an error sequence has only 0 and 1"
        )
    digits = np.frombuffer(b"".join(text.split()), dtype=np.uint8) - ord("0")
    if pdus_per_block is None:
        said = HEAD.search(data.decode("latin-1"))
        pdus_per_block = int(said[1]) if said else 1
    return ErrorSequence(digits, pdus_per_block, printable(str(file)))


def _in_folder(folder: Path) -> Path:
    files = sorted(folder.glob("errors_*dB.txt"))
    if len(files) == 1:
        return files[0]
    if not files:
        raise InputError(
            f"{folder}: no error sequence of `nodeb link run` in here (errors_*dB.txt)"
        )
    names = ", ".join(file.name for file in files)
    raise InputError(f"{folder}: there are several error sequences in here; give one of: {names}")


def gaps(errors: Bits) -> NDArray[np.int64]:
    """Distance from each error to the next one, in order; 1 within a burst."""
    return np.diff(np.flatnonzero(errors))


def bursts(errors: Bits) -> NDArray[np.int64]:
    """Length of each maximal run of errors, in order, also of runs at the two ends."""
    edges = np.diff(np.concatenate([[0], errors.astype(np.int8), [0]]))
    return np.flatnonzero(edges == -1) - np.flatnonzero(edges == 1)
