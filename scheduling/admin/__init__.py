from scheduling.admin.prices import FeedAdmin, MarketAdmin, PriceDocumentAdmin, PricePointAdmin
from scheduling.admin.schedules import RunRecordAdmin, ScheduleVersionAdmin, WorkflowAdmin

__all__ = [
    "FeedAdmin",
    "MarketAdmin",
    "PriceDocumentAdmin",
    "PricePointAdmin",
    "RunRecordAdmin",
    "ScheduleVersionAdmin",
    "WorkflowAdmin",
]
