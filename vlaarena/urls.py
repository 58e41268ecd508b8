"""The URLs of the site: pages, the API, its description, and the admin."""

from __future__ import annotations

from csp.constants import UNSAFE_INLINE
from csp.decorators import csp_update
from django.contrib import admin
from django.urls import include, path, register_converter
from django.urls.converters import PathConverter
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from arena.api.refusals import nowhere
from vlaarena import health, preferences
from vlaarena.about_page import about
from vlaarena.home_page import home
from vlaarena.monitoring import analytics_page, metrics, status_page


class AnythingConverter(PathConverter):
    """Matches any path, including line ends, which Django's own converter does not match."""

    regex = "(?s:.+)"


register_converter(AnythingConverter, "anything")
admin.autodiscover()

# Swagger uses inline styles, which only this page allows. Its scripts are our static files.
_swagger = SpectacularSwaggerSplitView.as_view(url_name="schema", template_name="api_docs.html")
api_docs = csp_update({"style-src": [UNSAFE_INLINE]})(_swagger)

urlpatterns = [
    path("", home, name="home"),
    path("about/", about, name="about"),
    path("wish", preferences.save, name="wish"),
    path("strings/<str:language>.<str:version>.js", preferences.Strings.as_view(), name="strings"),
    path("", include("arena.pages.urls")),
    path("", include("robots.pages.urls")),
    path("", include("texts.pages")),
    path("", include("rankings.pages.urls")),
    path("", include("community.urls")),
    path("", include("wormarena.pages.urls")),
    path("", include("people.urls")),
    path("", include("exports.urls")),
    path("", include("studies.urls")),
    path("admin/status/", admin.site.admin_view(status_page.status), name="admin-status"),
    path("admin/analytics/", admin.site.admin_view(analytics_page.page), name="admin-analytics"),
    path("admin/", admin.site.urls),
    path("metrics", metrics.metrics, name="metrics"),
    path("api/health", health.health, name="health"),
    path("api/health/live", health.live, name="health-live"),
    path("api/health/ready", health.ready, name="health-ready"),
    path("api/analytics", analytics_page.AnalyticsView.as_view(), name="analytics"),
    path("api/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("api/docs/", api_docs, name="api-docs"),
    path("api/", include("arena.urls")),
    path("api/", include("robots.urls")),
    path("api/", include("studies.api_urls")),
    path("api/", include("texts.urls")),
    path("api/", include("voice.urls")),
    path("api/", include("policies.urls")),
    path("api/", include("rankings.api.urls")),
    path("api/wormarena/", include("wormarena.api.urls")),
    path("api/<anything:address>", nowhere),
]
