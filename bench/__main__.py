"""Measure the service over HTTP beside a plain Django view with the bare query: `make bench ARGS="1000 10000"`."""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from bench.dataset import Facts, write_archive
from bench.serving import Client, Failed, Site
from bench.workload import CLEAN_UP, WORK, Values, Work, values_of
from flashcards.configuration import ROOT

SIZES = (1_000, 10_000, 100_000)
WARM_UP_RUNS = 12
RUNS_MAX = 50
RUNS_MIN = 5
SECONDS_MAX = 10.0
RATIO_MAX = 2.0


def main() -> int:
    options = _options()
    engine = options.database.split(":")[0] or "sqlite"
    print(f"{engine} on {platform.machine()}, Python {platform.python_version()}, one client; milliseconds")
    try:
        for size in options.sizes:
            _measure_size(size, Site(options.folder / f"{engine}-{size}", options.database))
    except Failed as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 1
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=SIZES, help="numbers of cards; default: %(default)s")
    parser.add_argument("--folder", type=Path, default=ROOT / "var" / "bench", help="for data, default: var/bench")
    parser.add_argument("--database", default="", metavar="URL", help="a PostgreSQL database whose rows may be deleted")
    options = parser.parse_args()
    if any(size < 200 or size % 10 for size in options.sizes):
        parser.error("sizes are multiples of 10, from 200")
    if options.database and "bench" not in options.database.rpartition("/")[2]:
        parser.error("--database: everything in it is deleted, so its name must contain `bench`")
    return options


def _measure_size(size: int, site: Site) -> None:
    site.empty()
    archive = site.folder / "archive.json"
    with archive.open("w", encoding="utf-8") as file:
        facts = write_archive(file, size=size, now=datetime.now(UTC))
    started = time.monotonic()
    key = site.load(archive)
    seconds = time.monotonic() - started
    archive.unlink()
    print(f"\n## {size:,} cards, {facts.events:,} reviews (imported in {seconds:.0f} s)\n")
    print("| | operation | service p50 | p95 | plain view p50 | p95 | ratio |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with site.served("flashcards.wsgi:application") as service, site.served("bench.plain:application") as plain:
        measurement = Measurement(service, plain, key, facts)
        over = [work.name for work in WORK if measurement.take(work) > RATIO_MAX]
    print(f"\nMore than {RATIO_MAX:g} times the plain view: {', '.join(over) or 'none'}.", flush=True)


class Measurement:
    """Times operations on both servers, in turns, so that whatever else the machine does meets both."""

    def __init__(self, service: Client, plain: Client, key: str, facts: Facts) -> None:
        self._service, self._plain, self._key, self._facts = service, plain, key, facts

    def take(self, work: Work) -> float:
        """Print the line of one operation; returns how many times the plain view's median its own is."""
        values = values_of(self._facts)
        ours: list[float] = []
        theirs: list[float] = []
        deadline = time.monotonic() + SECONDS_MAX
        while len(ours) < WARM_UP_RUNS + (RUNS_MAX if time.monotonic() < deadline else RUNS_MIN):
            first, second = next(values), next(values)
            if work.per_card and second["due_id"] is None:
                break
            ours.append(self._run_service(work, first))
            theirs.append(self._run_plain(work, second))
        return _report(work, ours[WARM_UP_RUNS:], theirs[WARM_UP_RUNS:])

    def _run_service(self, work: Work, values: Values) -> float:
        milliseconds, status, raw = self._service.post(work.path, work.body(values), key=self._key)
        if status != 200 or not work.is_right(json.loads(raw)["data"], self._facts):
            raise Failed(f"{work.name} got a wrong answer: {status} {raw[:300].decode(errors='replace')}")
        self._clean_up(work)
        return milliseconds

    def _run_plain(self, work: Work, values: Values) -> float:
        milliseconds, status, raw = self._plain.post(f"/{work.name}", values, key="")
        if status != 200:
            raise Failed(f"{work.name} failed in its plain view: {status} {raw[:300].decode(errors='replace')}")
        self._clean_up(work)
        return milliseconds

    def _clean_up(self, work: Work) -> None:
        if work.leaves:
            body = {"sql": CLEAN_UP, "workspaceId": self._facts.workspace_id}
            self._service.post("/v1/agent/sql/execute", body, key=self._key)


def _report(work: Work, ours: list[float], theirs: list[float]) -> float:
    ratio = statistics.median(ours) / statistics.median(theirs)
    figures = [statistics.median(ours), _p95(ours), statistics.median(theirs), _p95(theirs)]
    shown = " | ".join(f"{figure:.1f}" for figure in figures)
    print(f"| {work.name} | {work.title} | {shown} | {ratio:.1f} |", flush=True)
    return ratio


def _p95(figures: list[float]) -> float:
    return sorted(figures)[int(len(figures) * 0.95)]


if __name__ == "__main__":
    raise SystemExit(main())
