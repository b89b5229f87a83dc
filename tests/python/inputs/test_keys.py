"""Tests of `nodeb list keys`, which prints the keys of a section of the schema."""

import json

import pytest

from nodeb import _core
from nodeb.inputs.keys import Keys

KEYS = Keys(json.loads(_core.schema()))


def test_section_lists_keys_with_type_default_and_unit(call):
    status, printed, _ = call("list", "keys", "radio.dch")
    rows = {line.split()[0]: line for line in printed.splitlines() if line[0] != " "}
    assert (status, list(rows)) == (0, ["key", *KEYS.defs["Dch"]["properties"]])
    assert '"10 ms"' in rows["tti"]
    assert "Length of a transmission" in rows["tti"]
    assert "number, 0 to 1" in rows["bler"]


def test_choice_lists_its_names_and_meanings(call):
    status, printed, _ = call("list", "keys", "radio")
    assert (status, printed.splitlines()[1].split()[:2]) == (0, ["dch", "table"])
    assert "Dedicated channels" in printed


def test_file_and_all_sections_are_listed_by_default(call):
    _, printed, _ = call("list", "keys")
    table, _, sections = printed.partition("Sections")
    assert {"runs", "seed", "duration", "users"} <= {
        line.split()[0] for line in table.split("\n") if line.strip()
    }
    listed = sections.split("\n\n")[1].split()
    assert {"radio.dch", "tcp", "wired", "users.traffic.ftp"} <= set(listed)
    for one in listed:
        assert KEYS.rows(one), one


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ("radio.hsdp", "radio.hsdp: there is no section for `hsdp`; did you mean `hsdpa`?"),
        ("radio.dch.bler", "radio.dch.bler: there is no section for `bler`"),
        ("", "there is no section"),
    ],
)
def test_unknown_section_suggests_the_nearest(call, section, message):
    status, printed, err = call("list", "keys", section or ".")
    assert (status, printed, message in err) == (2, "", True)


def test_only_keys_accepts_sections(call):
    status, _, err = call("list", "metrics", "radio.dch")
    assert (status, "only `nodeb list keys` takes a section" in err) == (2, True)


def test_single_key_is_shown_and_an_unknown_one_names_the_list(call, tmp_path):
    status, out, _ = call("schema", "radio.dch.bler")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()] == [
        "radio.dch.bler",
        "type",
        "default",
        "meaning",
    ]
    assert "0 to 1" in out
    assert "`nodeb list keys radio.dch`" in call("schema", "radio.dch")[1]
    _, _, err = call("schema", "radio.dch.blr")
    assert "did you mean `bler`?" in err
    assert "all keys of radio.dch: `nodeb list keys radio.dch`" in err
    assert call("schema", "runs", "--out", "x.json")[0] == 2
    (tmp_path / "x.toml").write_text("duration = '5 s'\n[radio.dch]\nblr = 0.1\n")
    assert call("run", "x.toml")[2].endswith(
        "; all keys of radio.dch: `nodeb list keys radio.dch`\n"
    )
