"""What ``benchmarks/web.py`` runs on: ``lake`` and ``rows`` a made lake, ``session`` a person in Chromium, ``load`` thirty of them."""
