"""What every part of a scenario is: frozen, and without fields that nobody knows."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """A part of a scenario file."""

    model_config = ConfigDict(extra="forbid", frozen=True)
