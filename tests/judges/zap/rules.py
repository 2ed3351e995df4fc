"""ZAP's passive rules. In: a checkout of its add-ons, and HTTP exchanges. Out: the rules that ran, and what they report.

ZAP's core and a library of its add-ons are in Maven Central, the rules only as source: those of the add-ons that ZAP's baseline scan
has are compiled, and a small Java program (``ZapDriver.java``) gives them the exchanges, as the add-on ``pscan`` does.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.judges.checkouts import Checkout, checkout
from tests.judges.zap.exchanges import Exchange
from tests.lab.parts import ZAP_VERSION, PartMissing, java_binary, javac_binary, parts_dir, zap_jars

REPOSITORY = "zaproxy/zap-extensions"
#: Add-ons with passive rules: released rules and rules in beta, which a baseline scan has, and libraries with known faults.
ADDONS = ("pscanrules", "pscanrulesBeta", "retire")
#: What needs an add-on that is not in Maven Central, and is no rule.
_LEFT_OUT = ("payloader", "ExtensionRetire.java")
_LEXER = Path("pscanrules/src/main/antlr/org/zaproxy/zap/extension/pscanrules/antlr/JavaScriptLexer.g4")
_LEXER_PACKAGE = "org.zaproxy.zap.extension.pscanrules.antlr"
_SOURCE = Path(__file__).with_name("ZapDriver.java")
_COMPILE_S, _SCAN_S = 300, 1800


@dataclass(frozen=True)
class Scan:
    """What ran and what it reports, each record as ``ZapDriver.java`` writes it."""

    rules: list[dict]
    alerts: list[dict]
    #: Exchanges that a rule ended on with an error of its own.
    failed: list[dict]


def version() -> str:
    """The version of ZAP and of its rules."""
    return f"ZAP {ZAP_VERSION}, rules of {checkout(REPOSITORY).version}"


def scan(exchanges: Iterable[Exchange]) -> Scan:
    """Give exchanges to every rule.

    Raises
    ------
    PartMissing
        There is no checkout of the rules, no Maven or no Java compiler.
    """
    compiled = compiled_rules()
    jars = zap_jars()[0].parent
    with (
        tempfile.TemporaryDirectory(prefix="throttlescope-zap-") as folder,
        tempfile.TemporaryFile() as given,
    ):
        home, installation = Path(folder) / "home", Path(folder) / "installation"
        shutil.copytree(compiled / "home", home)
        installation.mkdir()
        for exchange in exchanges:
            for part in exchange:
                given.write(struct.pack(">i", len(part)) + part)
        given.seek(0)
        command = [
            str(java_binary()), "-Xmx2g", "-XX:+UseSerialGC", "-Djava.awt.headless=true",
            "-cp", f"{compiled / 'driver'}:{compiled / 'rules'}:{jars}/*",
            _SOURCE.stem, str(home), str(installation), str(compiled / "rules"),
        ]  # fmt: skip
        done = subprocess.run(command, stdin=given, capture_output=True, timeout=_SCAN_S, check=False)
    records = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = {
        kind: [one for one in records if one["kind"] == kind] for kind in ("rule", "alert", "failed", "end")
    }
    if done.returncode or not kinds["end"]:
        raise RuntimeError(f"ZAP's rules failed:\n{done.stderr.decode(errors='replace')[-3000:]}")
    return Scan(kinds["rule"], kinds["alert"], kinds["failed"])


def compiled_rules() -> Path:
    """The folder of the compiled rules, of the program that plays them, and of the files that they read from ZAP's home."""
    source = checkout(REPOSITORY)
    for addon in ADDONS:
        if not (source.folder / "addOns" / addon).is_dir():
            raise PartMissing(f"the checkout {source.folder} has no add-on {addon}")
    jars = zap_jars()
    digest = hashlib.sha256()
    for text in (_SOURCE.read_text(), source.version, *(jar.name for jar in jars)):
        digest.update(text.encode())
    folder = parts_dir() / f"zap-rules-{digest.hexdigest()[:16]}"
    if not folder.exists():
        # What a process left half done is never used: the folder gets its name last.
        staging = folder.with_name(f"{folder.name}.{os.getpid()}.part")
        shutil.rmtree(staging, ignore_errors=True)
        _compile(source, f"{jars[0].parent}/*", staging)
        with contextlib.suppress(OSError):
            staging.rename(folder)
    return folder


def _compile(source: Checkout, class_path: str, folder: Path) -> None:
    addons, generated, rules = source.folder / "addOns", folder / "generated", folder / "rules"
    (folder / "home").mkdir(parents=True)
    _java([
        str(java_binary()), "-cp", class_path, "org.antlr.v4.Tool", "-package", _LEXER_PACKAGE, "-Xexact-output-dir",
        "-o", str(generated), str(addons / _LEXER),
    ])  # fmt: skip
    files = [*generated.glob("*.java")]
    for addon in ADDONS:
        main = addons / addon / "src" / "main"
        files += [
            file for file in main.glob("java/**/*.java") if not any(name in file.parts for name in _LEFT_OUT)
        ]
        shutil.copytree(main / "resources", rules, dirs_exist_ok=True)
        if (main / "zapHomeFiles").exists():
            shutil.copytree(main / "zapHomeFiles", folder / "home", dirs_exist_ok=True)
    javac = [str(javac_binary()), "-nowarn", "-proc:none", "-encoding", "UTF-8"]
    _java([*javac, "-cp", class_path, "-d", str(rules), *map(str, files)])
    _java([*javac, "-cp", f"{rules}:{class_path}", "-d", str(folder / "driver"), str(_SOURCE)])


def _java(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=_COMPILE_S, check=False)
    if done.returncode:
        raise RuntimeError(f"ZAP's rules do not compile:\n{(done.stdout + done.stderr)[-3000:]}")
