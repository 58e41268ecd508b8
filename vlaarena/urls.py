"""Every address of the site: pages, the API, its description, and the admin."""

from __future__ import annotations

from importlib.util import find_spec

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView

from vlaarena import health

urlpatterns: list[URLPattern | URLResolver] = [
    path("admin/", admin.site.urls),
    path("api/health", health.health, name="health"),
    path("api/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("api/docs/", SpectacularSwaggerView.as_view(url_name="schema"), name="api-docs"),
]

for rooms in ("arena.urls", "policies.urls", "rankings.urls"):
    if find_spec(rooms):
        urlpatterns.append(path("api/", include(rooms)))
if find_spec("vlaarena.pages"):
    urlpatterns.append(path("", include("vlaarena.pages")))
