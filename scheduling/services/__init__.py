"""Writes of scheduling. Each owns its transaction and its rule."""

from scheduling.services.account import account_update, controller_contact, controller_update
from scheduling.services.acks import Said, schedule_ack
from scheduling.services.advise import Advice, advise
from scheduling.services.feeds import feeds_fetch_due
from scheduling.services.notices import notice_test, notices_collect, notices_send_due
from scheduling.services.planning import account_plan, accounts_due, accounts_to_send, work_over_close
from scheduling.services.prices import document_confirm, forecast_refresh, prices_load_csv
from scheduling.services.runs import SAMPLES_AT_MOST, Taken, runs_ingest, runs_roll_up, samples_append
from scheduling.services.savings import savings_settle_due
from scheduling.services.workflows import (
    workflow_create,
    workflow_delete,
    workflow_find,
    workflow_run_now,
    workflow_skip_next,
    workflow_update,
)

__all__ = [
    "SAMPLES_AT_MOST",
    "Advice",
    "Said",
    "Taken",
    "account_plan",
    "account_update",
    "accounts_due",
    "accounts_to_send",
    "advise",
    "controller_contact",
    "controller_update",
    "document_confirm",
    "feeds_fetch_due",
    "forecast_refresh",
    "notice_test",
    "notices_collect",
    "notices_send_due",
    "prices_load_csv",
    "runs_ingest",
    "runs_roll_up",
    "samples_append",
    "savings_settle_due",
    "schedule_ack",
    "work_over_close",
    "workflow_create",
    "workflow_delete",
    "workflow_find",
    "workflow_run_now",
    "workflow_skip_next",
    "workflow_update",
]
