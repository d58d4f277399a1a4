"""How much a board of 300 rows weighs and how fast it is seen, served as `make run` serves it."""

import threading
import uuid
from collections.abc import Iterator
from random import Random

import pytest
import uvicorn

from asyncenergy.asgi import application
from tests.bench.pages_corpus import make_row
from tests.browser.chromium import window

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ROWS = 300
MOST_BYTES = 150_000
MOST_MS = 1000
LOADS = 5  # other work on the machine slows some of them
FAMILIES = ("example", "sample", "specimen", "instance", "model", "pattern")
LARGEST_PAINT = """() => new Promise(resolve => new PerformanceObserver(
  entries => resolve(entries.getEntries().at(-1).startTime)
).observe({type: "largest-contentful-paint", buffered: true}))"""


@pytest.fixture
def served(transactional_db) -> Iterator[str]:
    """The address of the ASGI application under uvicorn."""
    server = uvicorn.Server(uvicorn.Config(application, port=0, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        thread.join(0.05)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


def seen(browser, url: str) -> tuple[int, float, int]:
    """Bytes that crossed the wire, milliseconds to the largest paint, and rows; nothing is cached."""
    with window(browser) as context:
        page = context.new_page()
        wire = context.new_cdp_session(page)
        sizes: list[float] = []
        wire.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
        wire.send("Network.enable")
        page.goto(url, wait_until="networkidle")
        return int(sum(sizes)), page.evaluate(LARGEST_PAINT), page.locator(".board tbody tr").count()


def varied(number: int) -> dict[str, object]:
    """Figures and names that compress no better than those of a real board."""
    chance = Random(number)
    value = 10 * 1.02**number
    return {
        "model": f"{chance.choice(FAMILIES)}-{chance.randint(1, 70)}B",
        "quantization": chance.choice(("Q4_K_M", "Q8_0", "bfloat16", "AWQ")),
        "joules_per_correct_answer": value,
        "jpc_ci_low": value * chance.uniform(0.8, 0.99),
        "jpc_ci_high": value * chance.uniform(1.01, 1.3),
        "jpc_wide_low": value * 0.78,
        "jpc_wide_high": value * 1.35,
        "accuracy": chance.random(),
        "joules_per_token": chance.uniform(0.1, 9),
        "pooled_tokens_per_second": chance.uniform(5, 900),
        "marks": [{"code": "truncated", "label": f"truncated {number % 90} %", "sentence": "Cut off."}] * (number % 2),
        "run_id": str(uuid.UUID(int=chance.getrandbits(128))),
    }


def test_a_board_of_300_rows_is_light_and_quick(browser, served):
    for number in range(ROWS):
        make_row(f"{number:03d}", rank=number + 1, **varied(number))
    seen(browser, f"{served}/bench/leaderboard/")  # the server reads its templates once
    loaded = [seen(browser, f"{served}/bench/leaderboard/") for _ in range(LOADS)]
    size, paint_ms = loaded[0][0], min(ms for _, ms, _ in loaded)
    print(f"\n{ROWS} rows: {size / 1000:.1f} kB transferred, largest paint after {paint_ms:.0f} ms")
    assert {rows for *_, rows in loaded} == {ROWS}
    assert size < MOST_BYTES
    assert paint_ms < MOST_MS
