"""Ways through the site: from a GPU to a model, from two rows to their difference, from a setting to its effect."""

import re
from importlib import import_module

import pytest
from django.apps import apps
from playwright.sync_api import expect

from accounts.services import api_key_create
from bench.models import Run
from bench.services import board_rebuild, run_publish
from tests.bench.pages_corpus import make_row, publish_run_with_a_fit
from tests.bench.test_pages_data import sweep
from tests.bench.test_pages_picker import row
from tests.browser.chromium import NARROW, until, window
from tests.browser.conftest import Complaints
from tests.browser.test_pages import DRAWN
from tests.people import PASSWORD, make_maintainer, make_user
from tests.wire.bundles import make_bundle

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
RED = """([canvas, token]) => {
  const probe = document.body.appendChild(document.createElement("i"));
  probe.style.color = `var(--${token})`;
  const wanted = getComputedStyle(probe).color.match(/\\d+/g).slice(0, 3).map(Number);
  probe.remove();
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let found = 0;
  for (let i = 0; i < data.length; i += 4) found += wanted.every((part, k) => Math.abs(part - data[i + k]) < 3);
  return found;
}"""


def points(page, canvas, token):
    """How many points of a canvas have the colour that a quantity has now."""
    return page.evaluate(f"({RED})([document.querySelector('{canvas}'), '{token}'])")


@pytest.fixture
def page(browser):
    with window(browser) as context:
        yield context.new_page()


def test_a_visitor_finds_the_best_model_for_a_gpu(page, live_server):
    row("a", 100, 0.40, gpu_class="RTX 3090")
    row("b", 150, 0.74, gpu_class="RTX 3090")
    row("c", 50, 0.90, gpu_class="H200")
    complaints = Complaints(page)
    page.goto(live_server.url)
    page.get_by_role("link", name="Measure", exact=True).click()
    page.get_by_role("link", name="Picker").click()
    expect(page.locator("#answer")).to_contain_text("model-c")
    page.wait_for_load_state()  # before it, a choice is heard by nobody yet
    page.evaluate("window.sameDocument = true")
    page.get_by_label("My GPU is").select_option("RTX 3090")
    expect(page.locator("#answer")).to_contain_text("model-a")
    page.get_by_label("at least").fill("60")
    page.keyboard.press("Enter")
    expect(page.locator("#answer")).to_contain_text("model-b")
    page.get_by_label("I pay").fill("30")
    page.keyboard.press("Tab")
    expect(page.get_by_text("1,000 correct answers cost")).to_be_visible()
    expect(page).to_have_url(re.compile(r"gpu_class=RTX\+3090.*min_accuracy=60.*price=30"))
    assert page.evaluate("window.sameDocument")
    assert page.locator("canvas").evaluate(DRAWN)
    page.get_by_role("link", name="How to run it").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("model-b")
    assert complaints.heard == []


def test_the_picker_works_without_scripts(browser, live_server):
    row("a", 100, 0.40)
    row("b", 150, 0.74)
    with window(browser, scripts=False, width=NARROW) as context:
        page = context.new_page()
        page.goto(f"{live_server.url}/bench/picker/")
        page.get_by_label("at least").fill("60")
        page.get_by_role("button", name="Show").click()
        expect(page.locator("#answer")).to_contain_text("model-b")
        expect(page.locator("canvas")).to_be_hidden()
        expect(page.locator("#candidates tbody tr")).to_have_count(2)


def test_the_pick_is_drawn_in_the_colour_of_energy_and_again_in_the_dark(page, live_server):
    row("a", 100, 0.40)
    row("b", 150, 0.74)
    page.goto(f"{live_server.url}/bench/picker/")
    assert page.locator("canvas").evaluate("canvas => [canvas, 'energy']") is not None
    assert points(page, "canvas", "energy") > 50
    page.emulate_media(color_scheme="dark")
    until(page, lambda: points(page, "canvas", "energy") > 50)


