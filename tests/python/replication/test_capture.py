"""Tests: Wireshark's tshark and tcptrace read captures."""

import csv
import itertools
import re
import subprocess
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import pytest

import nodeb
from nodeb import cli

TSHARK, TCPTRACE = "tshark", "tcptrace"
needs_tshark, needs_both = pytest.mark.needs(TSHARK), pytest.mark.needs(TSHARK, TCPTRACE)

LOSSY = """
name = "lossy"
runs = 2
[wired]
loss = 0.02
[radio.dch]
bler = 0.1
[[users]]
count = 3
stagger = "1 s"
traffic.ftp = { size = "300 kB", request = "300 B" }
[record]
segments = true
"""

VARIANTS = {
    "newreno": ["tcp.classic.control.newreno={}"],
    "reno": ["tcp.classic.control.reno={}"],
    "tahoe": ["tcp.classic.control.tahoe={}"],
    "sack": ["tcp.classic.control.sack={}"],
    "sack, server opens": ["tcp.classic.control.sack={}", 'tcp.classic.opened_by="server"'],
    "large window": ["tcp.classic.max_window=200", "tcp.classic.initial_ssthresh=200"],
    "every segment acknowledged": ['tcp.classic.delayed_ack="0 s"'],
    "out of sequence": ['radio.dch.delivery="out_of_sequence"', "radio.dch.bler=0.3"],
    "overflow": ["radio.dch.buffer=10"],
    "linux": ["tcp.linux={}"],
    "linux, small window": ['tcp.linux.receive_buffer="20 kB"', 'tcp.linux.read_rate="200 kbps"'],
    "linux, ecn, server opens": ["tcp.linux.ecn=true", 'tcp.linux.opened_by="server"'],
    "linux, web": [
        "tcp.linux={}",
        'users=[{count=3, traffic.web={request="400 B"}}]',
        'duration="200 s"',
    ],
    "web": [
        'users=[{count=3, traffic.web={request="400 B"}}]',
        'duration="200 s"',
    ],
}

QUICK = {"newreno", "sack, server opens", "linux, ecn, server opens", "linux, web"}
"""Cases that are captured in every run of the tests."""

ANALYSIS = ("retransmission", "fast_retransmission", "spurious_retransmission", "out_of_order")


