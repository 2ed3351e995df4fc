"""What a pull has done so far: in, finished items; out, notes that a repeated pull goes on from.

A pull that was interrupted or killed leaves a folder ``_staging-<request>`` in the lake, where the same request finds it, also from
another machine: a note of JSON per finished item, the item's series as Arrow, and the sizes that the plan was cut by.
Nothing in it is visible to readers of the lake. A pull that succeeds removes it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import tempfile
import time
import uuid
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from throttlescope.ingest.core.errors import ThrottlescopeError
from throttlescope.ingest.lake import DataFile, NewFile
from throttlescope.ingest.lake.open_storage import storage_of
from throttlescope.ingest.lake.storage import Storage
from throttlescope.ingest.pull.pull_lock import lock_folder

#: Notes older than this are not believed: the source may have got late samples since.
_BELIEVED_MS = 24 * 3600 * 1000
_FORMAT = 1
#: Notes that are fetched from an object store at once.
_AT_ONCE = 16


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
    """The folder of one request. Picklable; nothing is made before something is written.

    Attributes
    ----------
    root : str
        The lake's folder or URI.
    name : str
        The folder's name in it.
    beside : str or None
        The run that has locked the request's own folder, in words; None unless this is a second folder.
    """

    root: str
    name: str
    beside: str | None = None

    @classmethod
    def of(cls, root: str | Path, request: list) -> Staging:
        """The folder of a request, which is anything that JSON can hold."""
        key = hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()[:24]
        return cls(str(root), f"_staging-{key}")

    @contextlib.contextmanager
    def owned(self) -> Iterator[Staging]:
        """This folder for the length of the context, or a second one while another run has the same request.

        At the end a folder without notes is removed: there is nothing to go on from.
        """
        with lock_folder(self._storage, self.name) as hold:
            own = self if hold else Staging(self.root, f"{self.name}-{uuid.uuid4().hex[:8]}", hold.by_other)
            try:
                yield own
            except BaseException:
                # The original error is reported, also where the storage is unreachable.
                with contextlib.suppress(ThrottlescopeError):
                    own._clear_if_empty()
                raise
            own._clear_if_empty()

    @property
    def _storage(self) -> Storage:
        return storage_of(self.root)

    def _clear_if_empty(self) -> None:
        if not self.notes_written():
            self.clear()

    # -- the plan --------------------------------------------------------------------------

    def load_plan(self) -> dict | None:
        """What :meth:`save_plan` wrote not too long ago."""
        text = self._believed(f"{self.name}/plan.json")
        with contextlib.suppress(ValueError):
            return json.loads(text) if text else None
        return None

    def save_plan(self, plan: dict) -> None:
        self._write(f"{self.name}/plan.json", json.dumps(plan))

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
        # In a store series go after the notes; on disk both go in any order.
        if (
            note.series_file
            and not self._storage.is_remote
            and not self._storage.exists(self._path(note.series_file))
        ):
            return None
        return note

    def notes(self, item_keys: Iterable[str]) -> dict[str, ItemNote]:
        """Notes of those items that have one."""
        if not self._storage.is_remote:
            return {key: note for key in item_keys if (note := self.note(key))}
        written = self.notes_written()
        keys = [key for key in item_keys if key in written]
        with ThreadPoolExecutor(_AT_ONCE) as fetching:
            found = zip(keys, fetching.map(self.note, keys), strict=True)
            return {key: note for key, note in found if note}

    def save_note(self, item_key: str, note: ItemNote) -> None:
        self._write(self._note_path(item_key), note.to_json())

    def forget(self, item_key: str) -> None:
        self._storage.delete([self._note_path(item_key)])

    def forget_all(self) -> None:
        """Forget the plan and all notes."""
        self._storage.delete([f"{self.name}/plan.json"])
        self._storage.delete_below(f"{self.name}/notes")

    def notes_written(self) -> set[str]:
        """Keys of the items that have a note; cheap, for watching progress."""
        names = (path.rsplit("/", 1)[-1] for path in self._storage.names(f"{self.name}/notes"))
        return {name[:-5] for name in names if name.endswith(".json") and not name.startswith(".")}

    @property
    def watched_every_s(self) -> float:
        """How often it is worth while to look for new notes."""
        return 3.0 if self._storage.is_remote else 0.3

    def save_series(self, item_key: str, rows: pa.Table) -> str:
        """Leave an item's series; what to call them in its note."""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, rows.schema) as writer:
            writer.write_table(rows)
        path = f"series/{item_key}.arrow"
        self._storage.write(self._path(path), sink.getvalue())
        return path

    def series_address(self, note: ItemNote) -> str:
        """Where an item's series are, for readers of Arrow files."""
        return self._storage.address(self._path(note.series_file))

    def scratch(self, item_key: str) -> Path:
        """A folder of this machine for one attempt at one item."""
        attempt = f"{item_key}-{uuid.uuid4().hex}"
        if self._storage.is_remote:
            return Path(tempfile.gettempdir()) / f"throttlescope-{self.name}" / attempt
        return Path(self._storage.address(f"{self.name}/scratch")) / attempt

    # -- who does what, and when to stop ---------------------------------------------------

    def claim(self, attempt: str, item_key: str) -> bool:
        """Take an item for this task; False where another task of the attempt has it."""
        return self._storage.write(f"{self.name}/claims/{attempt}/{item_key}", b"", if_absent=True)

    def stop(self, attempt: str) -> None:
        """Ask the tasks of an attempt to take no further item."""
        with contextlib.suppress(OSError, ThrottlescopeError):
            self._storage.write(f"{self.name}/claims/{attempt}/stop", b"")

    def stopped(self, attempt: str) -> bool:
        return self._storage.exists(f"{self.name}/claims/{attempt}/stop")

    # -- what the lake holds ---------------------------------------------------------------

    def save_existing(self, attempt: str, files: Iterable[DataFile]) -> bool:
        """Leave the committed files that items may have to be merged with, by date; False where there are none.

        Tasks read them from here: asking the lake once per item would read its log once per item.
        """
        by_date: dict[str, list[DataFile]] = {}
        for file in files:
            by_date.setdefault(file.partition["date"], []).append(file)
        for date, some in by_date.items():
            path = f"{self.name}/claims/{attempt}/existing-{date}.json"
            self._write(path, json.dumps([vars(file) for file in some]))
        return bool(by_date)

    def existing(self, attempt: str, date: str) -> list[DataFile]:
        """The committed files of a date, as :meth:`save_existing` left them."""
        text = self._storage.read(f"{self.name}/claims/{attempt}/existing-{date}.json")
        return [] if text is None else [DataFile(**entry) for entry in json.loads(text)]

    def end_attempt(self, attempt: str) -> None:
        """Remove what one attempt leaves, except notes."""
        with contextlib.suppress(ThrottlescopeError):
            self._storage.delete_below(f"{self.name}/claims/{attempt}")
            if not self._storage.is_remote:
                self._storage.delete_below(f"{self.name}/scratch")

    def clear(self) -> None:
        """Remove the folder; notes first, so that none is left without its series."""
        self._storage.delete_below(f"{self.name}/notes")
        self._storage.delete_below(self.name)

    # -- files -----------------------------------------------------------------------------

    def _path(self, name: str) -> str:
        return f"{self.name}/{name}"

    def _note_path(self, item_key: str) -> str:
        return f"{self.name}/notes/{item_key}.json"

    def _believed(self, path: str) -> str | None:
        found = self._storage.read_dated(path)
        if found is None or time.time() * 1000 - found[1] > _BELIEVED_MS:
            return None
        return found[0].decode()

    def _write(self, path: str, text: str) -> None:
        self._storage.write(path, text.encode())
