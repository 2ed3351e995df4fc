"""What leaves the app as a file: tables, verdicts, incident bundles, notebooks. Always in UTC."""
