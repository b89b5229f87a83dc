"""Reads files of users; writes files under another name and renames them."""

from __future__ import annotations

import io
import json
import os
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nodeb.errors import OutputError, ScenarioError, os_reason, writing

if TYPE_CHECKING:
    from nodeb.base.table import Table

NAMED_BYTES = 256 << 20
"""Maximum size, bytes, of a file that a scenario names."""
PARQUET: Mapping[str, Any] = {"compression": "zstd", "write_page_checksum": True}
PAGE = b'<meta name="generator" content="nodeb '
HEAD = 4096
"""Bytes at the beginning of a file that show its kind; those of a page include its generator."""


def read_bytes(path: Path, max_bytes: int) -> bytes:
    """Reads a file or a pipe, without a byte order mark.

    Raises:
        ScenarioError: the file cannot be read, or is larger than `max_bytes`.
    """
    try:
        with path.open("rb") as file:
            data = file.read(max_bytes + 1)
    except FileNotFoundError:
        raise ScenarioError(f"{path}: there is no such file") from None
    except (OSError, ValueError) as error:
        reason = os_reason(error) if isinstance(error, OSError) else error
        raise ScenarioError(f"{path}: cannot be read: {reason}") from None
    if len(data) > max_bytes:
        raise ScenarioError(
            f"{path}: the file is too large; expected at most {max_bytes >> 20} MiB"
        )
    return data.removeprefix(BOM_UTF8)


def read_text(path: Path, max_bytes: int) -> str:
    """Reads UTF-8; see `read_bytes`."""
    data = read_bytes(path, max_bytes)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ScenarioError(
            f"{path}:{line}: this is not UTF-8 text (byte 0x{data[error.start]:02x}); "
            "save the file as UTF-8"
        ) from None


def replace(path: Path, write: Callable[[Path], object]) -> None:
    """Writes a file by `write(temporary path)` and a rename; readers see the old or the new one."""
    if path.exists() and not path.is_file():
        raise OutputError(
            f"{path} is a folder, device or pipe, which is not replaced; expected a file"
        )
    part = _part(path)
    try:
        write(part)
        part.replace(path)
    except OSError as error:
        error.filename = str(path)
        raise
    finally:
        part.unlink(missing_ok=True)


def _part(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")


def write_bytes(path: Path, data: bytes) -> None:
    replace(path, lambda part: part.write_bytes(data))


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    write_bytes(path, f"{json.dumps(data, indent=2)}\n".encode())


def write(path: Path, content: str | bytes) -> None:
    """Writes a result; its folder is created if missing."""
    with writing(f"write {path}"):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, content.encode() if isinstance(content, str) else content)


def refuse_other(path: Path, begins: bytes, what: str, option: str) -> None:
    """Refuses to replace a file that does not begin as `what` does."""
    _refuse_unless(path, lambda head: head.startswith(begins), what, option)


def refuse_other_page(path: Path, option: str) -> None:
    """Refuses to replace a file that is no page of nodeb."""
    if path.suffix.lower() not in ("", ".html", ".htm"):
        raise OutputError(f"{option} {path}: the page is HTML; give a name that ends in .html")
    _refuse_unless(path, lambda head: PAGE in head, "a page that nodeb made", option)


def _refuse_unless(path: Path, matches: Callable[[bytes], bool], what: str, option: str) -> None:
    head = b""
    if path.is_file():
        with path.open("rb") as file:
            head = file.read(HEAD)
    if head and not matches(head):
        raise OutputError(
            f"{path} is there already and is not {what}; give another file with {option}"
        )


def check_place(path: Path, option: str) -> None:
    """Checks, before a command starts its work, that a file can be written to a path."""
    if not path.name or (path.exists() and not path.is_file()) or not path.parent.is_dir():
        raise OutputError(f"{option} {path}: expected the name of a file in an existing folder")
    part = _part(path)
    with writing(f"write {path}"):
        part.touch()
        part.unlink()


def csv_text(columns: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    import csv

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def parquet(table: Table, about: Mapping[str, str] | None = None) -> bytes:
    """The bytes of a Parquet file with a table, and texts about it."""
    import pyarrow.parquet as pq

    arrow, content = table.to_arrow(), io.BytesIO()
    if about is not None:
        arrow = arrow.replace_schema_metadata(dict(about))
    pq.write_table(arrow, content, **PARQUET)
    return content.getvalue()


def write_parquet(path: Path, table: Table, about: Mapping[str, str] | None = None) -> None:
    write_bytes(path, parquet(table, about))


def read_parquet(path: Path) -> tuple[Table, dict[str, str]]:
    """Reads a table, and the texts stored with it.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is no Parquet file, or is damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    from nodeb.base.table import Table

    try:
        # From memory that Arrow owns: its threads would keep a Python file beyond the exit.
        arrow = pq.read_table(pa.BufferReader(path.read_bytes()), page_checksum_verification=True)
    except pa.ArrowException as error:
        raise ValueError(str(error)) from None
    pairs = zip(arrow.column_names, arrow, strict=True)
    about = {key.decode(): text.decode() for key, text in (arrow.schema.metadata or {}).items()}
    return Table({name: column.to_numpy() for name, column in pairs}), about
