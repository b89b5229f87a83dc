"""Simulates cases in ns-3: reads a JSON object from each line of standard input, and writes one.

The program runs in the Python that has ns-3 (`pip install ns3`), so it imports nothing of nodeb.
"""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from ns import ns

BLOCKS = 100
"""Resource blocks of 20 MHz."""
POWER_DBM, NOISE_DBM_HZ = 30.0, -174.0 + 9.0
"""Transmit power of the eNB, and noise of the phone with its noise figure: ns-3's defaults."""
FREQUENCY_HZ = 2.12e9
"""Carrier frequency of the downlink: that of ns-3's default EARFCN, 100."""
UE_POWER_DBM = 23.0
WIRED_DELAY = "20ms"
BEGIN_S = 1.0
"""Time at which measurements begin: phones are connected and have reported CQIs."""
SCHEDULERS = {
    "round_robin": "ns3::RrFfMacScheduler",
    "proportional_fair": "ns3::PfFfMacScheduler",
}
DEFAULTS = {
    "ns3::LteEnbPhy::TxPower": POWER_DBM,
    "ns3::LteUePhy::TxPower": UE_POWER_DBM,
    "ns3::LteUePhy::RsrpSinrSamplePeriod": 100,
    "ns3::LteRlcAm::MaxTxBufferSize": 0,  # unlimited
    "ns3::TcpSocket::SegmentSize": 1448,
    "ns3::TcpSocket::SndBufSize": 20_000_000,
    "ns3::TcpSocket::RcvBufSize": 20_000_000,
    "ns3::TcpSocket::DelAckCount": 1,
}


def distance_m(snr_db: float) -> float:
    sent_dbm_hz = POWER_DBM - 10 * math.log10(BLOCKS * 180e3)
    loss_db = sent_dbm_hz - NOISE_DBM_HZ - snr_db
    return float(10 ** (loss_db / 20) * 299792458.0 / (4 * math.pi * FREQUENCY_HZ))


def place(nodes: Any, distances: list[float]) -> None:
    positions = ns.CreateObject[ns.ListPositionAllocator]()
    for distance in distances:
        positions.Add(ns.Vector(distance, 0.0, 0.0))
    mobility = ns.MobilityHelper()
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel")
    mobility.SetPositionAllocator(positions)
    mobility.Install(nodes)


class Cell:
    """Cell of 20 MHz with phones at constant SNRs, without fading."""

    def __init__(self, case: dict[str, Any], epc: Any = None) -> None:
        ns.Config.SetDefault(
            "ns3::LteEnbRrc::EpsBearerToRlcMapping",
            ns.StringValue("RlcSmAlways" if epc is None else "RlcAmAlways"),
        )
        for name, value in DEFAULTS.items():
            ns.Config.SetDefault(name, ns.StringValue(str(value)))
        self.helper = ns.CreateObject[ns.LteHelper]()
        if epc is not None:
            self.helper.SetEpcHelper(epc)
        self.helper.SetSchedulerType(SCHEDULERS[case["scheduler"]])
        self.helper.SetPathlossModelType(ns.FriisPropagationLossModel.GetTypeId())
        for name in ("DlBandwidth", "UlBandwidth"):
            self.helper.SetEnbDeviceAttribute(name, ns.UintegerValue(BLOCKS))
        site, self.nodes = ns.NodeContainer(), ns.NodeContainer()
        site.Create(1)
        self.nodes.Create(len(case["snr_db"]))
        place(site, [0.0])
        place(self.nodes, [distance_m(snr) for snr in case["snr_db"]])
        self.base = self.helper.InstallEnbDevice(site)
        self.phones = self.helper.InstallUeDevice(self.nodes)


def full_buffer(case: dict[str, Any]) -> dict[str, Any]:
    cell = Cell(case)
    cell.helper.Attach(cell.phones, cell.base.Get(0))
    cell.helper.ActivateDataRadioBearer(
        cell.phones, ns.EpsBearer(ns.EpsBearer.NGBR_VIDEO_TCP_DEFAULT)
    )
    cell.helper.EnableDlPhyTraces()
    cell.helper.EnableRlcTraces()
    statistics = cell.helper.GetRlcStats()
    statistics.SetAttribute("StartTime", ns.TimeValue(ns.Seconds(BEGIN_S)))
    statistics.SetAttribute("EpochDuration", ns.TimeValue(ns.Seconds(1e6)))
    end_s = BEGIN_S + case["seconds"]
    cpu_s = run_until(end_s)
    octets = [statistics.GetDlRxData(1 + phone, 3) for phone in range(len(case["snr_db"]))]
    return {
        "user_mbps": [8e-6 * count / case["seconds"] for count in octets],
        "simulated_s": end_s,
        "cpu_s": cpu_s,
    }


