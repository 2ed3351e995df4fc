"""Thirty people at once. In: what a session in Chromium requested. Out: how long every answer took, and what went wrong.

    python -m benchmarks.web_load.load WORK.json

Each is a thread with a connection of its own that makes the requests of one step after the other, each time for another subscription,
and thinks for 3 to 10 seconds between two steps. Runs in a process of its own, so that the server is measured and not the one who asks.
"""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from pathlib import Path

import requests

THINK_S = (3.0, 10.0)


def user(number: int, work: dict, until_s: float, found: list[dict]) -> None:
    """One person, until the time is over."""
    rng = random.Random(number)  # noqa: S311
    connection = requests.Session()
    stop_s = time.monotonic() + until_s
    time.sleep(rng.uniform(0, THINK_S[1]))
    while time.monotonic() < stop_s:
        other = rng.choice(work["others"])
        for step in work["steps"]:
            for asked in step["requests"]:
                began_s = time.monotonic()
                wrong = _ask(connection, work, asked, other)
                found.append(
                    {
                        "step": step["name"],
                        "is_callback": asked["method"] == "POST",
                        "at_s": began_s,
                        "ms": (time.monotonic() - began_s) * 1000,
                        "wrong": wrong,
                    }
                )
            time.sleep(rng.uniform(*THINK_S))
            if time.monotonic() >= stop_s:
                return


def _ask(connection: requests.Session, work: dict, asked: dict, other: dict) -> str | None:
    """Make one request for another subscription; what was wrong with the answer."""
    texts = []
    for text in (asked["path"], asked["body"] or ""):
        for mine, theirs in zip(work["mine"], other, strict=True):
            text = text.replace(mine, theirs)
        texts.append(text)
    path, body = texts
    try:
        answer = connection.request(
            asked["method"], work["address"] + path, data=body.encode() or None,
            headers={"Content-Type": "application/json"} if body else None, timeout=60,
        )  # fmt: skip
    except requests.RequestException as error:
        return type(error).__name__
    if answer.status_code >= 400:
        return f"status {answer.status_code}"
    # A page that could not be built says so in its answer.
    return "a page could not be built" if b"could not be built" in answer.content else None


def main() -> None:
    work = json.loads(Path(sys.argv[1]).read_text())
    found: list[dict] = []
    people = [
        threading.Thread(target=user, args=(number, work, work["seconds"], found))
        for number in range(work["users"])
    ]
    for person in people:
        person.start()
    for person in people:
        person.join()
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
