"""Pages of scheduling. They parse, call a service or a selector, and show the outcome."""

from scheduling.views.certificate import certificate
from scheduling.views.cheapest import cheapest
from scheduling.views.controllers import controllers
from scheduling.views.notices import notices, notices_test
from scheduling.views.public import how_it_works, quickstart
from scheduling.views.runs import run, runs
from scheduling.views.settings import pause, settings
from scheduling.views.tonight import tonight
from scheduling.views.workflows import (
    ACTS,
    workflow,
    workflow_act,
    workflow_deadline,
    workflow_delete,
    workflow_edit,
    workflow_new,
    workflows,
)

__all__ = [
    "ACTS",
    "certificate",
    "cheapest",
    "controllers",
    "how_it_works",
    "notices",
    "notices_test",
    "pause",
    "quickstart",
    "run",
    "runs",
    "settings",
    "tonight",
    "workflow",
    "workflow_act",
    "workflow_deadline",
    "workflow_delete",
    "workflow_edit",
    "workflow_new",
    "workflows",
]
