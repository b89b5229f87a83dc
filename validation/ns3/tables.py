"""Prints the blocks of ns-3's LTE at constant SNRs, from its tables: `tables.py BLOCKS SNR_DB...`.

Prints for each SNR the highest MCS that fails with at most 10 % on the band of 100 resource blocks;
then for CQIs of the band and of subbands: CQI, MCS, bits of a block on BLOCKS resource blocks, and
its block error rate. The program runs in the Python that has ns-3; it simulates nothing.
"""

from __future__ import annotations

import sys
from typing import Any

import cppyy
from ns import ns

BAND, SUBBAND = 100, 4
TARGET = 0.1
"""Largest block error rate of an MCS that may be chosen."""


def flat(snr_db: float) -> Any:
    """Returns an SNR that is equal on all resource blocks."""
    snr = ns.SpectrumValue(ns.LteSpectrumValueHelper.GetSpectrumModel(100, BAND))
    for block in range(BAND):
        snr[block] = 10 ** (snr_db / 10)
    return snr


def bler(amc: Any, snr: Any, mcs: int, blocks: int) -> float:
    places = cppyy.gbl.std.vector["int"](range(blocks))
    octets = amc.GetDlTbSizeFromMcs(mcs, blocks) // 8
    first = ns.HarqProcessInfoList_t()
    found = ns.LteMiErrorModel.GetTbDecodificationStats(snr, places, octets, mcs, first)
    return float(found.tbler)


def main(blocks: int, snrs_db: list[float]) -> None:
    amc = ns.CreateObject[ns.LteAmc]()
    print("snr_db highest_mcs, for band and subbands: cqi mcs bits bler")
    for snr_db in snrs_db:
        snr = flat(snr_db)
        allowed = [mcs for mcs in range(29) if bler(amc, snr, mcs, BAND) <= TARGET]
        print(f"{snr_db:g} {max(allowed, default=0)}", end="")
        for width in (BAND, SUBBAND):
            cqi = next(iter(amc.CreateCqiFeedbacks(snr, width)))
            mcs = amc.GetMcsFromCqi(cqi)
            bits = amc.GetDlTbSizeFromMcs(mcs, blocks)
            print(f", {cqi} {mcs} {bits} {bler(amc, snr, mcs, blocks):.5f}", end="")
        print()


if __name__ == "__main__":
    main(int(sys.argv[1]), [float(text) for text in sys.argv[2:]])
