"""Opens the storage of a lake. In: a folder or ``s3://bucket/prefix``. Out: its `Storage`."""

from __future__ import annotations

from pathlib import Path

from throttlescope.ingest.core.lake_address import LakeAddress
from throttlescope.ingest.lake.storage import LocalStorage, Storage


def storage_of(root: str | Path) -> Storage:
    """The storage of a lake's address.

    Raises
    ------
    InputError
        The address is of a kind that is not known, or the environment lacks what it needs.
    """
    address = LakeAddress.of(root)
    if address.is_remote:
        # The library of object stores is not imported for a folder.
        from throttlescope.ingest.lake.object_store import object_storage

        return object_storage(str(address))
    return LocalStorage(address)
