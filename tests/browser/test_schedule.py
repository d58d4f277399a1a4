"""Ways of an account holder: from nothing to tonight's plan, on a laptop, on a phone, and without scripts."""

import re

import pytest
from playwright.sync_api import expect

from accounts.models import User
from scheduling.models import Workflow
from scheduling.services import account_plan
from tests.browser.chromium import NARROW, until, window
from tests.browser.conftest import Complaints
from tests.browser.test_journeys import points
from tests.browser.test_pages import DRAWN
from tests.people import PASSWORD, make_user
from tests.scheduling.night import make_night

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def page(browser):
    with window(browser) as context:
        yield context.new_page()


@pytest.fixture
def market(live_server):
    """A market with prices, and somebody else's work on it."""
    make_night(make_user("neighbour@example.org"))


def sign_up(page, address):
    page.get_by_label("E-mail address").fill(address)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_label("Timezone").select_option("Europe/Prague")
    page.get_by_role("button", name="Make account").click()


def register(page, name):
    page.get_by_label("Name").fill(name)
    page.get_by_label("How long it takes").fill("90")
    page.get_by_label("What it draws").fill("300")
    page.get_by_label("Done").fill("by 7am")
    page.get_by_label("Not before").fill("22:00")
    page.get_by_role("button", name="Register").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(name)


def test_an_account_holder_comes_from_nothing_to_tonights_plan(page, live_server, market):
    complaints = Complaints(page)
    page.goto(live_server.url)
    page.get_by_role("link", name="How it works").click()
    page.get_by_role("link", name="Start", exact=True).click()
    page.get_by_role("link", name="Make an account").click()
    sign_up(page, "holder@example.org")
    page.get_by_role("link", name="Schedule", exact=True).click()
    expect(page.get_by_text("Nothing is planned")).to_be_visible()
    page.get_by_role("link", name="Keys", exact=True).click()
    page.get_by_label("Name").fill("box-1")
    page.get_by_role("button", name="Make key").click()
    expect(page.locator("pre code")).to_contain_text(re.compile("^ae_"))
    page.get_by_role("link", name="Workflows", exact=True).click()
    page.get_by_role("link", name="New workflow").click()
    register(page, "embeddings")
    page.get_by_role("link", name="Tonight", exact=True).click()
    expect(page.get_by_text("A new plan is being made")).to_be_visible()
    account_plan(account=User.objects.get(email="holder@example.org"))
    page.get_by_role("link", name="Show it").click(timeout=10_000)  # the page has looked by itself
    row = page.locator("#jobs tbody tr").first
    expect(row).to_contain_text("embeddings")
    expect(row).to_contain_text("from its nameplate")
    expect(page.get_by_text("no plan of its jobs costs less than")).to_be_visible()
    assert page.locator("[data-chart=plan] canvas").evaluate(DRAWN)
    with page.expect_download() as loaded:
        page.get_by_role("link", name="load the proof").click()
    assert loaded.value.suggested_filename == "async-energy-plan-1.json"
    assert complaints.heard == []


def test_the_whole_way_works_on_a_phone_without_scripts(browser, live_server, market):
    with window(browser, width=NARROW, scripts=False) as context:
        page = context.new_page()
        page.goto(f"{live_server.url}/accounts/signup/")
        sign_up(page, "holder@example.org")
        page.goto(f"{live_server.url}/schedule/workflows/new/")
        register(page, "embeddings")
        page.get_by_role("button", name="Pause").click()
        expect(page.get_by_text("embeddings is paused.")).to_be_visible()
        page.get_by_role("button", name="Go on").click()
        account_plan(account=User.objects.get(email="holder@example.org"))
        page.goto(f"{live_server.url}/schedule/")
        expect(page.locator("canvas")).to_be_hidden()
        expect(page.locator("#jobs tbody tr").first).to_contain_text("embeddings")
        expect(page.locator("#prices tbody tr").first).to_be_visible()


def test_the_menu_of_a_phone_leads_to_the_plan(browser, own):
    site, cookie = own
    with window(browser, width=NARROW) as context:
        context.add_cookies([cookie])
        page = context.new_page()
        page.goto(site.url)
        link = page.get_by_role("navigation", name="Site").get_by_role("link", name="Schedule")
        expect(link).to_be_hidden()
        page.get_by_role("button", name="Menu").click()
        link.click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Tonight")
        assert page.locator("[data-chart=plan] canvas").evaluate(DRAWN)


def test_the_offered_deadline_is_set_with_the_keyboard(page, own):
    site, cookie = own
    page.context.add_cookies([cookie])
    page.goto(f"{site.url}/schedule/")
    misfits = page.locator(".notice", has_text="reindex, does not fit")  # what else fits ill depends on the hour
    misfits.get_by_role("button", name="Set the deadline: by").first.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").first).to_contain_text("reindex is now due by")
    assert Workflow.objects.get(name="reindex").deadline.startswith("by ")


@pytest.mark.parametrize(
    ("name", "kind", "token"),
    [("tonight", "plan", "money"), ("tonight", "months", "money"), ("planned-run", "power", "energy")],
)
def test_charts_are_drawn_in_the_colour_of_their_quantity_and_again_in_the_dark(page, own, name, kind, token):
    site, cookie = own
    page.context.add_cookies([cookie])
    page.goto(site[name])
    canvas = f"[data-chart={kind}] canvas"
    assert points(page, canvas, token) > 50
    page.emulate_media(color_scheme="dark")
    until(page, lambda: points(page, canvas, token) > 50)


def test_a_visitor_finds_the_cheapest_hours_without_an_account(page, live_server, market):
    complaints = Complaints(page)
    page.goto(f"{live_server.url}/when-is-it-cheapest/")
    page.evaluate("window.sameDocument = true")
    page.get_by_label("a job of").fill("2")
    page.keyboard.press("Tab")
    expect(page).to_have_url(re.compile(r"hours=2"))
    expect(page.locator("#jobs tbody tr")).to_contain_text("2 h at 350 W")
    page.get_by_label("and done").fill("whenever")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="That time can’t be read")).to_be_visible()
    assert page.evaluate("window.sameDocument")
    assert complaints.heard == []
