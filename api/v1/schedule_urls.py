from django.urls import URLPattern, URLResolver, path

from api.v1 import account, runs, schedule, workflows

urlpatterns: list[URLPattern | URLResolver] = [
    path("runs", runs.Runs.as_view(), name="runs"),
    path("runs/<uuid:run_id>/samples", runs.Samples.as_view(), name="run-samples"),
    path("schedule", schedule.Schedule.as_view(), name="schedule"),
    path("schedule/ack", schedule.Ack.as_view(), name="schedule-ack"),
    path("schedule/<int:number>/certificate", schedule.Certificate.as_view(), name="schedule-certificate"),
    path("advise", schedule.Advise.as_view(), name="advise"),
    path("workflows", workflows.Workflows.as_view(), name="workflows"),
    path("workflows/<uuid:workflow_id>", workflows.WorkflowDetail.as_view(), name="workflow"),
    path("workflows/<uuid:workflow_id>/skip-next", workflows.SkipNext.as_view(), name="workflow-skip-next"),
    path("workflows/<uuid:workflow_id>/run-now", workflows.RunNow.as_view(), name="workflow-run-now"),
    path("account", account.Account.as_view(), name="account"),
    path("markets", account.Markets.as_view(), name="markets"),
    path("savings", account.Savings.as_view(), name="savings"),
    path("controllers", account.Controllers.as_view(), name="controllers"),
    path("controllers/<str:controller_id>", account.Controller.as_view(), name="controller"),
]
