"""Pages of scheduling."""

from django.urls import path

from scheduling import views

app_name = "scheduling"
urlpatterns = [
    path("quickstart/", views.quickstart, name="quickstart"),
    path("how-it-works/", views.how_it_works, name="how-it-works"),
    path("when-is-it-cheapest/", views.cheapest, name="cheapest"),
    path("schedule/", views.tonight, name="tonight"),
]
