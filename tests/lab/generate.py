"""Writes drawn scenario files: in, a seed, families and how many of each; out, one YAML file per scenario, the same every time.

``python -m tests.lab.generate --seed 7 --count 2 --out DIR`` draws all families, ``--family`` some of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
import yaml

from tests.lab.capable import lab_refuses
from tests.lab.drawn import FAMILIES, PUBLISHING, drawn
from throttlescope.models.throttling.scenario import Scenario

app = typer.Typer(add_completion=False)


def scenario_yaml(family: str, seed: int, number: int, *, kept_aside: bool = False) -> str:
    """The text of a drawn scenario's file."""
    return yaml.safe_dump(
        drawn(family, seed, number, kept_aside=kept_aside),
        sort_keys=False,
        width=110,
        default_flow_style=None,
    )


@app.command()
def generate(
    seed: Annotated[int, typer.Option(help="Decides all parameters.")],
    out: Annotated[Path, typer.Option(help="Folder of the files.")],
    family: Annotated[list[str] | None, typer.Option(help="Family; all by default, may be repeated.")] = None,
    count: Annotated[int, typer.Option(min=1, help="Scenarios of each family.")] = 2,
    first: Annotated[int, typer.Option(min=1, help="Number of the first one.")] = 1,
    kept_aside: Annotated[bool, typer.Option("--kept-aside", help="Mark them as held-out.")] = False,
) -> None:
    """Write scenario files with drawn parameters."""
    unknown = [name for name in family or () if name not in {**FAMILIES, **PUBLISHING}]
    if unknown:
        raise typer.BadParameter(
            f"no family {', '.join(unknown)}; there are {', '.join((*FAMILIES, *PUBLISHING))}"
        )
    out.mkdir(parents=True, exist_ok=True)
    for name in family or FAMILIES:
        for number in range(first, first + count):
            text = scenario_yaml(name, seed, number, kept_aside=kept_aside)
            scenario = Scenario.model_validate(yaml.safe_load(text))
            reasons = lab_refuses(scenario)
            if reasons:
                raise RuntimeError(f"{scenario.name}: the lab cannot play it: {'; '.join(reasons)}")
            (out / f"{scenario.name}.yaml").write_text(text)
            typer.echo(f"{scenario.name}: {scenario.duration_s / 60:.1f} min, {scenario.rate_msg:g} msg/s")


if __name__ == "__main__":
    app()
