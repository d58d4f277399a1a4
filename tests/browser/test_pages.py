"""What a visitor does on the pages of the corpus, with scripts and without."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import NARROW, until, window
from tests.browser.conftest import Complaints

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
DRAWN = """canvas => new Set(
  canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.filter((_, i) => i % 4 === 3)
).size > 1"""


@pytest.fixture
def page(browser):
    with window(browser) as context:
        yield context.new_page()


def test_a_filter_swaps_the_rows_and_the_address_without_a_new_page(page, site):
    complaints = Complaints(page)
    page.goto(site["leaderboard"])
    page.evaluate("window.sameDocument = true")
    expect(page.locator(".board tbody tr")).to_have_count(3)
    page.get_by_label("Quantization").select_option("float32")
    expect(page.locator(".board tbody tr")).to_have_count(1)
    expect(page).to_have_url(re.compile(r"\?quant=float32&task=arith_recorded$"))
    expect(page.get_by_role("status")).to_contain_text("1 configuration.")
    assert page.evaluate("window.sameDocument")
    page.go_back()
    expect(page.locator(".board tbody tr")).to_have_count(3)
    assert complaints.heard == []


def test_a_sort_survives_the_next_filter(page, site):
    page.goto(site["leaderboard"])
    page.get_by_role("link", name="Accuracy").click()
    expect(page.locator("th[aria-sort=descending]")).to_contain_text("Accuracy")
    page.get_by_label("Accuracy at least").fill("17")
    page.keyboard.press("Enter")
    expect(page.locator(".board tbody tr")).to_have_count(2)
    expect(page).to_have_url(re.compile(r"sort=-accuracy"))
    expect(page.locator("th[aria-sort=descending]")).to_contain_text("Accuracy")


def test_the_form_works_without_scripts(browser, site):
    with window(browser, scripts=False) as context:
        page = context.new_page()
        page.goto(site["leaderboard"])
        page.get_by_label("Quantization").select_option("float32")
        page.get_by_role("button", name="Apply").click()
        expect(page.locator(".board tbody tr")).to_have_count(1)
        page.get_by_role("button", name="Tier C").click()
        expect(page.locator("#hint-tier-c")).to_be_visible()
        page.goto(site["run"])
        for name in ("trace", "growth"):
            expect(page.locator(f"[data-chart={name}] canvas")).to_be_hidden()
            expect(page.locator(f"#{name} tbody tr").first).to_be_visible()


def test_a_hint_opens_on_hover_and_on_focus_and_goes_with_escape(page, site):
    page.goto(site["leaderboard"])
    hint, tier = page.locator("#hint-tier-c"), page.get_by_role("button", name="Tier C").first
    tier.hover()
    expect(hint).to_be_visible()
    page.get_by_role("heading", name="Leaderboard").hover()
    expect(hint).to_be_hidden()
    page.keyboard.press("Tab")
    tier.focus()
    expect(hint).to_be_visible()
    page.keyboard.press("Escape")
    expect(hint).to_be_hidden()


@pytest.mark.parametrize("name", ["trace", "growth"])
def test_a_chart_of_a_run_is_drawn_and_drawn_again_in_the_dark(page, site, name):
    page.goto(site["run"])
    canvas = page.locator(f"[data-chart={name}] canvas")
    assert canvas.evaluate(DRAWN)
    light = canvas.screenshot()
    page.emulate_media(color_scheme="dark")
    until(page, lambda: canvas.screenshot() != light)


def test_the_menu_of_a_phone_opens_with_the_keyboard(browser, site):
    with window(browser, width=NARROW) as context:
        page = context.new_page()
        page.goto(site["home"])
        link = page.get_by_role("navigation", name="Site").get_by_role("link", name="Measure")
        expect(link).to_be_hidden()
        page.get_by_role("button", name="Menu").focus()
        page.keyboard.press("Enter")
        expect(link).to_be_visible()
        link.click()
        expect(page).to_have_url(re.compile("/bench/leaderboard/"))


def test_the_first_stop_of_the_keyboard_skips_to_the_content(page, site):
    page.goto(site["leaderboard"])
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('main') !== null")
