"""Work outside requests. Each task finds its own work, so it may run twice or be skipped."""

from celery import shared_task
from django.conf import settings

from accounts.models import User
from scheduling import services


@shared_task(name="scheduling.fetch_prices", soft_time_limit=600)
def fetch_prices() -> int:
    return services.feeds_fetch_due()


@shared_task(name="scheduling.close_work_over", soft_time_limit=120)
def close_work_over() -> int:
    return services.work_over_close()


@shared_task(name="scheduling.plan_due", soft_time_limit=600)
def plan_due() -> int:
    """Fan out, one task an account; embedded, where nobody else would take them, run them here.

    Each is a task of its own there, too: one that fails is logged, and the next one runs.
    """
    due = services.accounts_due() if settings.EMBEDDED else services.accounts_to_send()
    for account_id in due:
        plan_account.apply((account_id,)) if settings.EMBEDDED else plan_account.delay(account_id)
    return len(due)


@shared_task(name="scheduling.plan_account", soft_time_limit=120)
def plan_account(account_id: int) -> bool:
    account = User.objects.filter(pk=account_id, is_active=True).first()
    return account is not None and services.account_plan(account=account) is not None


@shared_task(name="scheduling.roll_up_runs", soft_time_limit=300)
def roll_up_runs() -> int:
    return services.runs_roll_up()


@shared_task(name="scheduling.send_notices", soft_time_limit=120)
def send_notices() -> int:
    services.notices_collect()
    return services.notices_send_due()


@shared_task(name="scheduling.settle_savings", soft_time_limit=300)
def settle_savings() -> int:
    return services.savings_settle_due()
