"""The REST API of results. In: requests to ``/api/throttlescope/v1``. Out: JSON that a published OpenAPI document describes; nothing is written."""
