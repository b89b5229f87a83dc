"""Packet captures: the first replication of an experiment, as server, phones and proxy see it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from nodeb import _core
from nodeb.base.table import Table
from nodeb.errors import InputError, is_full, writing
from nodeb.replication.cells import Replicating
from nodeb.replication.work import Source
from nodeb.storage import files
from nodeb.storage.store import Tables

__all__ = ["INTERFACES", "SNAP_LENGTHS", "Capture", "Capturing", "check_place", "put_in_place"]

SNAP_LENGTHS = range(80, 65_536)
"""Bytes that may be kept of a packet: at least the longest headers, at most an IPv4 packet."""

PCAPNG = b"\x0a\x0d\x0d\x0a"
"""What a capture begins with."""

INTERFACES = ("server", "phone", "proxy", "rnc", "node_b")
"""Where packets can be seen; `proxy` and `rnc` only where the scenario has one."""

OF_RADIO = ("rnc", "node_b")
"""Those of the radio network, which have to be asked for."""


@dataclass(frozen=True)
class Capture:
    """Where packets go, how much of each, and which.

    Raises:
        InputError: the snap length makes no sense, or there is no such interface.
        OutputError: the file cannot be written.
    """

    path: Path
    """The pcapng file."""
    snap_length: int | None = None
    """Bytes kept of each packet; None keeps the headers."""
    interfaces: tuple[str, ...] = ()
    """Interfaces whose packets are kept; empty for all."""
    radio: bool = False
    """Whether the radio network has interfaces too, and packets have comments."""
    causes: tuple[int, ...] = ()
    """Users whose transfers' critical paths are told in comments."""

    def __post_init__(self) -> None:
        if self.snap_length is not None and self.snap_length not in SNAP_LENGTHS:
            raise InputError(
                f"snap_length is {self.snap_length}; it is the bytes kept of each packet, "
                f"from {SNAP_LENGTHS[0]} (the longest headers) to {SNAP_LENGTHS[-1]}"
            )
        for name in self.interfaces:
            if name not in INTERFACES:
                raise InputError(
                    f"there is no interface {name!r} to capture at "
                    f"(allowed: {', '.join(INTERFACES)})"
                )
            if name in OF_RADIO and not self.radio:
                raise InputError(
                    f"{name} is an interface of the radio network; ask for that too "
                    "(--pcap-radio, pcap_radio=True)"
                )
        check_place(self.path)


def check_place(path: Path) -> None:
    """Complains about a place where no capture can be put; what is there stays as it is.

    Raises:
        OutputError: it holds something else, or it cannot be written.
    """
    if _is_device(path):
        return  # trying would change it
    files.refuse_other(path, PCAPNG, "a capture (pcapng)", "--pcap")
    files.remove_leftovers(path.resolve().parent, path.resolve().name)
    with writing(f"write a capture to {path}"):
        if path.exists():
            with path.open("ab"):
                pass
        with files.file_aside(path.resolve()) as part:
            part.touch()


@contextmanager
def put_in_place(path: Path) -> Iterator[Path]:
    """Where a capture is written, so that what is interrupted takes no earlier one's place.

    It comes to its place when it is done, and also where the disk is full: with the packets that
    it has room for. A device or a pipe is written to as it is.

    Raises:
        OSError: it cannot be written.
    """
    if _is_device(path):
        yield path
        return
    place = path.resolve()
    with files.file_aside(place) as part:
        try:
            yield part
            part.replace(place)
        except OSError as error:
            with suppress(OSError):
                part.replace(place)
            raise OSError(str(error).replace(os.fspath(part), os.fspath(path))) from None


def _is_device(path: Path) -> bool:
    return path.exists() and not (path.is_file() or path.is_dir())


class Capturing(Replicating):
    """Replications, the first of which is captured.

    Args:
        source: the scenario.
        capture: where its packets go.
    """

    def __init__(self, source: Source, capture: Capture) -> None:
        super().__init__(source)
        self._capture = capture
        self.full: OSError | None = None
        """Why the capture is not whole, if there was no room for it."""

    def replicate(self, seed: int, runs: range, control: _core.Control) -> Tables:
        """Simulates replications; the first goes alone, as all begin with one.

        Where there is no room for its capture it is simulated again without.
        """
        if runs.start > 0:
            return super().replicate(seed, runs, control)
        capture = self._capture
        try:
            with put_in_place(capture.path) as path:
                found = self.source.compiled().capture(
                    seed,
                    runs.start,
                    control,
                    os.fspath(path),
                    capture.snap_length,
                    list(capture.interfaces),
                    capture.radio,
                    list(capture.causes),
                )
        except ValueError as error:  # such as a user who has begun no transfer
            raise InputError(str(error)) from None
        except OSError as error:
            if not is_full(error):
                raise
            self.full = error
            return super().replicate(seed, runs, control)
        return {name: Table(columns) for name, columns in found.items()}