def test_two_ticked_rows_are_compared_and_the_bar_sticks_meanwhile(page, live_server):
    for number in range(40):
        make_row(f"{number:02d}", model=f"model-{number}", rank=number + 1, joules_per_correct_answer=100.0 + number)
    page.goto(f"{live_server.url}/bench/leaderboard/")
    bar = page.locator(".board-foot")
    expect(bar).not_to_be_in_viewport()
    page.get_by_label("Compare model-0,").check()
    expect(bar).to_be_in_viewport()
    page.get_by_label("Compare model-3,").check()
    page.get_by_role("button", name="Compare ticked rows").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Compare 2 configurations")


def test_a_kind_of_sweep_is_swapped_in_and_drawn(page, live_server):
    sweep(points=((None, 100.0), (300.0, 90.0), (250.0, 80.0)))
    sweep("concurrency", ((1, 100.0), (16, 30.0)), unit=None)
    complaints = Complaints(page)
    page.goto(f"{live_server.url}/bench/data/")
    expect(page.locator("canvas")).to_have_count(2)
    page.evaluate("window.sameDocument = true")
    page.get_by_label("Kind").select_option("power_cap")
    expect(page.locator("canvas")).to_have_count(1)
    assert page.evaluate("window.sameDocument")
    assert page.locator("canvas").evaluate(DRAWN)
    expect(page).to_have_url(re.compile(r"/bench/data/\?kind=power_cap$"))
    page.go_back()
    expect(page.locator("canvas")).to_have_count(2)
    assert complaints.heard == []


def test_an_example_of_the_api_answers_on_the_page(page, live_server):
    make_row("a", model="example-7b")
    complaints = Complaints(page)
    page.goto(f"{live_server.url}/bench/api/")
    page.get_by_role("link", name="Answer now").first.click()
    expect(page.locator("#answer-rows")).to_contain_text('"model": "example-7b"')
    assert complaints.heard == []


def test_a_gate_unfolds_its_code_with_the_keyboard(page, live_server):
    page.goto(f"{live_server.url}/bench/gates/#drift")
    summary = page.locator("#drift summary")
    summary.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#drift pre")).to_contain_text("def drift")


def test_the_fit_of_a_run_is_drawn_over_its_items(page, live_server):
    import_module("bench.migrations.0002_grant_moderation").grant(
        apps, None
    )  # tests before this one emptied all tables
    run = publish_run_with_a_fit(make_user(), make_maintainer())
    complaints = Complaints(page)
    page.goto(f"{live_server.url}/bench/runs/{run.pk}/")
    canvas = page.locator("[data-chart=fit] canvas")
    assert canvas.evaluate(DRAWN)
    assert complaints.heard == []


def test_a_submitter_follows_a_run_from_upload_to_the_board(page, live_server):
    grant = import_module("bench.migrations.0002_grant_moderation").grant
    grant(apps, None)  # tests before this one emptied all tables
    submitter = make_user()
    _, secret = api_key_create(user=submitter, name="box", scope="bench")
    answer = page.request.post(
        f"{live_server.url}/api/v1/bench/submissions", data=make_bundle(), headers={"X-API-Key": secret}
    )
    assert answer.status == 201
    complaints = Complaints(page)
    page.goto(f"{live_server.url}/accounts/login/?next=/bench/own/")
    page.get_by_label("E-mail").fill(submitter.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    state = page.locator("td[data-label=State]")
    expect(state).to_have_text("waiting")
    page.get_by_role("link", name="example-3b").click()
    expect(page).to_have_url(answer.json()["url"])
    expect(page.locator(".notice")).to_contain_text("waits for a maintainer")
    run_publish(run=Run.objects.get(), by=make_maintainer())
    board_rebuild()
    page.get_by_role("link", name="Your runs").first.click()
    expect(state).to_have_text("published")
    page.get_by_role("link", name="Leaderboard").click()
    page.get_by_role("rowheader").get_by_role("link", name="example-3b").click()
    page.get_by_role("region", name="Runs").get_by_role("link").click()
    expect(page).to_have_url(answer.json()["url"])
    expect(page.locator(".notice")).to_have_count(0)
    assert complaints.heard == []
