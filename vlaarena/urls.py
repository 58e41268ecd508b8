"""Every address of the site: pages, the API, its description, and the admin."""

from __future__ import annotations

from csp.constants import UNSAFE_INLINE
from csp.decorators import csp_update
from django.contrib import admin
from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from arena.errors import nowhere
from vlaarena import health

admin.site.site_header = admin.site.site_title = "VLA Arena"
admin.site.index_title = "Moderation"

# Swagger writes its styles into the page, which this page alone allows; its scripts stay files of ours.
api_docs = csp_update({"style-src": [UNSAFE_INLINE]})(SpectacularSwaggerSplitView.as_view(url_name="schema"))

urlpatterns = [
    path("", include("vlaarena.pages")),
    path("admin/", admin.site.urls),
    path("api/health", health.health, name="health"),
    path("api/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("api/docs/", api_docs, name="api-docs"),
    path("api/", include("arena.urls")),
    path("api/", include("policies.urls")),
    path("api/", include("rankings.urls")),
    path("api/<path:address>", nowhere),
]