@dataclass
class Captured:
    result: nodeb.Result
    path: Path

    def packets(self, interface, wanted, *fields):
        """Returns the `fields` of each packet that passes the filter `wanted`, at one interface."""
        split = self.split(interface)
        command = [TSHARK, "-r", split, "-Y", wanted, "-T", "fields", "-E", "separator=,"]
        command += ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]
        for field in fields or ("frame.number",):
            command += ["-e", field]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return [tuple(line.split(",")) for line in done.stdout.splitlines()]

    def packets_of_all(self, wanted, *fields):
        """Returns the `fields` of each packet that passes the filter `wanted`, at any interface."""
        command = [TSHARK, "-r", self.path, "-Y", wanted, "-T", "fields", "-E", "separator=|"]
        command += ["--enable-heuristic", "pdcp_lte_udp"]
        for field in fields or ("frame.number",):
            command += ["-e", field]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return [tuple(line.split("|")) for line in done.stdout.splitlines()]

    def split(self, interface, form="pcapng"):
        """Returns the file with the packets of one interface, in which no packet occurs twice.

        The file is made from the capture at the first call.
        """
        split = self.path.with_suffix(f".{interface}.{form}")
        if not split.exists():
            command = [TSHARK, "-r", self.path, "-Y", f'frame.interface_name == "{interface}"']
            subprocess.run([*command, "-F", form, "-w", split], capture_output=True, check=True)
        return split

    def of_users(self, interface, wanted, *fields):
        """Returns the user and the `fields` of each packet: every phone has a port of its own.

        Streams of tshark are numbered in the order of their first packets, not in that of users.
        """
        packets = self.packets(interface, wanted, "tcp.srcport", "tcp.dstport", *fields)
        ports = ((int(source), int(sink)) for source, sink, *_ in packets)
        users = (sum(pair) - 40_000 - 49_152 for pair in ports)
        return [(user, *packet[2:]) for user, packet in zip(users, packets, strict=True)]

    def by_user(self, interface, wanted):
        return Counter(user for (user,) in self.of_users(interface, wanted))


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in VARIANTS
    ],
)
def captured(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("capture")
    (folder / "lossy.toml").write_text(LOSSY, encoding="utf-8")
    scenario = nodeb.load(folder / "lossy.toml", VARIANTS[request.param])
    path = folder / "lossy.pcapng"
    return Captured(scenario.capture(path, snap_length=65_535), path)


def columns(result, *names):
    return [list(result.flows[name]) for name in names]


@needs_tshark
@pytest.mark.parametrize("interface", ["server", "phone"])
def test_tshark_finds_no_malformed_packet_or_wrong_checksum(captured, interface):
    wrong = "_ws.malformed || tcp.checksum.status != 1 || ip.checksum.status != 1"
    assert captured.packets(interface, wrong) == []
    gaps = "tcp.analysis.ack_lost_segment || tcp.analysis.lost_segment && tcp.dstport == 40000"
    assert captured.packets(interface, gaps) == []
    names = captured.packets(interface, "tcp", "_ws.col.Protocol")
    assert set(names) == {("TCP",)}, "no dissector takes the data for its own"


@needs_tshark
def test_tshark_and_nodeb_count_the_same_packets(captured):
    """nodeb and tshark find the same packets and retransmissions.

    For both, a retransmission begins below the highest byte sent so far. Wireshark classifies
    retransmissions by heuristics (fast, spurious, or out of order if they follow the previous
    packet closely), so only the sum can be compared.
    """
    users, sent, again = columns(captured.result, "user", "packets_sent", "packets_retransmitted")
    assert captured.by_user("server", "tcp.srcport == 40000") == dict(zip(users, sent, strict=True))
    wanted = " || ".join(f"tcp.analysis.{name}" for name in ANALYSIS)
    found = captured.by_user("server", f"tcp.srcport == 40000 && ({wanted})")
    assert [found[user] for user in users] == again


@needs_tshark
def test_tshark_and_nodeb_count_the_same_bytes(captured):
    """Each data segment is counted once, in `ip_bytes` with its headers; the SYN is not counted."""
    unique = {}
    wanted = "tcp.srcport == 40000 && tcp.len > 0"
    for user, seq, *lengths in captured.of_users("server", wanted, "tcp.seq", "tcp.len", "ip.len"):
        unique[user, int(seq)] = [int(length) for length in lengths]
    acks = {}
    for user, ack in captured.of_users("phone", "tcp.dstport == 40000", "tcp.ack"):
        acks[user] = max(int(ack), acks.get(user, 0))
    flows = zip(
        *columns(captured.result, "user", "complete", "delivered_bytes", "ip_bytes"), strict=True
    )
    for user, complete, app, ip in flows:
        own = [lengths for (owner, _), lengths in unique.items() if owner == user]
        assert app <= sum(data for data, _ in own)
        assert sum(whole for _, whole in own) <= ip
        if complete:
            assert [sum(column) for column in zip(*own, strict=True)] == [app, ip]
            assert acks[user] == app + 1


@needs_tshark
def test_tshark_and_nodeb_count_the_same_duplicate_acks(captured):
    """nodeb and tshark count the same duplicate ACKs, that is, ACKs equal to the previous one.

    RFC 5681 also requires an equal window. So with `linux`, where the window changes, tshark may
    count fewer.
    """
    rows, tcp = captured.result.segments, captured.result.scenario.to_dict()["tcp"]
    expected = Counter()
    for user in captured.result.flows["user"]:
        acks = [
            seq
            for who, event, seq in zip(rows["user"], rows["event"], rows["seq"], strict=True)
            if who == user and event == "ack"
        ]
        expected[user] = sum(a == b for a, b in itertools.pairwise(acks))
    found = captured.by_user("server", "tcp.analysis.duplicate_ack")
    # If the window changes, as with a growing receive buffer, tshark calls an ACK a window update
    # instead of a duplicate.
    if "linux" in tcp:
        assert all(found[user] <= expected[user] for user in expected)
        assert found.total() > 0
    else:
        assert found == +expected


@needs_tshark
def test_connections_begin_with_a_three_way_handshake(captured):
    ((_, tcp),) = captured.result.scenario.to_dict()["tcp"].items()
    opened_by = tcp["opened_by"]
    fields = ("ip.src", "tcp.flags.syn", "tcp.flags.ack", "tcp.seq", "tcp.ack")
    packets = captured.of_users("server", "tcp", *fields)
    for user in captured.result.flows["user"]:
        own = (packet[1:] for packet in packets if packet[0] == user)
        # Consecutive equal packets are retransmissions, so they are counted once.
        once = (packet for packet, _ in itertools.groupby(own))
        first, second, third = itertools.islice(once, 3)
        by_server = [packet[0] == "10.0.0.1" for packet in (first, second, third)]
        assert by_server == ([False, True, False] if opened_by == "phone" else [True, False, True])
        assert first[1:] == ("1", "0", "0", "0")
        assert second[1:] == ("1", "1", "0", "1")
        assert third[1:4] == ("0", "1", "1")


@needs_both
def test_tcptrace_and_nodeb_agree(captured):
    """tcptrace counts only retransmitted data, whereas nodeb also counts a retransmitted SYN."""
    split = captured.split("server", "pcap")
    command = [TCPTRACE, "-l", "-n", "--csv", split]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = [line for line in done.stdout.splitlines() if line and not line.startswith("#")]
    rows = csv.DictReader(lines, skipinitialspace=True)
    flows = captured.result.flows
    found = {}
    for row in rows:
        row = {key.strip(): value.strip() for key, value in row.items() if key and value}
        down = "b2a" if row["port_b"] == "40000" else "a2b"
        phone = row["host_a"] if down == "b2a" else row["host_b"]
        user = int(phone.rpartition(".")[2]) - 1
        names = ("total_packets", "unique_bytes_sent", "rexmt_data_pkts", "SYN/FIN_pkts_sent")
        found[user] = [row[f"{name}_{down}"] for name in names]
    for user, sent, again in zip(
        *columns(captured.result, "user", "packets_sent", "packets_retransmitted"), strict=True
    ):
        packets, unique, rexmt, syns = found[user]
        assert int(packets) == sent
        assert int(rexmt) + int(syns.split("/")[0]) - 1 == again
        if flows["complete"][user]:
            assert int(unique) == flows["delivered_bytes"][user]


def test_capture_does_not_change_the_result(small, tmp_path):
    captured = small.run(runs=3, pcap=tmp_path / "x.pcapng")
    plain = small.run(runs=3)
    assert captured.flows.to_pandas().equals(plain.flows.to_pandas())
    assert small.capture(tmp_path / "y.pcapng").provenance.runs == 1
    first, second = ((tmp_path / name).read_bytes() for name in ("x.pcapng", "y.pcapng"))
    assert len(first) > 10_000
    # The files differ only in the comment, which has `runs = 3` in the scenario of the first.
    assert abs(len(first) - len(second)) < 10


@pytest.fixture
def command(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        status = cli.invoke(["run", *(str(argument) for argument in arguments)])
        return status, *capsys.readouterr()

    return call


def test_run_writes_a_capture(command, scenario_file):
    status, out, err = command(scenario_file, "--pcap", "x.pcapng", "--snap-length", 128)
    assert (status, err) == (0, "")
    assert out.endswith("Packets: x.pcapng\n")
    assert Path("x.pcapng").read_bytes()[:4] == b"\x0a\x0d\x0d\x0a"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["--pcap", "no/such/x.pcapng"],
            "--pcap no/such/x.pcapng: ",
        ),
        (["--pcap", "."], "--pcap .: "),
        (
            ["--pcap", "x.pcapng", "--snap-length", "79"],
            "expected 80 (the longest headers) to 65535",
        ),
        (["--snap-length", "128"], "requires --pcap"),
    ],
)
def test_impossible_capture_is_rejected_before_the_run(command, scenario_file, arguments, words):
    status, out, err = command(scenario_file, *arguments)
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert words in err


