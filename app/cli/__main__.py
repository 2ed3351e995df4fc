"""``python -m throttlescope.app.cli`` is the command ``throttlescope``."""

from throttlescope.app.cli import main

main()
