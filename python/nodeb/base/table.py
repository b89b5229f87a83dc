"""Tables of results: named columns of equal length, which Arrow libraries can read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nodeb.errors import InputError

SHOWN_ROWS = 10
CHUNK = 1000
"""Maximum number of rows that are converted to plain Python values at a time."""

Layout = tuple[int, tuple[str, ...], tuple[tuple[str, str], ...]]
"""Number of rows, names of all columns, and name and type of each column but those of objects."""
LAYOUTS: dict[Layout, Layout] = {}
"""Cache with one object per layout, so that pickle writes a layout of several tables once."""
ALIGNED = 8
"""Alignment of columns in a pickle, bytes."""

TEXTS = 1 << 16
"""Maximum number of texts that are encoded at a time."""
ASCII = 128
"""Number of Unicode characters that take one byte in UTF-8."""

MAX_TEXT_BYTES = 2**31 - 1
"""Maximum total size of the texts in one Arrow array, bytes; its offsets have 32 bits."""


class Table:
    """Named columns of equal length.

    `table["download_s"]` is a NumPy array. It is read-only because a result's summary, comparisons
    and saved files use it too; `table["download_s"] * 1000` and `.copy()` give writable arrays. Any
    library that supports the Arrow C stream protocol accepts a table directly: `pyarrow.table(t)`,
    `polars.from_arrow(t)`, `duckdb.sql("from t")`.
    """

    def __init__(self, columns: Mapping[str, ArrayLike]) -> None:
        if not isinstance(columns, Mapping):
            raise InputError(f"a table was given {columns!r}; expected columns by name")
        self._set({name: [read_only(column)] for name, column in columns.items()})

    def _set(self, columns: dict[str, list[NDArray[Any]]]) -> None:
        """A column is joined when it is first read: the tables of many short replications
        consist of many parts, of which most columns are never read."""
        for name, parts in columns.items():
            if any(part.ndim == 0 for part in parts):
                raise InputError(f"column `{name}` is one value; expected a list or an array")
        lengths = {sum(map(len, parts)) for parts in columns.values()}
        if len(lengths) > 1:
            raise InputError(f"the columns of a table have different lengths: {sorted(lengths)}")
        self._columns, self._length = columns, lengths.pop() if lengths else 0

    @classmethod
    def of_rows(cls, rows: Sequence[Mapping[str, Any]]) -> Table:
        """Rows with the same keys, which become the columns; no columns without rows."""
        return cls({name: [row[name] for row in rows] for name in rows[0]} if rows else {})

    @classmethod
    def concat(cls, tables: Iterable[Mapping[str, ArrayLike] | Table]) -> Table:
        """Concatenates the rows of several tables with the same columns.

        The tables may have the columns in different orders; the result has that of the first table.
        Without tables, the result has no columns.

        Raises:
            InputError: the tables have different columns.
        """
        joined: dict[str, list[NDArray[Any]]] | None = None
        for one in tables:
            parts = (
                one._columns if isinstance(one, Table) else {k: [read_only(one[k])] for k in one}
            )
            if joined is None:
                joined = {name: [] for name in parts}
            if odd := set(parts) ^ set(joined):
                raise InputError(f"the tables differ in columns: {', '.join(sorted(odd))}")
            for name, column in joined.items():
                column += parts[name]
        table = cls({})
        table._set(joined or {})
        return table

    def _array(self, name: str) -> NDArray[Any]:
        parts = self._columns[name]
        if len(parts) > 1:
            parts = self._columns[name] = [read_only(np.concatenate(parts))]
        return parts[0]

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {name: self._array(name) for name in self._columns}

    def __getstate__(self) -> tuple[Layout, bytes, dict[str, NDArray[Any]]]:
        """Returns the state for pickle: all columns but those of objects share one block of bytes.

        Pickling each column's array separately would take about 10 us per array.
        """
        columns = self._arrays()
        plain = {k: v for k, v in columns.items() if v.dtype.kind != "O"}
        layout = (
            self._length,
            tuple(columns),
            tuple((k, v.dtype.str) for k, v in plain.items()),
        )
        others = {k: v for k, v in columns.items() if k not in plain}
        data = b"".join(_padded(column.tobytes()) for column in plain.values())
        return LAYOUTS.setdefault(layout, layout), data, others

    def __setstate__(self, state: tuple[Layout, bytes, dict[str, NDArray[Any]]]) -> None:
        (self._length, names, plain), data, others = state
        found, at = {name: read_only(column) for name, column in others.items()}, 0
        for name, kind in plain:
            found[name] = column = np.frombuffer(data, kind, self._length, at)
            at += column.nbytes + -column.nbytes % ALIGNED
        self._columns = {name: [found[name]] for name in names}

    @property
    def columns(self) -> list[str]:
        """Names of the columns, in order."""
        return list(self._columns)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, column: str) -> NDArray[Any]:
        try:
            return self._array(column)
        except (KeyError, TypeError):
            names = ", ".join(self._columns)
            raise InputError(f"there is no column `{column}`; the columns are {names}") from None

    def __iter__(self) -> Iterator[dict[str, Any]]:
        names, arrays = self.columns, self._arrays()
        # Rows are converted in chunks, because Python's numbers take more memory than an array's.
        for first in range(0, len(self), CHUNK):
            some = (column[first : first + CHUNK].tolist() for column in arrays.values())
            yield from (dict(zip(names, row, strict=True)) for row in zip(*some, strict=True))

    def where(self, keep: NDArray[np.bool_]) -> Table:
        """Returns the rows for which `keep` is true.

        Raises:
            InputError: `keep` does not have one truth value for each row.
        """
        keep = np.asarray(keep)
        if keep.dtype != np.bool_ or keep.shape != (len(self),):
            raise InputError(
                f"where: expected True or False for each of {len(self)} rows, as in "
                "`table.where(table['user'] == 0)`"
            )
        return Table({name: column[keep] for name, column in self._arrays().items()})

    def first_runs(self, runs: int) -> Table:
        """Returns the rows of the first `runs` replications, whose column `run` is below `runs`."""
        return self.where(self["run"] < runs)

    def distinct(self, column: str) -> list[Any]:
        """Returns the distinct values of a column, in order of first occurrence."""
        return list(dict.fromkeys(changes(self[column]).tolist()))

    def to_arrow(self) -> Any:
        """Returns the table as a `pyarrow.Table`."""
        import pyarrow as pa

        return pa.Table.from_arrays(list(self.to_arrays().values()), names=self.columns)

    def to_arrays(self) -> dict[str, Any]:
        """Returns the columns by name, each as a `pyarrow.Array`.

        A column with more than `MAX_TEXT_BYTES` of text is a `pyarrow.ChunkedArray`.
        """
        return {name: _arrow(column) for name, column in self._arrays().items()}

    def to_pandas(self) -> Any:
        """Returns the table as a `pandas.DataFrame`.

        Raises:
            InputError: pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError:
            raise InputError("pandas is not installed; try `pip install pandas`") from None
        return pd.DataFrame({name: column.copy() for name, column in self._arrays().items()})

    def to_polars(self) -> Any:
        """Returns the table as a `polars.DataFrame`.

        Raises:
            InputError: polars is not installed.
        """
        try:
            import polars as pl
        except ImportError:
            raise InputError("polars is not installed; try `pip install polars`") from None
        return pl.from_arrow(self.to_arrow())

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        lines = ["  ".join(self.columns)]
        for row, _ in zip(self, range(SHOWN_ROWS), strict=False):
            lines.append("  ".join(_cell(value) for value in row.values()))
        return "\n".join([*lines, f"[{len(self)} rows x {len(self.columns)} columns]"])

    def _repr_html_(self) -> str:
        from html import escape

        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(_cell(v))}</td>" for v in row.values()) + "</tr>"
            for row, _ in zip(self, range(SHOWN_ROWS), strict=False)
        )
        size = f"<p>{len(self)} rows x {len(self.columns)} columns</p>"
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{size}"