@needs_tshark
@pytest.mark.parametrize(
    ("radio", "places"), [('hsdpa]\niub.delay = "15 ms"', ["rnc", "node_b"]), ("dch]", ["node_b"])]
)
def test_tshark_reads_radio_interfaces_and_packet_fates(tmp_path, radio, places):
    text = f'duration = "20 s"\n[wired]\nloss = 0.02\n[radio.{radio}\n'
    (tmp_path / "radio.toml").write_text(text + '[[users]]\ntraffic.ftp.size = "200 kB"\n')
    scenario = nodeb.load(tmp_path / "radio.toml")
    found = Captured(
        scenario.capture(tmp_path / "radio.pcapng", radio=True), tmp_path / "radio.pcapng"
    )
    names = {name for (name,) in found.packets_of_all("tcp", "frame.interface_name")}
    assert names == {"server", "phone", *places}
    assert found.packets_of_all("_ws.malformed", "frame.number") == []
    comments = [text for (text,) in found.packets_of_all("tcp", "frame.comment")]
    assert all(comments)
    lost = found.packets_of_all(
        'frame.comment contains "lost"', "frame.interface_name", "frame.comment"
    )
    assert len(lost) == found.result.links["lost"].sum() > 0
    assert all("at the wired link: link loss" in " ".join(row) for row in lost)
    again = found.packets_of_all(
        'frame.comment contains "retransmission" && frame.interface_name == "server"'
    )
    assert len(again) == found.result.flows["packets_retransmitted"].sum()
    assert any("retransmitted" in text for text in comments)


