"""What settings that a scenario refuses were meant to be."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from nodeb import _core
from nodeb.inputs.changes import key_of, value_at, value_of
from nodeb.inputs.keys import Keys

MOST = 3
"""Maximum number of keys that are suggested."""


def meant(setting: str, written: Mapping[str, Any]) -> str:
    """Returns the setting that a refused one was probably meant to be; empty if none is similar.

    `written` are the keys of the scenario file.
    """
    key, text = key_of(setting), setting.partition("=")[2].strip()
    if share := re.fullmatch(r"([\d.]+) ?%", text):
        return f"`{key}={float(share[1]) / 100:g}`"
    if rate := re.fullmatch(r"([\d.]+) ?([kMG])(B(?:ps|/s)?)?", text):
        return f"`{key}={float(rate[1]) * (8 if rate[3] else 1):g} {rate[2]}bps`"
    if key == "users" and text.isdecimal():
        return f"`users.0.count={text}`"
    if group := re.fullmatch(r"users\.([^.]+)\.(.+)", key):
        groups = [one.get("name") for one in written.get("users", ())]
        return f"`users.{groups.index(group[1])}.{group[2]}`" if group[1] in groups else ""
    return " or ".join(f"`{one}`" for one in similar_keys(key, value_of(setting), written))


def similar_keys(key: str, value: object, written: Mapping[str, Any]) -> list[str]:
    """Returns keys of the same last name that can have the value; first those of tables in use."""
    keys = Keys(json.loads(_core.schema()))
    places, last = keys.places(), key.rpartition(".")[2]
    if key in places:
        return []
    same = [place for place in places if place.rpartition(".")[2] == last]
    if isinstance(value, str):
        taking = [one for one in same or places if value in keys.names(one)]
        same = taking or same
    same = same or get_close_matches(key, places, 1)
    used = [one for one in same if value_at(one.rpartition(".")[0], written) is not None]
    return (used or same)[:MOST]
