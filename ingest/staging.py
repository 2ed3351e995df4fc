"""What a pull has done so far: in, finished items; out, notes on disk that a repeated pull goes on from.

A pull that was interrupted or killed leaves a folder ``_staging-<request>`` in the lake's folder, where the same request
finds it: a note of JSON per finished item, the item's series as Arrow, and the sizes that the plan was cut by.
Nothing in it is visible to readers of the lake. A pull that succeeds removes it.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import time
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from throttlescope.ingest.lake import DataFile, NewFile

#: Notes older than this are not believed: the source may have got late samples since.
_BELIEVED_S = 24 * 3600
_FORMAT = 1


@dataclass
class BlockNote:
    """One block of an item: the file that holds it, and the committed files that it takes the place of."""

    cluster: str
    block_start_ms: int
    shard: int
    file: NewFile
    replaces: list[str]
    samples: int


@dataclass
class ItemNote:
    """A finished item."""

    metric_name: str
    start_ms: int
    end_ms: int
    blocks: list[BlockNote] = field(default_factory=list)
    series_file: str | None = None
    series: int = 0
    samples: int = 0
    requests: int = 0
    bytes: int = 0
    repairs: dict[str, int] = field(default_factory=dict)
    refused: list[dict] = field(default_factory=list)
    #: Blocks, or series of blocks, of which the source now has less than the lake: (cluster, rows, example).
    kept: list[tuple[str, int, str]] = field(default_factory=list)

    def to_json(self) -> str:
        # vars() and not asdict(): that copies deeply, and a long pull has many blocks.
        blocks = [{**vars(block), "file": vars(block.file)} for block in self.blocks]
        return json.dumps({"format": _FORMAT, **vars(self), "blocks": blocks})

    @classmethod
    def from_json(cls, text: str) -> ItemNote:
        found = json.loads(text)
        if found.pop("format") != _FORMAT:
            raise ValueError("a note of another format")
        found["kept"] = [tuple(entry) for entry in found["kept"]]
        found["blocks"] = [
            BlockNote(**{**block, "file": NewFile(**block["file"])}) for block in found["blocks"]
        ]
        return cls(**found)


@dataclass(frozen=True)
class Staging:
    """The folder of one request. Picklable; nothing is made before something is written."""

    folder: Path

    @classmethod
    def of(cls, root: str | Path, request: list) -> Staging:
        """The folder of a request, which is anything that JSON can hold."""
        key = hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()[:24]
        return cls(Path(root) / f"_staging-{key}")

    @contextlib.contextmanager
    def owned(self) -> Iterator[Staging]:
        """This folder for the length of the context, or one beside it while another run has the same request.

        At the end a folder without notes is removed: there is nothing to go on from.
        """
        own = self
        self.folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(self.folder / "lock", os.O_CREAT | os.O_RDWR)
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                own = Staging(self.folder.with_name(f"{self.folder.name}-{uuid.uuid4().hex[:8]}"))
            yield own
        finally:
            if not own.notes_written():
                own.clear()
            os.close(lock)

    # -- the plan --------------------------------------------------------------------------

    def load_plan(self) -> dict | None:
        """What :meth:`save_plan` wrote not too long ago."""
        text = self._believed(self.folder / "plan.json")
        with contextlib.suppress(ValueError):
            return json.loads(text) if text else None
        return None

    def save_plan(self, plan: dict) -> None:
        self._write(self.folder / "plan.json", json.dumps(plan))

    # -- notes -----------------------------------------------------------------------------

    def note(self, item_key: str) -> ItemNote | None:
        """The note of an item, if there is one that can be believed."""
        text = self._believed(self._note_path(item_key))
        if text is None:
            return None
        try:
            note = ItemNote.from_json(text)
        except (ValueError, KeyError, TypeError):
            return None
        if note.series_file and not (self.folder / note.series_file).exists():
            return None
        return note

    def save_note(self, item_key: str, note: ItemNote) -> None:
        self._write(self._note_path(item_key), note.to_json())

    def forget(self, item_key: str) -> None:
        self._note_path(item_key).unlink(missing_ok=True)

    def forget_all(self) -> None:
        """Forget the plan and all notes."""
        (self.folder / "plan.json").unlink(missing_ok=True)
        shutil.rmtree(self.folder / "notes", ignore_errors=True)

    def notes_written(self) -> set[str]:
        """Keys of the items that have a note; cheap, for watching progress."""
        with contextlib.suppress(FileNotFoundError):
            return {name[:-5] for name in os.listdir(self.folder / "notes") if name.endswith(".json")}
        return set()

    def series_path(self, item_key: str) -> Path:
        """Where the item's series go."""
        folder = self.folder / "series"
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{item_key}.arrow"

    def scratch(self, item_key: str) -> Path:
        """A folder for one attempt at one item."""
        return self.folder / "scratch" / f"{item_key}-{uuid.uuid4().hex}"

    # -- who does what, and when to stop ---------------------------------------------------

    def claim(self, attempt: str, item_key: str) -> bool:
        """Take an item for this task; False where another task of the attempt has it."""
        folder = self.folder / "claims" / attempt
        folder.mkdir(parents=True, exist_ok=True)
        try:
            os.close(os.open(folder / item_key, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True

    def stop(self, attempt: str) -> None:
        """Ask the tasks of an attempt to take no further item."""
        with contextlib.suppress(OSError):
            (self.folder / "claims" / attempt).mkdir(parents=True, exist_ok=True)
            (self.folder / "claims" / attempt / "stop").touch()

    def stopped(self, attempt: str) -> bool:
        return (self.folder / "claims" / attempt / "stop").exists()

    # -- what the lake holds ---------------------------------------------------------------

    def save_existing(self, attempt: str, files: Iterable[DataFile]) -> bool:
        """Leave the committed files that items may have to be merged with, by date; False where there are none.

        Tasks read them from here: asking the lake once per item would read its log once per item.
        """
        by_date: dict[str, list[DataFile]] = {}
        for file in files:
            by_date.setdefault(file.partition["date"], []).append(file)
        for date, some in by_date.items():
            path = self.folder / "claims" / attempt / f"existing-{date}.json"
            self._write(path, json.dumps([vars(file) for file in some]))
        return bool(by_date)

    def existing(self, attempt: str, date: str) -> list[DataFile]:
        """The committed files of a date, as :meth:`save_existing` left them."""
        try:
            text = (self.folder / "claims" / attempt / f"existing-{date}.json").read_text()
        except FileNotFoundError:
            return []
        return [DataFile(**entry) for entry in json.loads(text)]

    def end_attempt(self, attempt: str) -> None:
        """Remove what one attempt leaves beside notes."""
        shutil.rmtree(self.folder / "claims" / attempt, ignore_errors=True)
        shutil.rmtree(self.folder / "scratch", ignore_errors=True)

    def clear(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)

    # -- files -----------------------------------------------------------------------------

    def _note_path(self, item_key: str) -> Path:
        return self.folder / "notes" / f"{item_key}.json"

    @staticmethod
    def _believed(path: Path) -> str | None:
        try:
            if time.time() - path.stat().st_mtime > _BELIEVED_S:
                return None
            return path.read_text()
        except OSError:
            return None

    @staticmethod
    def _write(path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
        scratch.write_text(text)
        os.replace(scratch, path)
