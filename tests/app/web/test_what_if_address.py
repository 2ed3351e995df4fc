"""The address of the What-if lab: read, written, and refused in words."""

from urllib.parse import urlsplit

import pytest

from tests.app.web.lab_lake import ADDRESS, BILLING
from throttlescope.app.web.address.what_if import WhatIfAddress
from throttlescope.ingest.core.errors import InputError

NAMED = "cluster=c&topic=persistent%3A%2F%2Fa%2Fb%2Ft&partition=-1&subscription=s"


def parsed(address: WhatIfAddress) -> WhatIfAddress:
    return WhatIfAddress.parse(urlsplit(address.href()).query)


@pytest.mark.parametrize(
    "address",
    [
        WhatIfAddress(),
        WhatIfAddress(search="orders & <b>"),
        WhatIfAddress(BILLING),
        ADDRESS,
        WhatIfAddress(BILLING, "", 0, 60_000, "start", "24h", ("subscription.msg=800 consumers=4", "nothing", "load=2"), 2, "0123456789abcdef01234567"),
    ],
)  # fmt: skip
def test_address_round_trip(address):
    assert parsed(address) == address


def test_missing_partition_means_all_partitions():
    assert str(ADDRESS.name) == "persistent://acme/shop/orders#billing"
    one = WhatIfAddress.parse(NAMED.replace("partition=-1", "partition=3"))
    assert str(one.name) == "persistent://a/b/t-partition-3#s"


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("&".join(["run=consumers%3D1"] * 5), "compares too many runs; got 5; expected at most 4"),
        ("&".join(["run=consumers%3D1"] * 10_000), "too many parts"),
        ("run=" + "x" * 401, "A run in the address is too long"),
        ("run=a&chosen=2", "chooses a run that it does not have; got 2; expected 1 to 1"),
        ("chosen=0", "chooses a run"),
        ("chosen=-1", "chooses a run"),
        ("chosen=1e30", "chooses a run"),
        ("when=later", "got later; expected end or start"),
        ("ahead=9h", "expected 1h, 6h, 24h"),
        ("job=../../etc/passwd", "names a search that cannot be one"),
        ("job=XYZ", "names a search that cannot be one"),
        ("from=2026-11-20T00:00:00Z&to=2026-11-30T00:00:00Z", "cannot be replayed; got 864,000 s"),
        ("from=2026-11-20T00:00:00Z&to=2026-11-20T00:00:10Z", "cannot be replayed; got 10 s"),
        ("from=2026-11-20T00:00:00Z&to=2026-11-19T00:00:00Z", "range"),
        ("from=-1h", "relative"),
        ("from=NaN", "time"),
        ("topic=t", "does not name a subscription; got no cluster, subscription"),
    ],
)  # fmt: skip
def test_invalid_address_is_explained(query, words):
    with pytest.raises(InputError) as refused:
        WhatIfAddress.parse(query)
    assert words in str(refused.value)


def test_runs_are_added_and_removed():
    two = ADDRESS.with_run(0, "consumers=4").with_run(1, "load=2")
    assert (two.runs, two.chosen) == (("consumers=4", "load=2"), 1)
    assert two.without_run(0).runs == ("load=2",)
    assert two.without_run(1).chosen == 0
    assert two.without_run(0).without_run(0).runs == ("nothing",)
