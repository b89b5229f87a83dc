"""Writes files so that an interrupted run leaves the old or the new one, never half of one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from nodeb.errors import OutputError


def write(path: Path, content: str | bytes) -> None:
    """Write a file atomically: to a temporary one beside it, then rename.

    Raises:
        OutputError: if it cannot be written.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.chmod(name, 0o644)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
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