LTE = """
duration = "20 s"
tcp.linux = {}
[wired]
rate = "100 Mbps"
delay = "20 ms"
[radio.lte]
sn_length = "%s"
uplink.scheduled = {}
queue.drop_tail.limit = 40
[[users]]
count = 2
stagger = "1 s"
traffic.ftp = { size = "%s", request = "300 B" }
ue.channel.constant.snr_db = 12.0
"""


@needs_tshark
@pytest.mark.parametrize(("bits", "size"), [(12, "7 MB"), (18, "500 kB")])
def test_tshark_dissects_pdcp_pdus_and_their_packets(tmp_path, bits, size):
    """Each PDU has its direction, UE, bearer and sequence number, and the packet that was sent.

    Packets that the queue drops get no sequence number, so the numbers have no gaps. Numbers of 12
    bits wrap.
    """
    (tmp_path / "lte.toml").write_text(LTE % (f"{bits} bit", size))
    found = Captured(
        nodeb.load(tmp_path / "lte.toml").capture(tmp_path / "lte.pcapng", radio=True),
        tmp_path / "lte.pcapng",
    )
    of_pdu = ("direction", "ueid", "channel-id", "seqnum_length", "rohc.compression", "seq-num")
    of_pdu = tuple(f"pdcp-lte.{name}" for name in of_pdu)
    of_packet = ("tcp.srcport", "tcp.dstport", "tcp.seq_raw", "tcp.ack_raw", "tcp.len")
    of_packet += ("frame.comment",)
    at = 'frame.interface_name == "{}" && tcp.{}port == 40000'
    assert found.packets_of_all("_ws.malformed", "frame.number") == []
    dropped = 0
    for direction, sender, port in (("1", "server", "src"), ("0", "phone", "dst")):
        pdus = found.packets_of_all(at.format("pdcp", port), *of_pdu, *of_packet)
        sent = found.packets_of_all(at.format(sender, port), *of_packet)
        passed = [packet for packet in sent if "no room in the queue" not in packet[-1]]
        dropped += len(sent) - len(passed)
        assert Counter(pdu[6:] for pdu in pdus) == Counter(passed)
        for ue in ("1", "2"):
            own = [pdu for pdu in pdus if pdu[1] == ue]
            assert {pdu[:5] for pdu in own} == {(direction, ue, "1", str(bits), "0")}
            assert {pdu[6 if port == "dst" else 7] for pdu in own} == {str(49_151 + int(ue))}
            assert [int(pdu[5]) for pdu in own] == [n % 2**bits for n in range(len(own))]
    assert dropped > 0 or bits == 18


