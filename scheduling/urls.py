"""Pages of scheduling."""

from django.urls import path

from scheduling import views

app_name = "scheduling"
WORKFLOW = "schedule/workflows/<uuid:workflow_id>/"
urlpatterns = [
    path("quickstart/", views.quickstart, name="quickstart"),
    path("how-it-works/", views.how_it_works, name="how-it-works"),
    path("when-is-it-cheapest/", views.cheapest, name="cheapest"),
    path("schedule/", views.tonight, name="tonight"),
    path("schedule/plans/<int:number>/certificate.json", views.certificate, name="certificate"),
    path("schedule/workflows/", views.workflows, name="workflows"),
    path("schedule/workflows/new/", views.workflow_new, name="workflow-new"),
    path(WORKFLOW, views.workflow, name="workflow"),
    path(f"{WORKFLOW}edit/", views.workflow_edit, name="workflow-edit"),
    path(f"{WORKFLOW}delete/", views.workflow_delete, name="workflow-delete"),
    path(f"{WORKFLOW}deadline/", views.workflow_deadline, name="workflow-deadline"),
    *(path(f"{WORKFLOW}{act}/", views.workflow_act, {"act": act}, name=f"workflow-{act}") for act in views.ACTS),
    path("schedule/runs/", views.runs, name="runs"),
    path("schedule/runs/<uuid:record_id>/", views.run, name="run"),
    path("schedule/controllers/", views.controllers, name="controllers"),
    path("schedule/settings/", views.settings, name="settings"),
    path("schedule/notices/", views.notices, name="notices"),
    path("schedule/notices/test/", views.notices_test, name="notices-test"),
    path("schedule/pause/", views.pause, {"paused": True}, name="pause"),
    path("schedule/resume/", views.pause, {"paused": False}, name="resume"),
]
