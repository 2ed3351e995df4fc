"""Base class of the parts of a scenario: frozen, and unknown fields are errors."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """A part of a scenario file."""

    model_config = ConfigDict(extra="forbid", frozen=True)
