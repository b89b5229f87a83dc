import nodeb
from nodeb.scenario_types import Ftp, HsDsch, UserGroup
from nodeb.study import Axis, Effort, Quick, Study, falling, metric

study = Study(__file__, title="Small", effort=Effort(runs=6), quick=Quick(runs=3))
BLER = Axis({"1 %": 0.01, "20 %": 0.2})
SIZE = Axis(["20 kB", "50 kB"])


@study.scenario
def download(bler, size):
    phones = [UserGroup(traffic=Ftp(size=size))]
    return nodeb.Scenario(duration="100 s", radio=HsDsch(bler=bler), users=phones)


@metric("kb/s")
def rate(m):
    return (m.app_bytes / m.transfer_s * 8 / 1000).mean(axis=-1)


of = rate.of(download)
for number, size in enumerate(SIZE, 1):
    cells = {size: {b: of(b, size) for b in BLER}}
    study.table(f"Table {number}", f"Rates of {size}", cells, "100 90", near=20)


@study.claim("1", "Table 1")
def falls():
    """Rates fall."""
    yield falling({b: of(b, SIZE["20 kB"]) for b in BLER})


@study.claim("2", "Table 1", cause="The table falls.")
def rises():
    """Rates rise."""
    yield falling({b: of(b, SIZE["20 kB"]) for b in reversed(list(BLER))})
