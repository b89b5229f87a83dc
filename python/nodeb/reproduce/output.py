"""Writes files so that an interrupted run leaves the old or the new one, never half of one."""

from __future__ import annotations

import tempfile
from pathlib import Path

from nodeb import files
from nodeb.errors import OutputError


def write(path: Path, content: str | bytes) -> None:
    """Write a file atomically (`nodeb.files.replace`); its folder is made if need be.

    Raises:
        OutputError: if it cannot be written.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write_bytes(path, data)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error


def prepare(folder: Path) -> None:
    """Make the output folder now, so that a wrong path fails before the work and not after it.

    Raises:
        OutputError: if it is not a folder that can be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OutputError(f"cannot write to {folder}: {error.strerror or error}") from error
