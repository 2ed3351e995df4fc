"""Made fleets of any size: their samples, scrapes, signals and verdicts, and one that is being scraped (``live``)."""
