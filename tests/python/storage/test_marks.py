"""Tests of the marks of folders: they contain checksums of files, which are verified on reading."""

from __future__ import annotations

import hashlib
import json
import threading

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nodeb
from nodeb.base.table import Table
from nodeb.errors import InputError, OutputError
from nodeb.inputs.scenario import load
from nodeb.plot.source import open_table
from nodeb.storage import files, marks
from nodeb.storage.bounded import read_bytes
from nodeb.storage.folders import MARK, claim, note
from result_folders import MINE, content, put


def flip(data: bytes, bit: int) -> bytes:
    """Returns `data` with bit number `bit` flipped."""
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def test_mark_has_checksums_of_its_files_and_itself(tmp_path):
    put(tmp_path / "out", a="one", b="two")
    data = (tmp_path / "out" / MARK).read_bytes()
    assert json.loads(data)["sha256"] == {
        name: hashlib.sha256(text).hexdigest() for name, text in (("a", b"one"), ("b", b"two"))
    }
    # The command `grep -v '^  "checksum"' provenance.json | sha256sum` prints the same checksum.
    others = b"".join(one for one in data.splitlines(True) if b'  "checksum"' not in one)
    assert json.loads(data)["checksum"] == hashlib.sha256(others).hexdigest()


def test_every_flipped_bit_of_a_mark_is_detected():
    mark = {"kind": "run", "of": "a.toml", "files": ["a"], "complete": True, "share": 0.1}
    data = marks.text(mark)
    for bit in range(8 * len(data)):
        with pytest.raises(ValueError, match=r"damaged|understood"):
            marks.parse(flip(data, bit))


def test_file_that_differs_from_its_checksum_is_not_read(tmp_path):
    file = put(tmp_path / "out", a="one") / "a"
    assert read_bytes(file, 99) == b"one"
    file.write_text("one more")
    with pytest.raises(InputError, match=rf"{file} is not what nodeb wrote: .*{MARK}"):
        read_bytes(file, 99)
    copied = tmp_path / "a"
    copied.write_bytes(file.read_bytes())
    assert read_bytes(copied, 99) == b"one more"


def test_damaged_mark_is_reported_by_readers_and_claims(tmp_path):
    folder = put(tmp_path / "out", a="one")
    mark = folder / MARK
    mark.write_bytes(mark.read_bytes().replace(b'"seed": 1', b'"seed": 3'))
    with pytest.raises(InputError, match=rf"a cannot be verified: {mark} is damaged"):
        read_bytes(folder / "a", 99)
    with pytest.raises(
        OutputError, match=f"{mark} is damaged: .* so the folder's owner is unknown"
    ):
        claim(folder, MINE)


def test_files_added_to_a_folder_later_are_verified(tmp_path):
    folder = put(tmp_path / "out", a="one")
    for text in ("b", "c"):
        (folder / "more").write_text(text)
        note(folder / "more")
        assert read_bytes(folder / "more", 99) == text.encode()
    (folder / "more").write_text("d")
    with pytest.raises(InputError, match="not what nodeb wrote"):
        read_bytes(folder / "more", 99)


def test_nested_folders_are_verified(tmp_path):
    def write(part):
        (part / "deep" / "er").mkdir(parents=True)
        (part / "deep" / "er" / "a").write_text("one")

    with claim(tmp_path / "out", MINE) as place:
        place.put(write, {})
    file = tmp_path / "out" / "deep" / "er" / "a"
    assert read_bytes(file, 99) == b"one"
    file.write_text("two")
    with pytest.raises(InputError, match="not what nodeb wrote"):
        read_bytes(file, 99)


def test_threads_of_arrow_keep_no_python_file(tmp_path, monkeypatch):
    """A process that ends while a thread of Arrow has a Python file is aborted, but seldom."""
    file, sources, read = tmp_path / "t.parquet", [], pq.read_table

    def reads(source, **more):
        sources.append(source)
        return read(source, **more)

    files.write_parquet(file, Table({"x": [1, 2]}))
    monkeypatch.setattr(pq, "read_table", reads)
    assert files.read_parquet(file)[0]["x"].tolist() == [1, 2]
    assert [type(one) for one in sources] == [pa.BufferReader]


def test_flipped_bit_of_a_table_is_detected_by_file_and_folder(small, tmp_path):
    folder = small.run(runs=3).save(tmp_path / "out")
    file = folder / "flows.parquet"
    good = file.read_bytes()
    whole = files.read_parquet(file)[0].to_arrays()
    for bit in range(5, 8 * len(good), 991):
        file.write_bytes(flip(good, bit))
        with pytest.raises(InputError, match=r"flows\.parquet is not what nodeb wrote"):
            files.read_parquet(file)
    # A Parquet file outside its folder has no checksum in a mark, so its page checksums are
    # verified.
    alone = tmp_path / "flows.parquet"
    about = pq.ParquetFile(folder / "bearers.parquet").metadata.row_group(0).column(0)
    at = about.dictionary_page_offset or about.data_page_offset
    alone.write_bytes(flip((folder / "bearers.parquet").read_bytes(), 8 * (at + 40)))
    with pytest.raises(OSError, match="CRC checksum verification failed"):
        files.read_parquet(alone)
    assert len(whole["run"]) == 6


def test_scenario_of_a_folder_is_verified(small, tmp_path):
    folder = small.run(runs=1).save(tmp_path / "out")
    load(folder / "scenario.toml")
    text = (folder / "scenario.toml").read_text()
    (folder / "scenario.toml").write_text(text.replace("duration", "duration "))
    with pytest.raises(InputError, match=r"scenario\.toml is not what nodeb wrote"):
        nodeb.load(folder / "scenario.toml")


def test_tables_read_during_replacement_belong_to_one_run(tmp_path):
    def result(number: int):
        def write(part):
            for name in ("flows", "bearers", "summary"):
                files.write_parquet(part / f"{name}.parquet", Table({name: [number] * 9}))

        return write

    folder, done, failed = tmp_path / "out", threading.Event(), []

    def replace():
        for number in range(150):
            with claim(folder, MINE) as place:
                place.put(result(number), {"number": number})
        done.set()

    with claim(folder, MINE) as place:
        place.put(result(-1), {})
    writer = threading.Thread(target=replace)
    writer.start()
    reads = 0
    while not done.is_set():
        try:
            table, _, _ = open_table(folder, ["flows"])
            assert len(set(table["flows"])) == 1
            files.read_parquet(folder / "flows.parquet")
        except (OSError, ValueError) as error:
            failed.append(error)
        reads += 1
    writer.join()
    assert not failed
    assert reads > 10


def test_files_next_to_a_foreign_mark_are_read_unverified(tmp_path):
    (tmp_path / MARK).write_text("{}")
    (tmp_path / "a").write_text("one")
    assert read_bytes(tmp_path / "a", 99) == b"one"
    assert content(tmp_path).keys() == {MARK, "a"}
