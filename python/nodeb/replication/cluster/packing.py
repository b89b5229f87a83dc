"""Serialization for workers: small objects directly, long arrays once, by their content.

Thousands of scenarios of a sweep may replay one recording. Its arrays are taken out when a bundle
is pickled, and a worker inserts them from those that it received before.
"""

from __future__ import annotations

import hashlib
import io
import pickle
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Packer", "packed", "unpacked"]

LONG = 1 << 16
"""Size in bytes from which an array is sent separately."""
LEVEL = 1
"""Level of zlib: scenarios of a sweep are similar and shrink to a thirtieth, results to a third."""

Array = NDArray[Any]


class Packer:
    """Pickles objects and identifies the long arrays in them."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[str, Array]] = {}  # the array is kept to keep its id

    def pack(self, thing: object) -> tuple[bytes, dict[str, Array]]:
        """Returns a pickle, and the long arrays missing in it, by hash of their content."""
        out, lacks = io.BytesIO(), {}

        class Pickler(pickle.Pickler):
            def persistent_id(_, one: object) -> str | None:  # noqa: N805
                if not isinstance(one, np.ndarray) or one.nbytes < LONG:
                    return None
                name = self._name(one)
                lacks[name] = one
                return name

        Pickler(out, protocol=pickle.HIGHEST_PROTOCOL).dump(thing)
        return zlib.compress(out.getvalue(), LEVEL), lacks

    def _name(self, array: Array) -> str:
        if id(array) not in self._known:
            found = hashlib.sha256(f"{array.dtype} {array.shape}".encode())
            found.update(np.ascontiguousarray(array).data)
            self._known[id(array)] = f"nodeb-array-{found.hexdigest()}", array
        return self._known[id(array)][0]


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: bytes, arrays: Mapping[str, Array]) -> None:
        super().__init__(io.BytesIO(zlib.decompress(data)))
        self._arrays = arrays

    def persistent_load(self, pid: Any) -> Array:
        return np.require(self._arrays[pid], requirements=["C", "A"])  # as the core takes them


def packed(thing: object) -> bytes:
    """Returns a compressed pickle with all arrays in it."""
    return zlib.compress(pickle.dumps(thing, pickle.HIGHEST_PROTOCOL), LEVEL)


def unpacked(data: bytes, arrays: Mapping[str, Array] = {}) -> Any:
    """Returns the object that was packed."""
    return _Unpickler(data, arrays).load()
