"""Objects of a real S3 server, and what the environment has to say."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from tests.storage.racing import content_of, race
from throttlescope.ingest.core.errors import InputError, SourceError
from throttlescope.ingest.lake.object_store import StoreAccess
from throttlescope.ingest.lake.open_storage import storage_of
from throttlescope.ingest.lake.parquet import read_parquet

KEYS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "hush"}


def test_conditional_put_has_one_winner(object_store):
    """What everything else rests on; a server without it would make any other test here worthless."""
    address, names = object_store.lake("race"), [f"r/{i:03d}" for i in range(60)]
    won = race(address, names)
    assert not won[0] & won[1]
    assert won[0] | won[1] == set(names)
    assert all(won), "one of the two won every time: they did not race"
    storage = storage_of(address)
    assert all(storage.read(name) == content_of(number, name) for number in (0, 1) for name in won[number])


def test_objects_are_written_listed_read_and_deleted(object_store):
    storage, other = storage_of(object_store.lake("files/a")), storage_of(object_store.lake("files/ab"))
    assert storage.list() == []
    assert (
        storage.read("samples/one")
        is storage.look("samples/one")
        is storage.read_dated("samples/one")
        is None
    )
    begun_ms = time.time() * 1000
    storage.write("samples/one", b"first")
    storage.write("samples/one", b"second")
    storage.write("series/one", b"")
    other.write("samples/one", b"of a lake whose name begins alike")
    assert not storage.write("samples/one", b"third", if_absent=True)
    assert storage.read("samples/one") == b"second"
    assert [(file.relative_path, file.size_bytes) for file in storage.list()] == [
        ("samples/one", 6),
        ("series/one", 0),
    ]
    assert [file.relative_path for file in storage.list("samples")] == ["samples/one"]
    content, modified_ms = storage.read_dated("samples/one")
    assert content == b"second"
    # The store keeps whole seconds.
    assert (
        begun_ms - 2000 < modified_ms == storage.look("samples/one").modified_ms < time.time() * 1000 + 2000
    )
    storage.delete(["samples/one", "never/there"])
    storage.delete_below("series")
    assert storage.list() == []
    assert other.exists("samples/one")


def test_more_objects_than_one_answer_lists(object_store):
    folder = object_store.folder / "many" / "data"
    folder.mkdir(parents=True)
    for i in range(1100):
        (folder / f"{i:04d}").write_bytes(b"x")
    storage = storage_of(object_store.lake("many"))
    assert len(storage.list("data")) == 1100
    storage.delete_below("data")
    assert storage.names("data") == []


def test_a_bucket_that_is_not_there(object_store):
    with pytest.raises(InputError, match="bucket is not there; got s3://no-such-bucket"):
        storage_of("s3://no-such-bucket/lake").list()


def test_a_store_that_refuses(object_store, monkeypatch):
    storage_of(object_store.lake("refused")).write("a", b"before")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong-and-not-to-be-seen")
    storage = storage_of(object_store.lake("refused"))
    for ask in (
        storage.list,
        lambda: storage.read("a"),
        lambda: storage.write("a", b"after"),
        lambda: storage.delete(["a"]),
        lambda: read_parquet(storage.address("a")),
    ):
        with pytest.raises(
            SourceError, match=r"object store refuses.*Fix: see that AWS_ACCESS_KEY_ID"
        ) as refused:
            ask()
        assert "not-to-be-seen" not in str(refused.value)
        assert len(str(refused.value).splitlines()) == 1
    monkeypatch.undo()
    assert (object_store.folder / "refused" / "a").read_bytes() == b"before"


@pytest.mark.long
def test_a_store_that_never_answers(monkeypatch):
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        held = []
        threading.Thread(
            target=lambda: [held.append(silent.accept()) for _ in range(50)], daemon=True
        ).start()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{silent.getsockname()[1]}")
        monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
        monkeypatch.setenv("THROTTLESCOPE_STORE_TIMEOUT_S", "0.5")
        storage = storage_of("s3://bucket/lake")
        for ask in (storage.list, lambda: read_parquet(storage.address("a"))):
            begun_s = time.monotonic()
            with pytest.raises(SourceError, match="does not answer as it should"):
                ask()
            assert time.monotonic() - begun_s < 30


def test_the_environment_says_where_and_who():
    access = StoreAccess.of(
        KEYS | {"AWS_ENDPOINT_URL": "https://store.example:9000/", "AWS_REGION": "eu-west-1"}
    )
    assert (access.endpoint, access.region, access.allow_http) == (
        "https://store.example:9000",
        "eu-west-1",
        False,
    )
    assert "hush" not in repr(access)
    assert StoreAccess.of(KEYS).endpoint is None
    # Temporary credentials of a container: the libraries fetch them.
    assert StoreAccess.of({"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://localhost/token"}).key_id is None


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({}, "no credentials for the object store.*Fix: set them"),
        ({"AWS_ACCESS_KEY_ID": "key"}, "Half of the object store's credentials"),
        (KEYS | {"AWS_ENDPOINT_URL": "http://store.example"}, "plain HTTP.*AWS_ALLOW_HTTP=true"),
        (KEYS | {"AWS_ENDPOINT_URL": "store.example"}, "is no address"),
        (KEYS | {"AWS_ENDPOINT_URL": "https://me:secret-word@store.example"}, "is no address"),
        (KEYS | {"THROTTLESCOPE_STORE_TIMEOUT_S": "soon"}, "is no time"),
    ],
)
def test_what_the_environment_lacks(environment, words):
    with pytest.raises(InputError, match=words) as lacking:
        StoreAccess.of(environment)
    assert "hush" not in str(lacking.value)
    assert "secret-word" not in str(lacking.value)
