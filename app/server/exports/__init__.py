"""Downloads: tables, verdicts, incident bundles, notebooks. Always in UTC."""
