"""Searches that outlive a request. In: a :class:`Search`. Out: its name, how far it is, its document; all in files.

Every search runs in a process of its own, which locks a file while it is alive, so that any process can see whether it still runs, also
after a restart. Two searches run at once, a few wait; each ends after ten minutes at the latest. A file marks a search as cancelled.

``python -m throttlescope.app.services.whatif.background FOLDER`` is such a process.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import logging
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

from throttlescope.app.services.whatif.search import Search, run_search
from throttlescope.ingest.core.errors import InputError, ThrottlescopeError

_LOG = logging.getLogger(__name__)

#: Searches that run at once, and that may wait.
RUNNING, WAITING = 2, 6
LONGEST_S = 600
#: What is over is kept for so long, and no more than so many.
KEPT_S, KEPT = 86_400, 60
_POLL_S = 0.3

State = Literal["waiting", "running", "done", "failed", "cancelled", "timed out", "lost"]


@dataclass(frozen=True)
class SearchProgress:
    """How far a search is.

    Attributes
    ----------
    search : Search
    state : str
        ``lost`` is what ended without a word, as by a restart of the machine.
    done, total : int
        Steps.
    words : str
        What it does, or why it failed.
    seconds : float
        Time since the request, or from the request to the end.
    document : dict or None
        What it found.
    """

    search: Search
    state: State
    done: int
    total: int
    words: str
    seconds: float
    document: dict[str, Any] | None = None

    @property
    def is_over(self) -> bool:
        return self.state not in ("waiting", "running")


class Searches:
    """The searches of one user of this machine.

    Parameters
    ----------
    folder : Path, optional
        Where their files are; by default in the temporary folder, where only this user can read them.
    """

    def __init__(self, folder: Path | None = None, *, longest_s: int = LONGEST_S) -> None:
        self._folder = folder or Path(tempfile.gettempdir()) / f"throttlescope-searches-{os.getuid()}"
        self._longest_s = longest_s

    def start(self, search: Search) -> str:
        """Begin a search, unless it runs or is done; its name either way.

        Raises
        ------
        InputError
            Too many wait already, or the folder belongs to another user.
        """
        self._own_folder()
        with _locked(self._folder / "start.lock"):
            self._clean()
            place = self._folder / search.name
            known = self.progress(search.name)
            if known is not None and known.state in ("waiting", "running", "done"):
                return search.name
            alive = [one for one in self._places() if _is_alive(one)]
            if len(alive) >= RUNNING + WAITING:
                raise InputError(
                    "Too many searches are at work", got=f"{len(alive)}", expected=f"at most {RUNNING + WAITING}",
                    fix="wait for one, or cancel it",
                )  # fmt: skip
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir(mode=0o700)
            _write(place / "search.json", search.text)
            _write(place / "state.json", json.dumps({"state": "waiting", "started_s": time.time()}))
            self._spawn(place)
        return search.name

    def progress(self, name: str) -> SearchProgress | None:
        """How far a search is; None: there is none of this name, or not any more."""
        place = self._folder / name
        try:
            search = Search.of((place / "search.json").read_text())
            said = json.loads((place / "state.json").read_text())
        except (OSError, ValueError, KeyError, TypeError):
            return None
        state, ended_s = said["state"], said.get("ended_s", time.time())
        if state in ("waiting", "running") and not _is_alive(place):
            state = self._why_over(place, said)
        document = None
        if state == "done":
            try:
                document = json.loads((place / "document.json").read_text())
            except (OSError, ValueError):
                state = "lost"
        return SearchProgress(
            search, state, said.get("done", 0), said.get("total", 1), said.get("words", ""),
            max(0.0, ended_s - said["started_s"]), document,
        )  # fmt: skip

    def cancel(self, name: str) -> None:
        """End a search; one that is over stays as it is."""
        place = self._folder / name
        if not _is_alive(place):
            return
        (place / "cancelled").touch()
        # It lives, so the number is its own.
        with contextlib.suppress(OSError, ValueError):
            os.kill(int((place / "pid").read_text()), signal.SIGTERM)

    def _why_over(self, place: Path, said: dict[str, Any]) -> State:
        if (place / "cancelled").exists():
            return "cancelled"
        # It may have ended between the two looks.
        with contextlib.suppress(OSError, ValueError):
            now = json.loads((place / "state.json").read_text())["state"]
            if now not in ("waiting", "running"):
                return now
        begun_s = said.get("running_s")
        return "timed out" if begun_s and time.time() - begun_s >= self._longest_s else "lost"

    def _spawn(self, place: Path) -> None:
        with (place / "alive.lock").open("a") as lock:
            # The lock belongs to the open file: the child inherits it, this process releases it.
            fcntl.flock(lock, fcntl.LOCK_EX)
            os.set_inheritable(lock.fileno(), True)
            with (place / "log").open("w") as log:
                process = subprocess.Popen(
                    [sys.executable, "-m", "throttlescope.app.services.whatif.background", str(place), str(self._longest_s)],
                    pass_fds=(lock.fileno(),), stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                )  # fmt: skip
            _write(place / "pid", str(process.pid))
        # Without this wait the ended process would stay in the table of processes.
        threading.Thread(target=process.wait, daemon=True).start()

    def _own_folder(self) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = self._folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
            raise InputError(
                "The folder of searches is open to others", got=str(self._folder), expected="a folder of this user alone",
                fix="remove it, or set TMPDIR",
            )  # fmt: skip

    def _places(self) -> list[Path]:
        return [one for one in self._folder.iterdir() if one.is_dir()]

    def _clean(self) -> None:
        over = sorted(
            (one for one in self._places() if not _is_alive(one)), key=lambda one: -one.stat().st_mtime
        )
        for number, place in enumerate(over):
            if number >= KEPT or time.time() - place.stat().st_mtime > KEPT_S:
                shutil.rmtree(place, ignore_errors=True)


def work(place: Path, longest_s: int = LONGEST_S) -> None:
    """Run the search of a folder: wait for a turn, then search and write down how far it is."""
    os.nice(10)
    said = json.loads((place / "state.json").read_text())

    def say(**more: Any) -> None:
        said.update(more)
        _write(place / "state.json", json.dumps(said))

    with _turn(place.parent):
        # Its own end, whatever it hangs in.
        signal.alarm(longest_s)
        say(state="running", running_s=time.time())
        try:
            search = Search.of((place / "search.json").read_text())
            document = run_search(search, lambda done, total, words: say(done=done, total=total, words=words))
            _write(place / "document.json", json.dumps(document))
            say(state="done", ended_s=time.time())
        except ThrottlescopeError as error:
            say(state="failed", ended_s=time.time(), words=str(error))
        except Exception as error:
            _LOG.exception("a search failed")
            say(state="failed", ended_s=time.time(), words=f"a fault: {type(error).__name__}")


@contextlib.contextmanager
def _turn(folder: Path) -> Iterator[None]:
    """Hold one of the places of those at work."""
    while True:
        for number in range(RUNNING):
            with contextlib.suppress(BlockingIOError), (folder / f"turn-{number}.lock").open("a") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                yield
                return
        time.sleep(_POLL_S)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[IO]:
    with path.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock


def _is_alive(place: Path) -> bool:
    try:
        with (place / "alive.lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _write(path: Path, text: str) -> None:
    """Whole or not at all: others read it meanwhile."""
    new = path.with_suffix(f"{path.suffix}.new")
    new.write_text(text)
    new.replace(path)


if __name__ == "__main__":
    work(Path(sys.argv[1]), int(sys.argv[2]))
