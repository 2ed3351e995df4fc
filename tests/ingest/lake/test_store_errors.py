"""What is said of an object store's fault: whether it refuses or fails, by the libraries' own words."""

from __future__ import annotations

import pytest

from throttlescope.ingest.lake.store_errors import store_error

ADDRESS = "s3://lakes/prod"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            "Generic S3 error: Error performing PUT http://127.0.0.1:9000/lakes/prod/0.json in 403.217ms, after 2 retries, "
            "max_retries: 10, retry_timeout: 500ms - Server returned error response: "
            "<Code>SlowDown</Code><Message>Please reduce your request rate.</Message>",
            "does not answer as it should",
        ),
        (
            "Generic S3 error: Error performing GET http://127.0.0.1:401/lakes/prod in 1.2s - error sending request",
            "does not answer as it should",
        ),
        (
            "Generic S3 error: Error performing GET http://127.0.0.1:9000/lakes/prod in 2ms - Server returned non-2xx status code: 403 : ",
            "refuses",
        ),
        (
            "When listing objects: AWS Error UNKNOWN (HTTP status 401) during ListObjectsV2 operation",
            "refuses",
        ),
        ("AWS Error ACCESS_DENIED during HeadObject operation: No response body.", "refuses"),
    ],
)
def test_number_without_status_is_no_refusal(words, says):
    assert str(store_error(OSError(words), ADDRESS)).startswith(f"The object store {says}")
