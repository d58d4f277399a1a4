"""The moderators' desk in a browser: the queue, one run, and a decision taken with the keyboard."""

import re
from importlib import import_module

import pytest
from django.apps import apps
from playwright.sync_api import expect

from tests.bench.pages_corpus import submit_recorded_run
from tests.browser.chromium import NARROW, WIDE, window
from tests.browser.conftest import Complaints
from tests.browser.test_accessibility import WCAG, serious_faults
from tests.people import PASSWORD, make_maintainer, make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def waiting(live_server):
    """A run that nobody has decided on, and somebody who may: tests before this one emptied all tables."""
    import_module("bench.migrations.0002_grant_moderation").grant(apps, None)
    make_maintainer()
    return submit_recorded_run(make_user())


def sign_in(page, live_server):
    page.goto(f"{live_server.url}/admin/login/?next=/admin/bench/run/")
    page.locator("#id_username").fill("maintainer@example.org")
    page.locator("#id_password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/admin/bench/run/$"))


@pytest.mark.parametrize(("width", "scheme"), [(WIDE, "light"), (NARROW, "dark")])
def test_the_desk_has_no_serious_fault_and_nothing_complains(browser, live_server, waiting, width, scheme):
    with window(browser, width=width, scheme=scheme) as context:
        page = context.new_page()
        complaints = Complaints(page)
        sign_in(page, live_server)
        addresses = ("/admin/", "/admin/bench/run/", f"/admin/bench/run/{waiting.pk}/change/")
        for address in addresses:
            page.goto(live_server.url + address, wait_until="networkidle")
            assert complaints.heard == [], address
        for address in addresses:  # later, as axe-core writes inline styles of its own
            page.goto(live_server.url + address, wait_until="networkidle")
            assert serious_faults(page, rules=WCAG) == [], address  # the markup is Django's


def test_a_maintainer_publishes_a_run_and_it_stands_on_the_board(browser, live_server, waiting):
    with window(browser) as context:
        page = context.new_page()
        sign_in(page, live_server)
        page.get_by_role("link", name=waiting.model).first.click()
        page.get_by_role("radio", name="Publish").check()
        page.get_by_role("button", name="Record the decision").click()
        expect(page.locator(".desk-state")).to_have_text("published")
        page.goto(f"{live_server.url}/bench/runs/{waiting.pk}/")
        expect(page.get_by_role("heading", level=1)).to_contain_text(waiting.model)
        expect(page.get_by_text("Not public.")).to_have_count(0)
