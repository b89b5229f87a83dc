"""Reads files of users, with limits on their size and on the time that a pipe takes."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from codecs import BOM_UTF8
from pathlib import Path

from nodeb.errors import ScenarioError, os_reason
from nodeb.storage import marks

__all__ = ["NAMED_BYTES", "read_bytes", "read_text"]

NAMED_BYTES = 256 << 20
"""Maximum size, bytes, of a file that a scenario names."""
SILENCE_S, WHOLE_S = 10.0, 300.0
"""Maximum time without data from a pipe, and maximum duration of reading from it, s."""
_PORTION = 1 << 16


def read_bytes(path: Path, max_bytes: int) -> bytes:
    """Returns the content of a file, without a UTF-8 byte order mark at its beginning.

    Args:
        path: a file, a pipe or a device.
        max_bytes: maximum size in bytes.

    Raises:
        ScenarioError: the file cannot be read, is larger than `max_bytes`, or is a pipe whose
            writer does not finish in time.
        InputError: the file differs from its checksum in `provenance.json`, or that is damaged.
    """

    def read() -> bytes:
        data = _opened(path, max_bytes)
        marks.check(path, hashlib.sha256(data).hexdigest())
        return data

    data = marks.read_settled(path.parent, read) if path.is_file() else _opened(path, max_bytes)
    return data.removeprefix(BOM_UTF8)


def _opened(path: Path, max_bytes: int) -> bytes:
    try:
        handle = os.open(
            path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        )
    except FileNotFoundError:
        raise ScenarioError(f"{path}: there is no such file") from None
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {os_reason(error)}") from None
    except ValueError as error:  # The path is no valid file name, for example has a zero byte.
        raise ScenarioError(f"{path}: cannot be read: {error}") from None
    try:
        return _read(path, handle, max_bytes)
    except OSError as error:
        raise ScenarioError(f"{path}: cannot be read: {os_reason(error)}") from None
    finally:
        os.close(handle)


def read_text(path: Path, max_bytes: int) -> str:
    """Reads a UTF-8 text file, like `read_bytes`.

    Args:
        path: a file, a pipe or a device.
        max_bytes: maximum size in bytes.

    Raises:
        ScenarioError: the file cannot be read, is larger than `max_bytes`, or is not UTF-8.
        InputError: the file differs from its checksum in `provenance.json`, or that is damaged.
    """
    data = read_bytes(path, max_bytes)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ScenarioError(
            f"{path}:{line}: this is not UTF-8 text (byte 0x{data[error.start]:02x}); "
            "save the file as UTF-8"
        ) from None


def _read(path: Path, handle: int, max_bytes: int) -> bytes:
    about = os.fstat(handle)
    if stat.S_ISDIR(about.st_mode):
        raise ScenarioError(f"{path}: cannot be read: this is a directory, not a file")
    if stat.S_ISREG(about.st_mode) or os.name != "posix":
        with open(handle, "rb", closefd=False) as file:
            data = file.read(max_bytes + 1) if about.st_size <= max_bytes else b""
        if about.st_size > max_bytes or len(data) > max_bytes:
            raise _too_large(path, max_bytes)
        return data
    return _from_pipe(path, handle, max_bytes)


def _from_pipe(path: Path, handle: int, max_bytes: int) -> bytes:
    import select

    poll = select.poll()
    poll.register(handle, select.POLLIN)
    parts: list[bytes] = []
    size = 0
    until = time.monotonic() + WHOLE_S
    while True:
        if time.monotonic() > until or not poll.poll(SILENCE_S * 1e3):
            limit = WHOLE_S if time.monotonic() > until else SILENCE_S
            raise ScenarioError(
                f"{path}: this is a pipe whose writer did not finish in {limit:g} s"
            )
        part = os.read(handle, _PORTION)
        if not part:
            return b"".join(parts)
        parts.append(part)
        size += len(part)
        if size > max_bytes:
            raise _too_large(path, max_bytes)


def _too_large(path: Path, max_bytes: int) -> ScenarioError:
    return ScenarioError(f"{path}: the file is too large; expected at most {max_bytes >> 20} MiB")
