"""Scenarios drawn by chance: in, a family's name, a seed and a number; out, a scenario file's fields, always the same ones.

Each family states the ranges that its parameters come from and works out, from rates and times alone, how long its states last and
what its checks ask for. ``tests/naive/lab_fluid.py`` says independently whether they can be seen.
"""

from __future__ import annotations

from tests.lab.drawn import capacity, flow, limits, loss, partly, publishing, unseen
from tests.lab.drawn.numbers import Draw
from tests.lab.drawn.parts import Fields
from throttlescope.models.throttling.scenario import Scenario

#: What each family draws, by its name in the scenario files.
FAMILIES = {
    **limits.FAMILIES,
    **partly.FAMILIES,
    **capacity.FAMILIES,
    **flow.FAMILIES,
    **loss.FAMILIES,
    **unseen.FAMILIES,
}
#: Families about publish limits, whose scenarios are sets of their own: the fluid model knows no connections.
PUBLISHING = publishing.FAMILIES
#: Families whose recordings are all held-out.
UNSEEN = frozenset(unseen.FAMILIES)


def drawn(family: str, seed: int, number: int, *, kept_aside: bool = False) -> Fields:
    """Draw one scenario.

    Parameters
    ----------
    family
        A name of :data:`FAMILIES` or :data:`PUBLISHING`.
    seed, number
        The same ones give the same scenario; further numbers of a seed are independent of each other.
    kept_aside
        Written into the scenario; nothing else depends on it.

    Returns
    -------
    dict
        The fields of a scenario file, checked.

    Raises
    ------
    KeyError
        No such family.
    """
    fields = {**FAMILIES, **PUBLISHING}[family](Draw(family, seed, number))
    body = {
        "format": 1,
        "name": f"{family.replace('_', '-')}-{seed}-{number}",
        "about": fields.pop("about"),
        "family": family,
        "size": f"drawn_{seed}_{number}",
        "kept_aside": kept_aside,
        "profile": "helm",
        "scrape_interval_s": 15,
        # What expires is looked for every minute; without a TTL this changes nothing, and all can share a broker.
        "broker": {"settings": {"messageExpiryCheckIntervalInMinutes": 1}},
        **fields,
    }
    Scenario.model_validate(body)
    return body
