"""Radio link of the study, simulated chip by chip, and Markov chains fitted to its errors.

Writes the files of `nodeb link run` and `nodeb fit` to the folders `link` and `fit`. The results
are cached in `link.json`: the next run of the study only reads the fitted models.
"""

import hashlib
import json
from dataclasses import astuple
from pathlib import Path

from nodeb.replication.pool import threads
from nodeb.results.provenance import core_hash
from nodeb.stats import Estimate, calculated
from nodeb.storage.cells import name_of
from nodeb.storage.files import NAMED_BYTES, read_text, write

EB_N0_DB = 3
BITS, QUICK_BITS = 20_000_000, 5_000_000
KEPT = "link.json"
FILES = KEPT, "link", "fit"
MODELS = "pdu_hmm2", "pdu_bsc", "recorded"
"""Error models that TCP runs over: two fitted ones, and the recorded errors."""


def prepare(at):
    """Simulates the link and fits Markov chains to its errors.

    Stores the error rates in `facts` and the models in `given`.
    """
    from nodeb import fit  # The package is slow to import, so it is not imported at the top.
    from nodeb.fit import folder

    links = experiments(at)
    of = identity(links)
    facts = kept(at.out, of)
    if facts is None:
        found = {
            name: link.run(jobs=threads(at.jobs), progress=shown(at, " ".join(["link", name])))
            for name, link in links.items()
        }
        found[""].save(at.out / "link", force=True)
        point = found[""][0]
        errors = fit.ErrorSequence(point.pdu_errors, point.pdus_per_block, links[""].name)
        comparison = fit.compare(
            errors, seed=at.seed, jobs=threads(at.jobs), progress=shown(at, "fit")
        )
        folder.save(comparison, at.out / "fit", at.seed, force=True)
        facts = {}
        for name, result in found.items():
            facts |= rates(result[0], name)
        facts |= states(comparison)
        keep(at.out, of, facts)
    at.facts |= facts
    at.given |= models(at.out / "fit")


def experiments(at):
    """Returns links by name: the assumed link under the name "", and variants of the link.

    Only the error rates of the variants are used.
    """
    from nodeb.link import Experiment

    assumed = Experiment(
        eb_n0_db=[EB_N0_DB],
        service="costamagna_64",
        stop={"bits": QUICK_BITS if at.quick else BITS},
        seed=at.seed,
        air={"profile": "case3"},
        receiver={"antennas": 2, "fingers": 3, "estimation": {"pilot": {"slots": 3}}},
    )
    return {
        "": assumed,
        "one_slot": assumed.with_(**{"receiver.estimation": {"pilot": {"slots": 1}}}),
        "log_map": assumed.with_(**{"receiver.turbo.algorithm": "log_map"}),
        "known_channel": assumed.with_(**{"receiver.estimation": "perfect"}),
    }


def shown(at, what):
    """Returns a progress callback that shows the name of the current activity."""
    return lambda _, text: at.show(f"{what}: {text}")


def models(folder):
    """Returns the fitted models by name, as the `errors` of a scenario.

    Each has its file name relative to the results folder, so that the scenario does not depend on
    the location of the results.
    """
    from nodeb.inputs.named_files import error_model

    return {
        name: error_model(folder / f"{name}.json") | {"file": f"{folder.name}/{name}.json"}
        for name in MODELS
    }


def rates(point, name=""):
    """Returns the error rates of a link with 95 % intervals, as facts."""
    suffix = f"_{name}" if name else ""
    found = {"ber": point.ber, "per": point.per, "bler": point.bler}
    return {
        f"{rate}{suffix}": Estimate(of.rate, of.ci95_low, of.ci95_high, of.trials)
        for rate, of in found.items()
    }


def states(comparison):
    """Returns facts on how many states the fitted Markov chains need.

    For each unit of errors, these are the number of states of the chain with the smallest BIC, how
    far the BIC of the two-state chain lies above it, and the p-values of the tests that compare the
    two-state chain with the errors.
    """
    facts = {}
    for unit in comparison.units:
        best = comparison.best_of(unit)
        facts[f"{unit}_states"] = best.model.chain.states
        for two in (one for one in comparison.candidates if one.label == f"{unit} hmm2"):
            facts[f"{unit}_hmm2_bic_over_best"] = two.bic - best.bic
            for statistic, match in two.matches.items():
                facts[f"{unit}_hmm2_{statistic}_p"] = match.p_value
    return {name: calculated(value) for name, value in facts.items()}


def identity(links):
    """Returns a cache key of the links and their fit: a hash of core, fitting code and links."""
    from nodeb import fit

    files = [Path(__file__), *sorted(Path(fit.__file__).parent.glob("*.py"))]
    code = [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]
    of = [link.to_dict() for link in links.values()]
    return name_of({"core": core_hash(), "code": code, "links": of})


def kept(out, of):
    """Returns the facts in the cache if they have the cache key `of` (`identity`).

    Returns `None` if they have another key, or if the facts or the fitted models are missing.
    """
    try:
        found = json.loads(read_text(out / KEPT, NAMED_BYTES))
    except (OSError, ValueError):
        return None
    if found.get("of") != of or not (out / "fit" / "comparison.parquet").is_file():
        return None
    return {name: Estimate(*values) for name, values in found["facts"].items()}


def keep(out, of, facts):
    """Writes the facts and their cache key to `link.json`, from which `kept` reads them."""
    rows = {name: astuple(one) for name, one in facts.items()}
    write(out / KEPT, f"{json.dumps({'of': of, 'facts': rows}, indent=2)}\n")