def read_only(values: ArrayLike) -> NDArray[Any]:
    """Returns values as a read-only array; an array is not copied and stays writable itself."""
    column = np.asarray(values).view()
    column.flags.writeable = False
    return column


def changes(column: NDArray[Any]) -> NDArray[Any]:
    """Returns the first value of a column, and each value that differs from the one before it.

    A column of Python objects is returned whole.
    """
    if not len(column) or column.dtype.kind == "O":
        return column
    return np.concatenate([column[:1], column[1:][column[1:] != column[:-1]]])


def unique(column: NDArray[Any]) -> NDArray[Any]:
    """Returns the distinct values of a column, in order; `np.unique` would import `numpy.ma`."""
    return changes(np.sort(column))


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % ALIGNED)


def _arrow(column: NDArray[Any]) -> Any:
    """Returns a column as an Arrow array, or several if it has more than `MAX_TEXT_BYTES` of text.

    The array is built from buffers, because `pyarrow.array` checks for pandas objects and so
    imports pandas if it is installed, which takes longer than most simulations.
    """
    import pyarrow as pa

    if column.dtype.kind in "UO":
        parts = [_encoded(column[at : at + TEXTS]) for at in range(0, len(column), TEXTS)]
        lengths = np.concatenate([[0], *(lengths for lengths, _ in parts)])
        ends = np.cumsum(lengths, dtype=np.int64)
        if ends[-1] > MAX_TEXT_BYTES:
            # Offsets of 32 bits allow 2 GiB of text in an array. `pa.array` returns several arrays.
            return pa.array(column.tolist(), pa.string())
        data = b"".join(text for _, text in parts)
        return _from_buffers(pa.string(), len(column), [ends.astype(np.int32), data])
    kind = pa.from_numpy_dtype(column.dtype)
    values = np.packbits(column, bitorder="little") if column.dtype.kind == "b" else column
    return _from_buffers(kind, len(column), [np.ascontiguousarray(values)])


def _encoded(column: NDArray[Any]) -> tuple[NDArray[np.int64], bytes]:
    if column.dtype.kind == "U" and column.dtype.isnative and column.dtype.itemsize:
        # Nearly all texts are ASCII: each character, except the zeros of padding, is one byte.
        letters = np.ascontiguousarray(column).view(np.uint32).reshape(len(column), -1)
        is_text = letters != 0
        if letters.max(initial=0) < ASCII and not (is_text[:, 1:] > is_text[:, :-1]).any():
            return is_text.sum(axis=1), letters[is_text].astype(np.uint8).tobytes()
    texts = [str(text).encode() for text in column.tolist()]
    return np.array([len(text) for text in texts], np.int64), b"".join(texts)


def _from_buffers(kind: Any, length: int, buffers: list[Any]) -> Any:
    """Returns an Arrow array without missing values, from its data buffers."""
    import pyarrow as pa

    return pa.Array.from_buffers(kind, length, [None, *map(pa.py_buffer, buffers)])


def _cell(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
