"""Where Spark runs and what it needs there: a master's URL, settings, executors that answer, an archive of the package."""
