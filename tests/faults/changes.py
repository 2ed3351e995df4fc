"""A process that is killed between two changes of files. In: work, a folder, a number. Out: the changes that it made or was about to make.

The kernel reports each change before it is made (seccomp's user notification), from any library: Python, Delta's Rust, Arrow's C++. So
"before change k" is exact, and "after change k" is before the next one. Nothing of the work knows of it. Linux on x86-64 or ARM64.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import platform
import select
import signal
import socket
import struct
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field

#: Numbers of the calls that change what is in a folder, by name; the place of the path among the arguments, or of the open file.
_CALLS = {
    "x86_64": {
        "open": 2, "openat": 257, "openat2": 437, "creat": 85, "write": 1, "pwrite64": 18, "writev": 20, "pwritev": 296,
        "pwritev2": 328, "rename": 82, "renameat": 264, "renameat2": 316, "link": 86, "linkat": 265, "symlink": 88,
        "symlinkat": 266, "unlink": 87, "unlinkat": 263, "rmdir": 84, "mkdir": 83, "mkdirat": 258, "truncate": 76,
        "ftruncate": 77, "fsync": 74, "fdatasync": 75, "copy_file_range": 326, "sendfile": 40, "utimensat": 280,
        "fallocate": 285, "flock": 73,
    },
    "aarch64": {
        "openat": 56, "openat2": 437, "write": 64, "pwrite64": 68, "writev": 66, "pwritev": 70, "pwritev2": 287,
        "renameat": 38, "renameat2": 276, "linkat": 37, "symlinkat": 36, "unlinkat": 35, "mkdirat": 34, "truncate": 45,
        "ftruncate": 46, "fsync": 82, "fdatasync": 83, "copy_file_range": 285, "sendfile": 71, "utimensat": 88,
        "fallocate": 47, "flock": 32,
    },
}  # fmt: skip
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_BY_FILE = {
    "write",
    "pwrite64",
    "writev",
    "pwritev",
    "pwritev2",
    "ftruncate",
    "fsync",
    "fdatasync",
    "fallocate",
    "flock",
    "sendfile",
}
#: Calls whose new name is the last path: argument with the folder, argument with the name.
_PATHS = {
    "open": (None, 0), "openat": (0, 1), "openat2": (0, 1), "creat": (None, 0), "rename": (None, 1), "renameat": (2, 3),
    "renameat2": (2, 3), "link": (None, 1), "linkat": (2, 3), "symlink": (None, 1), "symlinkat": (1, 2), "unlink": (None, 0),
    "unlinkat": (0, 1), "rmdir": (None, 0), "mkdir": (None, 0), "mkdirat": (0, 1), "truncate": (None, 0), "utimensat": (0, 1),
}  # fmt: skip
_FLAGS_AT = {"open": 1, "openat": 2}

_NO_NEW_PRIVILEGES, _SET_FILTER, _NEW_LISTENER = 38, 1, 1 << 3
_RECEIVE, _ANSWER, _GO_ON = 0xC0502100, 0xC0182101, 1
_NOTIFIED, _ANSWERED = struct.Struct("=QIIiIQ6Q"), struct.Struct("=QqiI")
_ALLOW, _NOTIFY = 0x7FFF0000, 0x7FC00000


@dataclass(frozen=True)
class Change:
    """One call that changes files: its name, and the path below the folder."""

    call: str
    path: str


@dataclass
class Ended:
    """How the work ended.

    Attributes
    ----------
    changes : list of Change
        In the order in which they were announced; of a killed process the last one was not made.
    error : str
        The traceback, where it failed by itself.
    """

    changes: list[Change] = field(default_factory=list)
    killed: bool = False
    error: str = ""


def can_watch() -> bool:
    """Whether this machine's kernel and processor are known here."""
    actions = "/proc/sys/kernel/seccomp/actions_avail"
    if sys.platform != "linux" or platform.machine() not in _CALLS or not os.path.exists(actions):
        return False
    with open(actions) as file:
        return "user_notif" in file.read().split()


def run(work: Callable[[], object], below: str, kill_before: int | None = None) -> Ended:
    """Do work in a process of its own, and kill it before its n-th change below a folder, counted from 1.

    One that makes n - 1 changes is killed after the last one, when the work is done and the process has not ended. Call it where no
    thread is: it forks.

    Parameters
    ----------
    kill_before : int, optional
        None: it is not killed.
    """
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        ours.close()
        _be_watched(work, theirs)
    theirs.close()
    with ours:
        listener = -1
        try:
            _, (listener, *_), *_ = socket.recv_fds(ours, 1, 1)
            return _watched(child, listener, ours, os.path.realpath(below), kill_before)
        finally:
            if listener >= 0:
                os.close(listener)
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


# -- the process -----------------------------------------------------------------------------