SPAN = re.compile(r"(?P<cause>.+) (?P<ms>[0-9.]+) ms at (?P<place>.+)")


def spans_told(found, user, transfer):
    """Returns the critical path's spans by packet, as tshark finds them in packets' comments."""
    head = f"critical path of user {user}'s transfer {transfer}, packet "
    comments = found.packets_of_all(f'frame.comment contains "{head}"', "frame.comment")
    told = {}
    for (comment,) in comments:
        (text,) = (part for part in comment.split("; ") if part.startswith(head))
        number, said = text.removeprefix(head).split(": ", 1)
        parts = [SPAN.fullmatch(part) for part in said.split(", ")]
        spans = [(one["cause"], round(Decimal(one["ms"]) * 10**6), one["place"]) for one in parts]
        assert told.setdefault(int(number), spans) == spans
    return told


CAUSED = {
    "hsdpa": ('[radio.hsdpa]\niub.delay = "15 ms"\n', True),
    "dch": ("[radio.dch]\nbler = 0.1\n[wired]\nloss = 0.02\n", False),
    "proxy": ('proxy = "split"\n[radio.hs_dsch]\nbler = 0.1\n', True),
    "fach": ("[radio.fach_dch]\n", True),
}


@needs_tshark
@pytest.mark.parametrize("name", CAUSED)
def test_tshark_reads_critical_paths_that_add_up(tmp_path, name):
    radio, with_radio = CAUSED[name]
    users = '[[users]]\ncount = 2\ntraffic.web = { reading.constant.value = "2 s" }\n'
    (tmp_path / "file.toml").write_text(f'duration = "20 s"\n{radio}{users}')
    scenario = nodeb.load(tmp_path / "file.toml")
    path = tmp_path / "file.pcapng"
    found = Captured(scenario.capture(path, radio=with_radio, causes=[1]), path)
    assert found.packets_of_all("_ws.malformed", "frame.number") == []
    life = scenario.life(user=1)
    packets = {row["packet"]: row for row in life.packets.to_pylist()}
    for transfer in range(2):
        explained = nodeb.explain(scenario, user=1, transfer=transfer, runs=1)
        told = spans_told(found, 1, transfer)
        spans = [span for of_packet in told.values() for span in of_packet]
        assert sum(ns for _, ns, _ in spans) == explained.paths[0].time_ns > 0
        causes = Counter()
        for cause, ns, _ in spans:
            causes[cause] += ns
        assert causes == explained.paths[0].causes
        assert {place for *_, place in spans} <= {*explained.spans["place"]}
        assert set(told) <= set(packets)
    assert not spans_told(found, 0, 0)
    plain = tmp_path / "plain.pcapng"
    assert str(scenario.capture(plain, radio=with_radio).flows) == str(found.result.flows)


def test_causes_of_unknown_users_are_rejected(command, scenario_file, tmp_path):
    file = tmp_path / "causes.pcapng"
    assert command(scenario_file, "--pcap-causes", 0)[0] == 2
    status, _, err = command(scenario_file, "--pcap", file, "--pcap-causes", 7)
    assert (status, "there is no user 7; expected 0" in err) == (2, True)
    assert not file.exists()
    text = '[radio.dch]\n[[users]]\ntraffic.on_off.pause.constant.value = "2 s"\n'
    (tmp_path / "late.toml").write_text(f'duration = "1 s"\n{text}')
    with pytest.raises(nodeb.errors.NodebError, match="user 0 has begun no transfer 0"):
        nodeb.load(tmp_path / "late.toml").capture(file, causes=[0])
