"""Pages to learn from, the feed, and what search engines ask for."""

from django.contrib.sitemaps.views import sitemap
from django.urls import path
from django.views.decorators.http import require_safe

from learn import programs, views
from learn.feeds import BlogFeed
from learn.sitemaps import SITEMAPS

app_name = "learn"
urlpatterns = [
    path("learn/", views.index, name="index"),
    path("learn/glossary/", views.glossary, name="glossary"),
    path("blog/", views.blog, name="blog"),
    path("blog/feed.xml", require_safe(BlogFeed()), name="feed"),
    path("blog/where-the-energy-goes/", views.energy, name="energy"),
    path("blog/<slug:slug>/", views.post, name="post"),
    path("bench/api/", programs.api, name="api"),
    path("bench/mcp/", programs.mcp, name="mcp"),
    path("sitemap.xml", require_safe(sitemap), {"sitemaps": SITEMAPS}, name="sitemap"),
    path("robots.txt", views.robots, name="robots"),
]
