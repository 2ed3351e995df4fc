"""How throttlescope is deployed: image, compose file, chart, systemd units. :mod:`deploy.generate` writes what is made from code. Not installed."""
