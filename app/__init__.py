"""The command line and the web app. In: flags, a configuration file, clicks. Out: tables, pages, exit codes."""
