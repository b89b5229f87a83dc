"""Serialization for workers: small objects directly, long arrays separately and only once.

Thousands of scenarios of a sweep may replay one recording. A bundle contains only a hash in place
of each long array, and the worker inserts the array, which it receives once.
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
        # Holding a reference to each array keeps its `id` from being reused.
        self._known: dict[int, tuple[str, Array]] = {}

    def pack(self, thing: object) -> tuple[bytes, dict[str, Array]]:
        """Returns a compressed pickle without long arrays, and these arrays by content hash."""
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
        # Makes the array contiguous and aligned, as the core requires.
        return np.require(self._arrays[pid], requirements=["C", "A"])


def packed(thing: object) -> bytes:
    """Returns a compressed pickle that contains all arrays."""
    return zlib.compress(pickle.dumps(thing, pickle.HIGHEST_PROTOCOL), LEVEL)


def unpacked(data: bytes, arrays: Mapping[str, Array] = {}) -> Any:
    """Returns the object that `data` was pickled from, with its long arrays from `arrays`."""
    return _Unpickler(data, arrays).load()
