"""Runs the proofs. In: a command and its options. Out: tables, and JSON results in a folder that is not committed."""

from __future__ import annotations

import argparse
import json
from datetime import UTC, datetime
from pathlib import Path

RESULTS = Path(".bench/conformance")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.promql.conformance", description=__doc__)
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the JSON results")
    commands = parser.add_subparsers(dest="command", required=True)
    corpus = commands.add_parser("corpus", help="upstream's corpus, on a Prometheus 3.5 and on ours")
    corpus.add_argument("--checkout", type=Path, required=True, help="of prometheus/prometheus")
    corpus.add_argument("--name", default="corpus", help="names the JSON file")
    corpus.add_argument("--what", default="", help="which version the checkout is of, as the page says it")
    corpus.add_argument("--file", default="", help="only files with this in their name")
    corpus.add_argument("--through", choices=("memory", "lake"), default="memory", help="where we evaluate")
    corpus.add_argument("--no-laws", action="store_true", help="leave out the variants of every eval")
    compliance = commands.add_parser("compliance", help="the compliance list on jittered and aligned data")
    compliance.add_argument("--checkout", type=Path, required=True, help="of prometheus/compliance")
    compliance.add_argument(
        "--through", choices=("memory", "lake"), default="memory", help="where we evaluate"
    )
    compliance.add_argument("--seed", type=int, default=1, help="of the demo metrics")
    pairs = commands.add_parser("random", help="random data and random queries")
    pairs.add_argument("--through", choices=("memory", "lake"), default="memory", help="where we evaluate")
    pairs.add_argument("--pairs", type=int, default=10_000)
    pairs.add_argument("--seed", type=int, default=1)
    pairs.add_argument("--depth", type=int, default=5, help="how deep queries nest at most")
    pairs.add_argument("--workers", type=int, default=2, help="processes, each with a server")
    hostile = commands.add_parser("hostile", help="texts that want to crash or hang us")
    hostile.add_argument("--texts", type=int, default=100_000)
    hostile.add_argument("--seed", type=int, default=1)
    hostile.add_argument("--workers", type=int, default=2)
    hostile.add_argument("--family", default="", help="texts of one family only")
    page = commands.add_parser("page", help="write the figures of the results into the page")
    page.add_argument("folder", type=Path, nargs="?", default=RESULTS)
    page.add_argument("--page", type=Path, default=Path("docs/accuracy/promql.md"))
    options = parser.parse_args()
    run = {
        "corpus": _corpus,
        "compliance": _compliance,
        "random": _random,
        "hostile": _hostile,
        "page": _page,
    }
    run[options.command](options)


def _corpus(options: argparse.Namespace) -> None:
    from tests.promql.conformance import corpus

    print(corpus.HEAD, flush=True)
    result = corpus.run(
        options.checkout / corpus.FOLDER,
        only=options.file,
        laws=not options.no_laws,
        through_lake=options.through == "lake",
        say=lambda line: print(line, flush=True),
    )
    for line in corpus.report(result):
        print(line)
    _keep(options, _name(options.name, options), {"what": options.what or str(options.checkout), **result})


def _compliance(options: argparse.Namespace) -> None:
    from tests.promql.conformance import compliance

    result = compliance.run(
        options.checkout,
        options.seed,
        say=lambda line: print(line, flush=True),
        through_lake=options.through == "lake",
    )
    for line in compliance.report(result):
        print(line)
    _keep(options, _name("compliance", options), result)


def _random(options: argparse.Namespace) -> None:
    from tests.promql.conformance import lake_pairs, pairs

    draw = lake_pairs.THROUGH_LAKE if options.through == "lake" else pairs.IN_MEMORY
    result = pairs.run(
        options.pairs,
        options.seed,
        options.workers,
        options.depth,
        say=lambda line: print(line, flush=True),
        draw=draw,
        kept=options.results / f"parts-{options.through}",
    )
    for line in pairs.report(result):
        print(line)
    if options.through == "lake":
        result["lakes"] = [lake_pairs.shape(options.seed, data) for data in range(result["data_sets"])]
    _keep(options, _name(f"random-{options.seed}", options), {"through": options.through, **result})


def _hostile(options: argparse.Namespace) -> None:
    from tests.promql.conformance import hostile

    result = hostile.run(
        options.texts, options.seed, options.workers, options.family, say=lambda line: print(line, flush=True)
    )
    for line in hostile.report(result):
        print(line)
    _keep(options, "hostile", result)


def _page(options: argparse.Namespace) -> None:
    from tests.promql.conformance import page

    page.write(options.folder, options.page)


def _name(name: str, options: argparse.Namespace) -> str:
    return f"{name}-lake" if options.through == "lake" else name


def _keep(options: argparse.Namespace, name: str, result: dict) -> None:
    options.results.mkdir(parents=True, exist_ok=True)
    path = options.results / f"{name}.json"
    path.write_text(json.dumps({"date": str(datetime.now(UTC).date()), **result}, indent=1))
    print(f"\nkept in {path}")


if __name__ == "__main__":
    main()
