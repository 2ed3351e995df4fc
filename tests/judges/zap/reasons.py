"""Why alerts of ZAP's rules stay. In: nothing. Out: one sentence for each rule, by its number."""

from __future__ import annotations

REASONS = {
    "10105": "basic authentication is for servers behind TLS; without `--allow-remote` the server listens on this machine only",
    "10055": "Mantine, AG Grid and Plotly write styles into elements; scripts in pages are allowed by their hashes only",
    "90004": "pages load nothing from other origins, so there is nothing that `Cross-Origin-Embedder-Policy` would keep out",
    "10096": "numbers of ten digits are times: of files, and of samples and windows, which are the data",
    "10110": "`eval(` is in Plotly's bundle; the policy of pages has no `unsafe-eval`, so a browser refuses it",
    "2": "addresses of brokers are the data",
    "10049": "says what a cache may keep: all but scripts, styles and pictures is `no-store`, scripts and styles of the app are kept by fingerprint or validated again",
    "10027": "words such as *from* in comments of scripts, which hold no secrets",
}


def reason(rule: str) -> str:
    """Why the alerts of a rule stay; ``rule`` is its number, with or without that of the kind of alert."""
    return REASONS.get(rule.partition("-")[0], "open")
