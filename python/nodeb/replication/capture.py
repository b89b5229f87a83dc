"""Packet captures of the first replication, as seen by server, phones, proxy and radio network."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from nodeb import _core
from nodeb.base.table import Table
from nodeb.errors import InputError, writing
from nodeb.replication.cells import ReplicationWork
from nodeb.replication.work import Source
from nodeb.storage import files
from nodeb.storage.cells import Tables

SNAP_LENGTHS = range(80, 65_536)
"""Valid snap lengths, bytes: from the longest headers to the longest IPv4 packet."""

PCAPNG = b"\x0a\x0d\x0d\x0a"
"""First four bytes of a pcapng file."""

INTERFACES = ("server", "phone", "proxy", "rnc", "node_b", "pdcp")
"""Capture points; `proxy` and `rnc` only if the scenario has one, `pdcp` only on LTE."""

OF_RADIO = ("rnc", "node_b", "pdcp")
"""Interfaces of the radio network, which are captured on request only."""


@dataclass(frozen=True)
class Capture:
    """Destination of captured packets, and selection of packets and bytes.

    Raises:
        InputError: the snap length is out of range, or an interface is unknown or not captured.
        OutputError: the capture file cannot be written.
    """

    path: Path
    """Pcapng file."""
    snap_length: int | None = None
    """Bytes kept of each packet; None keeps the headers."""
    interfaces: tuple[str, ...] = ()
    """Interfaces whose packets are kept; empty for all, those of `OF_RADIO` only if `radio`."""
    radio: bool = False
    """Whether the radio network is captured too, with comments on packets."""
    causes: tuple[int, ...] = ()
    """Indices of the users for whose transfers packet comments state the critical path."""

    def __post_init__(self) -> None:
        if self.snap_length is not None and self.snap_length not in SNAP_LENGTHS:
            raise InputError(
                f"snap_length is {self.snap_length}; expected {SNAP_LENGTHS[0]} (the longest "
                f"headers) to {SNAP_LENGTHS[-1]} bytes kept of each packet"
            )
        for name in self.interfaces:
            if name not in INTERFACES:
                raise InputError(
                    f"there is no interface {name!r} to capture at "
                    f"(allowed: {', '.join(INTERFACES)})"
                )
            if name in OF_RADIO and not self.radio:
                raise InputError(
                    f"{name} is an interface of the radio network, which is not captured; add "
                    "--pcap-radio (pcap_radio=True)"
                )
        check_place(self.path)


def check_place(path: Path) -> None:
    """Checks that a capture can be written to a path; an existing file is not changed.

    Raises:
        OutputError: the path holds another kind of file, or it cannot be written.
    """
    if _is_device(path):
        return  # Opening a device would have side effects, so it is not tried.
    files.refuse_other(path, PCAPNG, "a capture (pcapng)", "--pcap")
    files.check_place(path, "--pcap")


@contextmanager
def write_in_place(path: Path) -> Iterator[Path]:
    """Yields a temporary path for a capture, so that no earlier file is lost by an interruption.

    The temporary file is moved to `path` when it is complete. If writing fails, as on a full disk,
    the packets written so far are moved to `path` unless a file exists there. A device or a pipe is
    written to directly.

    Raises:
        OSError: the capture cannot be written.
    """
    if _is_device(path):
        yield path
        return
    place = path.resolve()
    part = place.with_name(f".{place.name}.{os.getpid()}.tmp")
    try:
        with writing(f"write a capture to {path}"):
            yield part
            part.replace(place)
    finally:
        part.unlink(missing_ok=True)


def _is_device(path: Path) -> bool:
    return path.exists() and not (path.is_file() or path.is_dir())


class CaptureWork(ReplicationWork):
    """Replications of a scenario; packets of replication 0 are captured.

    Args:
        source: scenario to simulate.
        capture: destination of the captured packets.
    """

    def __init__(self, source: Source, capture: Capture) -> None:
        super().__init__(source)
        self._capture = capture

    def replicate(self, seed: int, runs: range, control: _core.Control) -> Tables:
        """Simulates a batch of replications; replication 0 is a batch of its own and is captured.

        Batches start with one replication and grow later.
        """
        if runs.start > 0:
            return super().replicate(seed, runs, control)
        capture = self._capture
        try:
            with write_in_place(capture.path) as path:
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
        except ValueError as error:  # For instance, a user in `causes` begins no transfer.
            raise InputError(str(error)) from None
        return {name: Table(columns) for name, columns in found.items()}
