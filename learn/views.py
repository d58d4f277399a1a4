"""Pages to learn from."""

from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from bench import selectors
from bench.selectors import BoardQuery, SweepQuery
from learn import evidence, markdown, posts

CONTENT: Path = settings.BASE_DIR / "content"
LATEST = 3
MOST_ROWS = 1000
MOST_WALLS = 8


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """What there is to learn."""
    context = {"section": "learn", "posts": posts.posts()[:LATEST]}
    return render(request, "learn/index.html", context)


@require_safe
def glossary(request: HttpRequest) -> HttpResponse:
    """Every term of the site in a sentence or two."""
    terms = markdown.read(CONTENT / "glossary.md").sections
    return render(request, "learn/glossary.html", {"section": "learn", "terms": terms})


@require_safe
def blog(request: HttpRequest) -> HttpResponse:
    """The posts, newest first."""
    return render(request, "learn/blog.html", {"section": "learn", "posts": posts.posts()})


@require_safe
def post(request: HttpRequest, slug: str) -> HttpResponse:
    """One post."""
    found = posts.post(slug)
    if found is None:
        raise Http404("No post has this address.")
    return render(request, "learn/post.html", {"section": "learn", "post": found})


@require_safe
def energy(request: HttpRequest) -> HttpResponse:
    """Where the energy goes: each answer with what this corpus shows."""
    document = markdown.read(CONTENT / "where-the-energy-goes.md")
    corpus = _corpus()
    answers = [(section, evidence.ANSWERS[section.anchor](corpus)) for section in document.sections]
    context = {"section": "learn", "document": document, "answers": answers, "version": selectors.data_version()}
    return render(request, "learn/energy.html", context)


def _corpus() -> evidence.Corpus:
    rows = selectors.board_rows(BoardQuery(limit=MOST_ROWS))
    fits = {row["config_key"]: row for row in selectors.routing_rows(BoardQuery(limit=MOST_ROWS))}
    at_the_wall = [row["run_id"] for row in rows if row["tier"] in ("A", "B")]
    return evidence.Corpus(
        rows=rows,
        sweeps=[*selectors.sweep_list(SweepQuery(limit=MOST_ROWS)), *selectors.repetitions()],
        fits=list(fits.values()),
        figures={run_id: selectors.run_figures(run_id) for run_id in at_the_wall[:MOST_WALLS]},
    )


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    """Everything public may be read by robots; accounts, their plans and the desk are of no use to them."""
    sitemap = request.build_absolute_uri(reverse("learn:sitemap"))
    lines = [
        "User-agent: *",
        "Disallow: /accounts/",
        "Disallow: /admin/",
        "Disallow: /schedule/",
        "Disallow: /bench/own/",
        f"Sitemap: {sitemap}",
        "",
    ]
    return HttpResponse("\n".join(lines), content_type="text/plain; charset=utf-8")
