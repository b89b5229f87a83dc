"""The radio link of a study: simulated chip by chip, fitted, and put into the study's scenarios.

A study with a table `link` (a link configuration) has its errors from there. Wherever one of its
choices sets an error model to `fitted:NAME`, the model file `NAME.json` of the fit takes its place:
`fitted:pdu_hmm2`, `fitted:best`, `fitted:recorded`. A table `bounds` names changes of that link;
of each the error rates are found beside, over the same fades. What was found is kept in `link.json`
for the next run, which then has the fit's folder only to read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nodeb.errors import InputError
from nodeb.reproduce.output import write
from nodeb.reproduce.specs import Axis, nearest
from nodeb.reproduce.study import Study
from nodeb.results.provenance import core_hash
from nodeb.stats import Estimate
from nodeb.storage.files import csv_text
from nodeb.storage.folders import MARK
from nodeb.storage.store import name_of

if TYPE_CHECKING:
    from nodeb.fit import Comparison
    from nodeb.link import Experiment
    from nodeb.link.result import LinkResult, Point

FITTED = "fitted:"
KEPT = "link.json"
FACT_COLUMNS = ("fact", "value", "low", "high")

Facts = dict[str, Estimate]
Progress = Callable[[float, str], None]


def prepare(
    study: Study, out: Path, *, quick: bool, jobs: int, seed: int, progress: Progress
) -> tuple[Study, Facts]:
    """Simulate and fit the link of a study; one without `link` comes back as it was.

    Writes what `nodeb link run` and `nodeb fit` write to the folders `link` and `fit` of `out`.

    Returns:
        The study with the fitted models in the place of their names, and what was found, by name.
    """
    if not study.link:
        return study, {}
    from nodeb import fit, link  # slow imports, and they need the extension
    from nodeb.fit import folder

    keys = {**study.link, "seed": seed, "stop": dict(study.link["stop"])}
    if quick:
        keys["stop"]["bits"] = study.quick["link_bits"]
    experiment = link.Experiment(**keys)
    beside = {name: experiment.with_(**changes) for name, changes in study.bounds.items()}
    of = _identity([experiment, *beside.values()])
    kept = _kept(out, of)
    if kept is not None:
        return with_models(study, out / "fit"), kept

    def simulated(one: link.Experiment, what: str) -> LinkResult:
        return one.run(jobs=jobs, progress=lambda _, text: progress(0.0, f"{what}: {text}"))

    found = simulated(experiment, "link")
    found.save(out / "link", force=True)
    point, facts = found[0], _rates(found[0])
    for name, one in beside.items():
        facts |= _rates(simulated(one, f"link, {name}")[0], f"_{name}")
    errors = fit.ErrorSequence(point.pdu_errors, point.pdus_per_block, experiment.name)
    comparison = fit.compare(
        errors, seed=seed, jobs=jobs, progress=lambda _, text: progress(0.0, f"fit: {text}")
    )
    models = folder.save(comparison, out / "fit", seed, force=True)
    facts |= _states(comparison)
    _keep(out, of, facts)
    return with_models(study, models), facts


def _identity(experiments: Sequence[Experiment]) -> str:
    """What tells the links and their fit from all others: the core, the fit's code, the links."""
    from nodeb import fit

    files = [Path(__file__), *sorted(Path(fit.__file__).parent.glob("*.py"))]
    code = [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]
    return name_of({"core": core_hash(), "code": code, "links": [e.to_dict() for e in experiments]})


def _kept(out: Path, of: str) -> Facts | None:
    """What was found of the same links, if it is still there with its models."""
    try:
        kept = json.loads((out / KEPT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if kept.get("of") != of or not (out / "fit" / "comparison.parquet").is_file():
        return None
    return {
        name: Estimate(*found) if found[-1] else calculated(found[0])
        for name, found in kept["facts"].items()
    }


def _keep(out: Path, of: str, facts: Facts) -> None:
    rows = {
        name: [found.value, found.low, found.high, found.runs]
        if found.runs
        else [found.value, None, None, 0]
        for name, found in facts.items()
    }
    write(out / KEPT, f"{json.dumps({'of': of, 'facts': rows}, indent=2)}\n")


def with_models(study: Study, models: Path) -> Study:
    """The study with the model files of a folder in the place of `fitted:NAME`."""
    axes = {name: _filled(axis, models) for name, axis in study.axes.items()}
    return replace(study, axes=axes)


def _filled(axis: Axis, models: Path) -> Axis:
    choices = {
        key: replace(
            choice, set={path: _model(value, models) for path, value in choice.set.items()}
        )
        for key, choice in axis.choices.items()
    }
    return replace(axis, choices=choices)


def _model(value: Any, models: Path) -> Any:
    if not (isinstance(value, str) and value.startswith(FITTED)):
        return value
    name = value.removeprefix(FITTED)
    file = models / f"{name}.json"
    if not file.is_file():
        known = (path.stem for path in models.glob("*.json") if path.name != MARK)
        raise InputError(f"no model `{name}` was fitted; {nearest(name, sorted(known))}")
    from nodeb.inputs import error_model  # needs the extension

    # By its name inside the results: where they lie makes no other scenario.
    return error_model.read(file) | {"file": f"{models.name}/{file.name}"}


def _rates(point: Point, suffix: str = "") -> Facts:
    """Error rates with 95 % intervals."""
    rates = {"ber": point.ber, "per": point.per, "bler": point.bler}
    return {
        f"{name}{suffix}": Estimate(rate.rate, rate.ci95_low, rate.ci95_high, rate.trials)
        for name, rate in rates.items()
    }


def _states(comparison: Comparison) -> Facts:
    """What the fit says of the number of states."""
    facts: Facts = {}
    for unit in comparison.units:
        best = comparison.best_of(unit)
        facts[f"{unit}_states"] = calculated(best.model.chain.states)
        two = [c for c in comparison.candidates if c.label == f"{unit} hmm2"]
        for candidate in two:
            facts[f"{unit}_hmm2_bic_over_best"] = calculated(candidate.bic - best.bic)
            for law, match in candidate.matches.items():
                facts[f"{unit}_hmm2_{law}_p"] = calculated(match.p_value)
    return facts


def calculated(value: float) -> Estimate:
    """A number without an interval."""
    return Estimate(float(value), float("nan"), float("nan"), 0)


def to_csv(facts: Mapping[str, Estimate]) -> str:
    """The text of `facts.csv`: name, value and 95 % interval, empty where there is none."""
    rows = (
        (name, found.value, *((found.low, found.high) if found.runs > 1 else ("", "")))
        for name, found in facts.items()
    )
    return csv_text(FACT_COLUMNS, rows)
