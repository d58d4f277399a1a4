"""Pages of the corpus."""

from django.urls import path

from bench import views

app_name = "bench"
urlpatterns = [
    path("", views.home, name="home"),
    path("bench/", views.measure, name="measure"),
    path("bench/leaderboard/", views.leaderboard, name="leaderboard"),
    path("bench/compare/", views.compare, name="compare"),
    path("bench/picker/", views.picker, name="picker"),
    path("bench/data/", views.data, name="data"),
    path("bench/verify/", views.verify, name="verify"),
    path("bench/own/", views.own_runs, name="own-runs"),
    path("bench/configs/<config_key:config_key>/", views.configuration, name="configuration"),
    path("bench/methodology/", views.methodology_page, name="methodology"),
    path("bench/gates/", views.gates_page, name="gates"),
    path("bench/moderation-log/", views.moderation_log, name="moderation-log"),
    path("bench/runs/<uuid:run_id>/", views.run, name="run"),
]
