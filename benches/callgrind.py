"""Parser of callgrind's output: instructions per function, and calls that leave the program."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

# These functions select a variant of themselves by the processor, so the variant that runs depends
# on the machine. A call of such a function counts as a call that leaves the program.
BY_PROCESSOR = re.compile(
    r"rand_chacha::guts::(refill_wide|init_chacha)|libm::math::arch::|std_detect::"
)

# Suffixes that the compiler adds to names of functions, and numbers that callgrind adds for
# recursion.
_MARKS = re.compile(r"(\.llvm\.\d+|\.cold|\.constprop\.\d+|\.part\.\d+|'\d+)+$")

# Names of variants of a C library function for one type of processor, such as
# `__memcpy_avx_unaligned_erms`.
_VARIANT = re.compile(r"^_+(\w+?)_(?:sse|ssse|avx|evex|erms)\w*$")
_NAME = re.compile(r"(ob|fl|fi|fe|fn|cob|cfi|cfl|cfn)=\((\d+)\)(?: (.*))?$")
_KINDS = {"cob": "ob", "cfn": "fn", "fi": "fl", "fe": "fl", "cfi": "fl", "cfl": "fl"}


def read(text: str, program: Path) -> tuple[Counter[str], Counter[str]]:
    """Instructions of the program's functions, and calls of functions outside it."""
    functions, outside, names = Counter[str](), Counter[str](), dict[tuple[str, str], str]()
    here = {"ob": "", "fn": ""}
    callee = dict[str, str]()
    wanted, seen, calls = str(program), False, 0
    for line in text.splitlines():
        if match := _NAME.match(line):
            what, number, name = match.groups()
            kind = _KINDS.get(what, what)
            key = (kind, number)
            if name is not None:
                names[key] = _MARKS.sub("", name) if kind == "fn" else name
            (callee if what.startswith("c") else here)[kind] = names[key]
            seen |= names[key] == wanted
        elif line.startswith("calls="):
            calls = int(line[6:].split()[0])
        elif line and (line[0].isdigit() or line[0] in "+-*"):
            own = here["ob"] == wanted
            by_processor = BY_PROCESSOR.search(here["fn"]) is not None
            # This line has the inclusive cost of a call. The lines of the called functions count
            # this cost already, so it is not added again.
            if calls:
                into = callee["fn"]
                leaves = callee.get("ob", here["ob"]) != wanted or BY_PROCESSOR.search(into)
                if own and not by_processor and leaves:
                    outside[_VARIANT.sub(r"\1", into)] += calls
                calls, callee = 0, {}
            elif own and not by_processor:
                functions[here["fn"]] += int(line.split()[1])
    if not seen:
        raise ValueError(f"the output of callgrind does not contain {program}")
    return functions, outside
