"""Parts of explanations for tests."""

from dataclasses import replace


def advice(found):
    """Returns what the answer says about a transfer that cannot be repeated with changes."""
    return replace(found, what="the transfer").answer.headline


def change(scenario, name, user=0):
    """Returns the change of that name, or `None` if the scenario has none."""
    remedies = scenario.compiled().remedies(user)
    return next((one for one in remedies if one.name == name), None)
