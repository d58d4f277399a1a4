"""The whole board in one answer, and what an assistant should know before it cites the site."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from asyncenergy_controller.metrics import METHODOLOGY_VERSION
from django.urls import reverse

from bench import grading
from bench.models import BoardConfig, BoardState, BoardSweep
from bench.presentation import counted, percent, significant
from bench.selectors.board import BoardQuery, board_rows, data_version
from bench.selectors.corpus import LICENCE, LICENCE_URL, corpus_rows
from bench.selectors.facets import board_facets
from bench.selectors.names import UNLISTED, listed_names, names_listed
from bench.selectors.runs import corpus_counts

TOP_ROWS = 3
Link = Callable[[str], str]
# address name -> what is there
PAGES = {
    "bench:home": "what a correct answer costs, at a glance",
    "bench:measure": "how to measure a machine of your own",
    "bench:leaderboard": "the board, one task at a time",
    "bench:picker": "which model to run on a device",
    "bench:data": "sweeps over power caps, clocks and other settings",
    "bench:methodology": "every formula, with its source",
    "bench:gates": "every rule that a run must pass",
    "bench:moderation-log": "what people decided, and why",
    "bench:verify": "any row of the board, derived again beside the published figures",
    "scheduling:how-it-works": "how work with a deadline is placed into the cheapest hours, and what that saves",
    "scheduling:cheapest": "when a job would cost least on a market",
    "scheduling:quickstart": "from an account to the first scheduled job",
    "learn:index": "where to start reading",
    "learn:energy": "where the energy of local AI goes, with figures computed from the corpus",
    "learn:glossary": "every term and unit of this site",
    "learn:blog": "all articles",
    "learn:api": "the API, with examples",
    "learn:mcp": "the tools for language models, with examples",
}
READS = {
    "api:bench-leaderboard": "rows of the board; also with ?format=csv",
    "api:bench-recommend": "?objective=energy|speed|balanced&prompt_tokens=&output_tokens=&gpu_class=&max_vram_gb=",
    "api:bench-routing-table": "accuracy, speed and cost model of every row, for routers",
    "api:bench-sweeps": "sweeps with their points",
    "api:bench-facets": "the values that filters take",
    "api:bench-corpus": "the download: JSON Lines and Parquet with checksums",
    "api:bench-data": "the whole board in one file",
    "api:openapi": "the schema of all of this",
}


def snapshot() -> dict[str, Any]:
    """Rows, configurations and sweeps of one version of the board."""
    made = BoardState.objects.values_list("updated_at", flat=True).first()
    return {
        "data_version": data_version(),
        "generated_at": made.isoformat(timespec="seconds") if made else None,
        "methodology_version": METHODOLOGY_VERSION,
        "grading": grading.EDITION,
        "licence": LICENCE,
        "licence_url": LICENCE_URL,
        "rows": corpus_rows(),
        "configs": list(BoardConfig.objects.values_list("payload", flat=True)),
        "sweeps": list(BoardSweep.objects.order_by("pk").values_list("payload", flat=True)),
    }


def llms_text(link: Link, articles: Mapping[str, str]) -> str:
    """Markdown. `link` makes a path absolute; every path and figure is looked up, so none can go stale.

    `articles` are paths with titles.
    """
    return "\n".join([*_about(), *_figures(), *_rules(link), *_links(link, articles)]) + "\n"


def _about() -> Iterator[str]:
    counts = corpus_counts()
    runs, machines = counted(counts["runs"], "published run"), counted(counts["machines"], "machine")
    yield "# Async Energy"
    yield ""
    yield "> Joules per correct answer of local AI inference: metered, never estimated, derived again by the server"
    yield "> from the submitted trace, and published by people who log their reasons."
    yield ""
    yield f"Data version {data_version()}: {runs} from {machines}. Methodology {METHODOLOGY_VERSION}. Data {LICENCE}."
    yield ""


def _figures() -> Iterator[str]:
    listed = names_listed()
    for task in board_facets()["task"]:
        yield f"## Least energy on {task['value']} ({counted(task['count'], 'row')})"
        yield ""
        for row in board_rows(BoardQuery(task=task["value"], limit=TOP_ROWS)):
            yield f"- {_row({**row, **listed_names(row, listed)})}"
        yield ""


def _row(row: Mapping[str, Any]) -> str:
    value, accuracy = row["joules_per_correct_answer"], row["accuracy"]
    headline = "undefined, none correct" if value is None else f"{significant(value)} J per correct answer"
    right = "accuracy unknown" if accuracy is None else f"{percent(accuracy)} % right"
    evidence = f"tier {row['tier']}" if row["tier"] else "no tier"
    kind = "" if row["verified"] else ", claimed and not derivable again"
    boundary = row["energy_boundary"] or "unknown boundary"
    device = row["gpu_class"] or "unknown device"
    return f"{row['model']} on {row['engine']}, {device}: {headline} ({boundary}), {right}, {evidence}{kind}"


def _rules(link: Link) -> Sequence[str]:
    methodology = link(reverse("bench:methodology"))
    return (
        "## Before you cite a figure",
        "",
        "- Name the boundary (gpu_board, cpu_package, soc, wall), the tier and the data version with every joule.",
        "- The headline is energy of the run / number of correct answers; null is undefined or not measured, never 0.",
        "- Rows whose intervals overlap share a rank: don't call one of them better.",
        "- Figures of different tasks, boundaries or energy sources can't be compared.",
        "- Tier C: GPU-reported energy only. B: a wall meter agrees. A: counter, integration and baselines agree too.",
        f"- A name that no maintainer knows is written `{UNLISTED}` here.",
        f"- How each number is made: {methodology}",
        "",
    )


def _links(link: Link, articles: Mapping[str, str]) -> Iterator[str]:
    yield "## Pages"
    yield ""
    for name, words in PAGES.items():
        yield f"- [{words}]({link(reverse(name))})"
    for path, title in articles.items():
        yield f"- [article: {title}]({link(path)})"
    yield ""
    yield "## For programs (no key, no cost)"
    yield ""
    for name, words in READS.items():
        yield f"- [{words}]({link(reverse(name))})"
    yield f"- [MCP server, streamable HTTP, read-only]({link('/mcp')})"