def _be_watched(work: Callable[[], object], watcher: socket.socket) -> None:
    said = b""
    try:
        listener = _install_filter()
        socket.send_fds(watcher, [b"l"], [listener])
        os.close(listener)
        work()
    except BaseException:
        said = traceback.format_exc().encode()
    # The watcher decides whether this is the end, or it is killed before it.
    with contextlib.suppress(OSError):
        watcher.sendall(b"d" + said)
        watcher.shutdown(socket.SHUT_WR)
        watcher.recv(1)
    os._exit(0)


def _install_filter() -> int:
    machine = platform.machine()
    calls = sorted(_CALLS[machine].values())
    program = [(0x20, 0, 0, 4), (0x15, 1, 0, _ARCHITECTURES[machine]), (0x06, 0, 0, _ALLOW), (0x20, 0, 0, 0)]
    program += [(0x15, len(calls) - i, 0, number) for i, number in enumerate(calls)]
    program += [(0x06, 0, 0, _ALLOW), (0x06, 0, 0, _NOTIFY)]
    code = b"".join(struct.pack("=HBBI", *one) for one in program)
    buffer = ctypes.create_string_buffer(code)

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))

    libc = ctypes.CDLL(None, use_errno=True)
    what = Program(len(program), ctypes.addressof(buffer))
    if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")
    listener = libc.syscall(_SECCOMP[machine], _SET_FILTER, _NEW_LISTENER, ctypes.byref(what))
    if listener < 0:
        raise OSError(ctypes.get_errno(), "seccomp")
    return listener


# -- who watches it --------------------------------------------------------------------------


def _watched(child: int, listener: int, socket_: socket.socket, below: str, kill_before: int | None) -> Ended:
    ended, names = Ended(), {number: name for name, number in _CALLS[platform.machine()].items()}
    watched = select.poll()
    watched.register(listener, select.POLLIN)
    watched.register(socket_, select.POLLIN)
    while True:
        ready = dict(watched.poll())
        if ready.get(listener, 0) & select.POLLIN:
            asked = _asked(listener)
            if asked is None:
                continue
            identity, pid, number, arguments = asked
            change = _change(pid, names[number], arguments, below)
            if change is not None:
                ended.changes.append(change)
                if len(ended.changes) == kill_before:
                    os.kill(child, signal.SIGKILL)
                    ended.killed = True
                    return ended
            _let_go_on(listener, identity)
        elif socket_.fileno() in ready:
            # Done: nothing is announced any more, or the process is gone without a word.
            parts = []
            while part := socket_.recv(1 << 16):
                parts.append(part)
            said = b"".join(parts)
            ended.error = said[1:].decode() if said else "the process ended without a word"
            ended.killed = kill_before is not None and not ended.error
            return ended
        elif ready:
            ended.error = "the process ended without a word"
            return ended


def _asked(listener: int) -> tuple[int, int, int, tuple[int, ...]] | None:
    buffer = bytearray(_NOTIFIED.size)
    try:
        fcntl.ioctl(listener, _RECEIVE, buffer)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.EINTR):
            return None
        raise
    identity, pid, _, number, _, _, *arguments = _NOTIFIED.unpack(buffer)
    return identity, pid, number, tuple(arguments)


def _let_go_on(listener: int, identity: int) -> None:
    with contextlib.suppress(OSError):
        fcntl.ioctl(listener, _ANSWER, bytearray(_ANSWERED.pack(identity, 0, 0, _GO_ON)))


def _change(pid: int, call: str, arguments: tuple[int, ...], below: str) -> Change | None:
    if call in _FLAGS_AT and not arguments[_FLAGS_AT[call]] & (
        os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
    ):
        return None
    try:
        path = _path(pid, call, arguments)
    except OSError:
        return None
    if path != below and not path.startswith(below + os.sep):
        return None
    return Change(call, os.path.relpath(path, below))


def _path(pid: int, call: str, arguments: tuple[int, ...]) -> str:
    if call in _BY_FILE or call == "copy_file_range":
        return os.readlink(f"/proc/{pid}/fd/{arguments[2 if call == 'copy_file_range' else 0] & 0xFFFFFFFF}")
    folder_at, name_at = _PATHS[call]
    if call == "utimensat" and not arguments[1]:
        return os.readlink(f"/proc/{pid}/fd/{arguments[0] & 0xFFFFFFFF}")
    name = _text(pid, arguments[name_at])
    if os.path.isabs(name):
        return name
    file = ctypes.c_int32(arguments[folder_at] & 0xFFFFFFFF).value if folder_at is not None else -100
    folder = os.readlink(f"/proc/{pid}/cwd" if file < 0 else f"/proc/{pid}/fd/{file}")
    return os.path.normpath(os.path.join(folder, name))


def _text(pid: int, address: int) -> str:
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        memory.seek(address)
        text = b""
        # A page at a time: behind the last one nothing may be.
        while b"\0" not in text:
            text += memory.read(4096 - (address + len(text)) % 4096)
    return os.fsdecode(text.split(b"\0", 1)[0])
