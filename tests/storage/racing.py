"""Two processes that race for names. In: an address, names, and what lines them up. Out: which names each of them won."""

from __future__ import annotations

import multiprocessing

from throttlescope.ingest.lake.open_storage import storage_of


def race(address: str, names: list[str]) -> list[set[str]]:
    """Let two processes write each name at the same moment, only where it is free; the names that each of them won."""
    context = multiprocessing.get_context("spawn")
    together, answers = context.Barrier(2), context.Queue()
    writers = [
        context.Process(target=_write, args=(address, names, number, together, answers), daemon=True)
        for number in range(2)
    ]
    for writer in writers:
        writer.start()
    won = dict(answers.get(timeout=120) for _ in writers)
    for writer in writers:
        writer.join(30)
    return [won[0], won[1]]


def content_of(number: int, name: str) -> bytes:
    return f"{number} {name} ".encode() * 200


def _write(address: str, names: list[str], number: int, together, answers) -> None:
    storage, won = storage_of(address), set()
    for name in names:
        together.wait(60)
        if storage.write(name, content_of(number, name), if_absent=True):
            won.add(name)
    answers.put((number, won))
