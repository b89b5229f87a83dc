"""Tests of `nodeb list keys`, which prints the keys of a section of the schema."""

import json

import pytest

from nodeb import _core
from nodeb.inputs.keys import Keys

KEYS = Keys(json.loads(_core.schema()))


def test_section_lists_keys_with_type_default_and_unit(call):
    status, printed, _ = call("list", "keys", "radio.dch")
    rows = {line.split()[0]: line for line in printed.splitlines() if line[0] != " "}
    assert (status, list(rows)) == (0, [*KEYS.defs["Dch"]["properties"]])
    assert '"10 ms"' in rows["tti"]
    assert "number, 0 to 1" in rows["bler"]
    status, printed, _ = call("list", "keys", "radio")
    assert (status, printed.splitlines()[0].split()) == (0, ["dch", "table"])


def test_lists_fit_into_eighty_columns(call, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for arguments in (["metrics"], [], *(["keys", section] for section in KEYS.paths())):
        assert max(map(len, call("list", *arguments)[1].splitlines())) <= 80


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("bler=0.2", "`radio.dch.bler`"),
        ("tcp.congestion=cubic", "`tcp.linux.control`"),
        ("wired.loss=5%", "`wired.loss=0.05`"),
        ("users=10", "`users.0.count=10`"),
        ("users.far.count=3", "`users.1.count`"),
        ("wired.rate=10M", "`wired.rate=10 Mbps`"),
        ("wired.rate=10MBps", "`wired.rate=80 Mbps`"),
    ],
)
def test_refused_setting_suggests_what_was_meant(call, tmp_path, setting, expected):
    groups = "".join(
        f'[[users]]\nname = "{name}"\ntraffic.ftp.size = "1 kB"\n' for name in ("near", "far")
    )
    (tmp_path / "a.toml").write_text(f"radio.dch.bler = 0.1\n{groups}")
    status, printed, err = call("run", "a.toml", "--set", setting)
    assert (status, printed) == (2, "")
    assert err.endswith(f"; did you mean {expected}?\n")
    meant = expected.strip("`")
    value = "" if "=" in meant else f"={setting.partition('=')[2]}"
    assert call("run", "a.toml", "--runs", 2, "--set", f"{meant}{value}")[0] == 0


def test_file_and_all_sections_are_listed_by_default(call):
    table, _, sections = call("list", "keys")[1].partition("Sections")
    keys = {line.split()[0] for line in table.split("\n") if line.strip()}
    assert {"runs", "seed", "duration", "users"} <= keys
    listed = sections.split("\n\n")[1].split()
    assert {"radio.dch", "tcp", "wired", "users.traffic.ftp"} <= set(listed)
    assert all(KEYS.rows(section) for section in listed)


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        (("list", "keys", "radio.hsdp"), "`hsdp`; did you mean `hsdpa`"),
        (("list", "keys", "radio.dch.bler"), "radio.dch.bler"),
        (("list", "keys", "."), "section"),
        (("list", "keys", "lte"), "`radio.lte`"),
        (("list", "lte"), "`nodeb list keys radio.lte`"),
        (("list", "metrics", "radio.dch"), "`nodeb list keys`"),
        (("schema", "radio.dch.blr"), "did you mean `bler`"),
        (("schema", "runs", "--out", "x.json"), "--out"),
    ],
)
def test_unknown_section_or_key_suggests_the_nearest(call, arguments, place):
    status, printed, err = call(*arguments)
    assert (status, printed, place in err) == (2, "", True), err


def test_single_key_is_shown(call):
    status, out, _ = call("schema", "radio.dch.bler")
    names = [line.split()[0] for line in out.splitlines()]
    assert (status, names) == (0, ["radio.dch.bler", "type", "default", "meaning"])
    assert "0 to 1" in out


@pytest.mark.parametrize("schema", [_core.schema, _core.link_schema])
def test_every_key_and_every_choice_has_a_meaning(schema):
    document = json.loads(schema())
    parts = {"": document, **document["$defs"]}
    keys = {
        (name, key): value
        for name, part in parts.items()
        for key, value in part.get("properties", {}).items()
    }
    choices = {
        (name, str(choice.get("enum") or choice.get("required"))): choice
        for name, part in parts.items()
        for choice in part.get("oneOf", [])
    }
    silent = [place for place, value in {**keys, **choices}.items() if "description" not in value]
    assert [place for place in silent if "$ref" not in {**keys, **choices}[place]] == []
