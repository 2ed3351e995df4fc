"""Why alerts of ZAP's rules stay. In: nothing. Out: one sentence for each rule, by its number."""

from __future__ import annotations

REASONS = {
    "10105": "basic authentication is for servers behind TLS; without `--allow-remote` the server listens on this machine only",
    "10055": "Mantine, AG Grid and Plotly write styles into elements; scripts in pages are allowed by their hashes only",
    "90004": "pages load nothing from other origins, so there is nothing that `Cross-Origin-Embedder-Policy` would keep out",
    "10096": "numbers of ten digits are times: of files, and of samples and windows, which are the data",
    "10110": "`eval(` is in Plotly's bundle; the policy of pages has no `unsafe-eval`, so a browser refuses it",
    "2": "addresses of brokers are the data",
    "10049": "files of the app are cached by their fingerprints or validated again; pages and results are never stored",
    "10015": "files of the app have no secrets in them; pages and results have `no-store`",
    "10027": "words such as *from* in comments of scripts; the scripts are public",
    "10109": "pages are made by scripts: that is so",
    "10031": "a value of the address is in an attribute, escaped by React; a script in it would be refused by the policy",
    "10094": "texts that look like Base64 are hashes and keys of Dash's callbacks",
    "10097": "hashes are identifiers of files and of results, none is of a password",
    "10111": "basic authentication is the login that was chosen with `--users`",
    "10112": "ZAP names the header or cookie that it takes for a session",
}


def reason(rule: str) -> str:
    """Why the alerts of a rule stay; ``rule`` is its number, with or without that of the kind of alert."""
    return REASONS.get(rule.partition("-")[0], "open")
