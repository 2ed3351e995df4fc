"""Paths of the machine that a recording was made on: in, text that goes into a recording; out, the text without them."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

MASK = "/masked"
#: Where people and programs keep files, on any machine: what no recording may name.
MACHINE_PATH = re.compile(
    r"(?<![\w.\-/])/(?:home|root|tmp|work|private|Users|var/folders)(?![\w.\-])(?:/[\w.+\-]+)*"
)
_REPOSITORY = Path(__file__).resolve().parents[2]
#: A store in a folder, wherever that is: ``rocksdb:///folder``.
_FILE_URL = re.compile(r"\b(rocksdb|file):(//)?/[\w.+\-]+(?:/[\w.+\-]+)*")


def masked(text: str) -> str:
    """Replace paths of this machine in text or JSON by ``/masked``; ``rocksdb:///folder`` becomes ``rocksdb:///masked``."""
    text = _FILE_URL.sub(rf"\1:\2{MASK}", text)
    text = _own_folders().sub(MASK, text)
    return MACHINE_PATH.sub(MASK, text)


def _own_folders() -> re.Pattern[str]:
    """Match what lies in this machine's home, temporary folder or checkout, whatever they are called."""
    own = {str(path) for path in (Path.home(), Path(tempfile.gettempdir()), _REPOSITORY) if path != Path("/")}
    either = "|".join(re.escape(path) for path in sorted(own, key=len, reverse=True))
    return re.compile(rf"(?<![\w.\-/])(?:{either})(?![\w.\-])(?:/[\w.+\-]+)*")
