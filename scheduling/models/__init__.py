from scheduling.models.account import NOTICES, Controller, SchedulingAccount, Tariff
from scheduling.models.claim import PlanClaim
from scheduling.models.market import Feed, Market, PriceDocument, PricePoint
from scheduling.models.notice import Notice
from scheduling.models.run import PowerProfile, RunRecord, SampleBatch, SavingsEntry
from scheduling.models.schedule import Ack, Placement, ScheduleVersion
from scheduling.models.workflow import Occurrence, Workflow

__all__ = [
    "NOTICES",
    "Ack",
    "Controller",
    "Feed",
    "Market",
    "Notice",
    "Occurrence",
    "Placement",
    "PlanClaim",
    "PowerProfile",
    "PriceDocument",
    "PricePoint",
    "RunRecord",
    "SampleBatch",
    "SavingsEntry",
    "ScheduleVersion",
    "SchedulingAccount",
    "Tariff",
    "Workflow",
]