def run_until(end_s: float) -> float:
    begun = time.process_time()
    ns.Simulator.Stop(ns.Seconds(end_s) - ns.Simulator.Now())
    ns.Simulator.Run()
    return time.process_time() - begun


def download(case: dict[str, Any]) -> dict[str, Any]:
    """Simulates a download over TCP that the server opens.

    Returns its duration, rounded up to 1 ms, the simulated time and the CPU time.
    """
    epc = ns.CreateObject[ns.PointToPointEpcHelper]()
    cell = Cell(case, epc)
    server = ns.NodeContainer()
    server.Create(1)
    internet = ns.InternetStackHelper()
    internet.Install(server)
    wire = ns.PointToPointHelper()
    wire.SetDeviceAttribute("DataRate", ns.StringValue("1Gbps"))
    wire.SetDeviceAttribute("Mtu", ns.UintegerValue(1500))
    wire.SetChannelAttribute("Delay", ns.StringValue(WIRED_DELAY))
    ends = wire.Install(epc.GetPgwNode(), server.Get(0))
    addresses = ns.Ipv4AddressHelper()
    addresses.SetBase(ns.Ipv4Address("1.0.0.0"), ns.Ipv4Mask("255.0.0.0"))
    addresses.Assign(ends)
    routing = ns.Ipv4StaticRoutingHelper()
    routing.GetStaticRouting(server.Get(0).GetObject[ns.Ipv4]()).AddNetworkRouteTo(
        ns.Ipv4Address("7.0.0.0"), ns.Ipv4Mask("255.0.0.0"), 1
    )
    internet.Install(cell.nodes)
    phone = epc.AssignUeIpv4Address(cell.phones).GetAddress(0)
    routing.GetStaticRouting(cell.nodes.Get(0).GetObject[ns.Ipv4]()).SetDefaultRoute(
        epc.GetUeDefaultGatewayAddress(), 1
    )
    cell.helper.Attach(cell.phones, cell.base.Get(0))
    cell.helper.EnableDlPhyTraces()
    anywhere = ns.InetSocketAddress(ns.Ipv4Address.GetAny(), 80).ConvertTo()
    sinks = ns.PacketSinkHelper("ns3::TcpSocketFactory", anywhere).Install(cell.nodes)
    source = ns.BulkSendHelper("ns3::TcpSocketFactory", ns.InetSocketAddress(phone, 80).ConvertTo())
    source.SetAttribute("MaxBytes", ns.UintegerValue(case["bytes"]))
    sources = source.Install(server)
    sinks.Start(ns.Seconds(0.5))
    sources.Start(ns.Seconds(BEGIN_S))
    sink = sinks.Get(0).GetObject[ns.PacketSink]()
    now_s, cpu_s = BEGIN_S, run_until(BEGIN_S)
    while sink.GetTotalRx() < case["bytes"]:
        now_s += 1e-3
        cpu_s += run_until(now_s)
    return {"download_s": now_s - BEGIN_S, "simulated_s": now_s, "cpu_s": cpu_s}


def reported_snr_db(phones: int) -> list[float]:
    """Returns the mean SNR of each phone in ns-3's trace of the downlink."""
    lines = Path("DlRsrpSinrStats.txt").read_text(encoding="utf-8").splitlines()[1:]
    rows = [line.split() for line in lines]
    late = [row for row in rows if float(row[0]) > BEGIN_S / 2]
    means = []
    for phone in range(phones):
        values = [float(row[5]) for row in late if int(row[2]) == 1 + phone]
        means.append(10 * math.log10(sum(values) / len(values)))
    return means


def simulate(case: dict[str, Any]) -> dict[str, Any]:
    """Simulates a case in a folder of its own, into which ns-3 writes its traces."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        found = download(case) if "bytes" in case else full_buffer(case)
        ns.Simulator.Destroy()
        found["snr_db"] = reported_snr_db(len(case["snr_db"]))
        os.chdir(before)
    return found


def main() -> None:
    for line in sys.stdin:
        print(json.dumps(simulate(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
