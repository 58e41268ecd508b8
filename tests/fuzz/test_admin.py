"""The admin, asked and told what no page of it would send: it answers, and no vote changes.

Each case starts from the same rows, and comes with the token that Django's forms repeat, unless it is about its lack.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from html import unescape
from html.parser import HTMLParser
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import pytest
from django.contrib.admin.sites import site
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import DateField
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone
from django_celery_beat.models import ClockedSchedule, CrontabSchedule, IntervalSchedule, PeriodicTask, SolarSchedule
from hypothesis import strategies as st

from arena.models import Vote
from arena.queue import dispatch
from policies.models import Policy
from rankings.models import CountedVote, Finding, ModerationAct
from rankings.moderation import acts
from rankings.publication import aggregation, checking
from robots import play
from tests.factories import VoteFactory
from tests.fakes import FakeRuntime
from tests.fuzz.damage import ODD, damaged_bytes
from tests.fuzz.effort import fuzz
from tests.fuzz.world import TOKEN, World, cookies_of
from tests.people import logged_in

Pairs = list[tuple[str, str]]
"""Names and values, as an address or a form has them."""

MODELS = sorted(site._registry, key=lambda model: model._meta.label)
PEOPLE = ["moderator", "operator", "superuser"]
OF_DJANGO = "csrfmiddlewaretoken"
FORM = "application/x-www-form-urlencoded"
JUDGED = ("processing_status", "processing_error", "processed_at")
"""What the aggregation writes into a vote."""
OWN = re.compile(r'"?(django_session|django_otp|otp_)', re.IGNORECASE)
"""Tables of who is logged in."""

HOSTILE = [
    *(odd for odd in ODD if isinstance(odd, str)),
    *("0", "-1", "1", "01", "1.5", "1,2", "-9", "9" * 19, "9" * 40, "1e9", "0x1", "٣", "on", "True", "None"),
    *("'", '"', "\\", "%", "%%", "_", "_5F", "a' OR 1=1 --", "(", "(a+)+$", "[", "{}", "{0.__class__}", "<script>"),
    *("0000-01-01", "0001-01-01", "9999-12-31", "2026-02-30", "2026-01-01 00:00:00+99:99", "24:61", "99999"),
    *("a " * 1200, "[" * 20_000, "x" * 60_000, "\n", "\r\n", "a\nb", "\u2028", "\u202e", "../..", "//example.com"),
    *("delete_selected", "add", "id__exact=1&q=1", "?", "#", ";", "alpha", "widowx", "left_better"),
]
LOOKUPS = [
    *("", "__exact", "__in", "__isnull", "__gt", "__gte", "__lt", "__range", "__contains", "__regex", "__iregex"),
    *(
        "__year",
        "__month",
        "__week_day",
        "__date",
        "__time__gte",
        "__hour",
        "__id__exact",
        "__pk__in",
        "__isnull__exact",
    ),
    *("__nope", "__", "__exact__exact", "__user_id", "__name", "__battle__session__user_id", "__gte__lt"),
]
THERE = ["row-0", "row-1", "row-2", "row-3"]
"""Stand for keys of rows that are there: which they are, the database knows."""
YEARS = ["0", "1", "12", "31", "2026", "9999", "10000", "99999", "-1", "1.5", "9999-12-31", "0001-01-01T00:00:00+14:00"]
hostile = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=9), st.integers().map(str))
people = st.sampled_from(PEOPLE)
models = st.sampled_from(MODELS)


class Place(NamedTuple):
    """The arena of a test, who is logged in there, and how their calls are sent."""

    cookies: dict[str, dict[str, str]]
    committed: Callable[..., Any]
    forms: dict[tuple[str, str], Pairs | None]
    """Who, and an address -> what a browser would send from there; None for a page that this one may not see."""

    def filled(self, who: str, address: str) -> Pairs | None:
        if (who, address) not in self.forms:
            shown = self.client(who).get(address)
            self.forms[who, address] = Filled(shown.content.decode()).pairs if shown.status_code == 200 else None
        return self.forms[who, address]

    def client(self, who: str) -> Client:
        """As whoever that is, in a browser that does as Django says."""
        client = Client(enforce_csrf_checks=True)
        client.cookies.load(self.cookies.get(who, {"csrftoken": TOKEN}))
        return client


@pytest.fixture
def place(db: None, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Callable[..., Any]) -> Place:
    runtime = FakeRuntime()
    monkeypatch.setattr(play, "runtime", lambda: runtime)
    monkeypatch.setattr(dispatch, "send_to_workers", lambda rollouts: [play.play(name) for name in rollouts])
    world = World()
    sides = {"battle__left_model": Policy.objects.get(pk="alpha"), "battle__right_model": Policy.objects.get(pk="beta")}
    for choice in ("left_better", "right_better", "tie"):
        VoteFactory(vote=choice, **sides)
    aggregation.aggregate()
    root = User.objects.create_superuser("root", password="as long as it has to be")
    by = acts.By(root, "for the list")
    acts.exclude_votes(Vote.objects.all()[:1], by)
    acts.exclude_voter("somebody", by)
    Finding.objects.create(kind="outlier", subject="somebody", summary="always for b")
    Finding.objects.create(kind="shadow", subject="alpha", summary="moved")
    every = IntervalSchedule.objects.create(every=1, period="days")
    PeriodicTask.objects.create(name="hourly", task="rankings.tasks.aggregate", interval=every)
    PeriodicTask.objects.create(name="broken", task="nowhere", interval=every, kwargs="7", enabled=False)
    CrontabSchedule.objects.create(minute="0")
    ClockedSchedule.objects.create(clocked_time=timezone.now())
    SolarSchedule.objects.create(event="sunset", latitude=52, longitude=13)
    cookies = world.staff_cookies | {"superuser": cookies_of(logged_in(root))}
    return Place(cookies, django_capture_on_commit_callbacks, {})


@contextmanager
def nothing_kept(place: Place) -> Iterator[None]:
    """One case: what is told after the transaction is told, and then its rows are as before."""
    with transaction.atomic():
        with place.committed(execute=True):
            yield
        transaction.set_rollback(True)


@contextmanager
def only_read() -> Iterator[None]:
    """Fails where a table is written to, other than those of who is logged in."""

    def look(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        verb, *rest = sql.split()
        writes = verb.upper() in ("INSERT", "UPDATE", "DELETE", "REPLACE", "DROP", "ALTER", "CREATE", "TRUNCATE")
        assert not writes or any(OWN.match(word) for word in rest[:3]), f"a look at a page writes: {sql[:200]}"
        return execute(sql, params, many, context)

    with connection.execute_wrapper(look):
        yield


@contextmanager
def no_vote_changes() -> Iterator[None]:
    """The votes stay, and the counts are what they give but for those that the log says a moderator took out."""
    acts = ModerationAct.objects.filter(votes__gt=0)
    before, counting, logged = votes(), excluded(), acts.count()
    yield
    assert votes() == before
    assert checking.differences(boards=False) == []
    assert excluded() == counting or acts.count() > logged


def votes() -> list[dict[str, Any]]:
    rows = Vote.objects.order_by("pk").values()
    return [{name: value for name, value in row.items() if name not in JUDGED} for row in rows]


def excluded() -> list[tuple[Any, ...]]:
    return list(CountedVote.objects.order_by("pk").values_list("pk", "counted", "excluded"))


def encoded(pairs: Pairs) -> str:
    """As an address has them, halves of characters as well."""
    return urlencode(pairs, errors="surrogatepass")


def is_an_answer(response: HttpResponse) -> bool:
    return 200 <= response.status_code < 500


def listed(model: Any) -> str:
    return f"/admin/{model._meta.app_label}/{model._meta.model_name}/"


def fields_of(model: Any) -> list[str]:
    return sorted(field.name for field in model._meta.get_fields())


@st.composite
def queries(draw: st.DrawFn, model: Any) -> str:
    """What stands behind the question mark of a list: mostly what its links say, with other values."""
    own = [*("q", "o", "p", "e", "all"), *map(str, filters(model))] * 3
    odd = ["_popup", "_to_field", "_changelist_filters", "_facets", "_source_model", "page", "", "\x00", "pk", "id"]
    names = st.one_of(
        st.sampled_from([*own, *odd]),
        st.builds("{}{}".format, st.sampled_from([*filters(model), *fields_of(model)]), st.sampled_from(LOOKUPS)),
        hostile,
    )
    times = [field.name for field in model._meta.get_fields() if isinstance(field, DateField)] or ["start_time"]
    spans = st.builds(
        "{}{}".format, st.sampled_from(times), st.sampled_from(["__year", "__month", "__day", "__gte", ""])
    )
    of_times = st.lists(
        st.tuples(spans, st.sampled_from(YEARS)), min_size=1, max_size=2
    )  # alone: odd names end it first
    text = encoded(draw(st.one_of(of_times, st.lists(st.tuples(names, hostile), max_size=4))))
    return draw(st.one_of(st.just(text), damaged_bytes(text.encode()).map(lambda raw: raw.decode("latin-1"))))


def filters(model: Any) -> Sequence[Any]:
    return site._registry[model].list_filter or ("pk",)  # type: ignore[return-value]


@fuzz(
    "addresses of the admin", 200, who=people, asked=models.flatmap(lambda one: st.tuples(st.just(one), queries(one)))
)
def test_any_question_to_a_list_is_answered(place: Place, who: str, asked: tuple[Any, str]) -> None:
    model, query = asked
    with nothing_kept(place), only_read():
        assert is_an_answer(place.client(who).get(listed(model), QUERY_STRING=query))


def keyed(model: Any, text: str) -> str:
    """With the keys of rows that are there; of a row too many, the last one's."""
    keys = list(model._default_manager.order_by("pk").values_list("pk", flat=True)[: len(THERE)]) or [0]
    for place, name in enumerate(THERE):
        text = text.replace(name, str(keys[min(place, len(keys) - 1)]))
    return text


@st.composite
def addresses(draw: st.DrawFn, model: Any) -> str:
    """Of things that are not there, and of rows of this model."""
    part = hostile.map(lambda text: quote(text, safe="", errors="surrogatepass"))
    kind = draw(st.sampled_from(["row", "row", "row", "row", "model", "app", "r", "any"]))
    if kind == "row":
        view = draw(st.sampled_from(["change/", "history/", "delete/", "", "password/", "change", "run/", "x/"]))
        return f"{listed(model)}{draw(st.one_of(part, st.sampled_from(THERE)))}/{view}"
    if kind == "model":
        return f"{listed(model)}{draw(st.sampled_from(['add/', 'run/', 'import/', '../', 'add']))}"
    if kind == "app":
        return f"/admin/{draw(part)}/{draw(part)}/"
    if kind == "r":
        return f"/admin/r/{draw(part)}/{draw(part)}/"
    named = ["", "status/", "jsi18n/", "autocomplete/", "login/", "password_change/", "second-factor/", "r/1/1/"]
    return f"/admin/{draw(st.sampled_from(named))}"


places = models.flatmap(lambda model: st.tuples(st.just(model), addresses(model), queries(model)))


@fuzz("addresses of the admin", 200, who=people, asked=places)
def test_any_address_of_the_admin_is_answered(place: Place, who: str, asked: tuple[Any, str, str]) -> None:
    model, address, query = asked
    with nothing_kept(place):
        assert is_an_answer(place.client(who).get(keyed(model, address), QUERY_STRING=query))


def posted(place: Place, who: str, address: str, pairs: Pairs, query: str = "", token: str = TOKEN) -> HttpResponse:
    body = encoded([(OF_DJANGO, token), *pairs])
    return place.client(who).generic("POST", address, body, content_type=FORM, QUERY_STRING=query)


@st.composite
def ticked(draw: st.DrawFn, model: Any) -> Pairs:
    """An action with ticked rows: often one that the list has, and rows that are there."""
    own = [*(site._registry[model].actions or ["delete_selected"])]
    odd = st.one_of(st.sampled_from(["delete_selected", "", "retry", "exclude_votes", "__init__"]), hostile)
    pairs = [("action", str(draw(st.one_of(*[st.sampled_from(own)] * 4, odd))))]
    pairs += [("index", "0")] * draw(st.sampled_from([1, 1, 1, 0]))
    pairs += [("reason", "because")] * draw(st.sampled_from([1, 1, 0]))
    there = st.sampled_from(THERE)
    rows = draw(st.one_of(st.lists(there, min_size=1, max_size=6), st.lists(st.one_of(there, hostile), max_size=6)))
    pairs += [("_selected_action", row) for row in rows]
    more = ["select_across", "select_across", "index", "reason", "post", "_save"]
    for name in draw(st.lists(st.sampled_from(more), max_size=2)):
        pairs.append((name, draw(st.one_of(st.sampled_from(["0", "1", "yes", "because"]), hostile))))
    return pairs


acting = st.sampled_from([model for model in MODELS if site._registry[model].actions])


@fuzz(
    "posts to the admin",
    150,
    who=people,
    told=st.one_of(acting, acting, models).flatmap(lambda one: st.tuples(st.just(one), ticked(one))),
)
def test_any_action_on_any_rows_is_done_or_refused(place: Place, who: str, told: tuple[Any, Pairs]) -> None:
    model, pairs = told
    pairs = [(name, keyed(model, value)) for name, value in pairs]
    with nothing_kept(place), no_vote_changes():
        assert is_an_answer(posted(place, who, listed(model), pairs))


def _is_sent(field: dict[str, str]) -> bool:
    return field.get("type") not in ("checkbox", "radio", "submit", "file") or "checked" in field


class Filled(HTMLParser):
    """What a browser would send of a page's forms: names and values."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.pairs: Pairs = []
        self.name = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attributes}
        if tag in ("select", "textarea"):
            self.name = found.get("name", "")
            if tag == "textarea":
                self.pairs.append((self.name, ""))
        elif tag == "option" and self.name and "selected" in found:
            self.pairs.append((self.name, found.get("value", "")))
        elif tag == "input" and found.get("name", OF_DJANGO) != OF_DJANGO and _is_sent(found):
            self.pairs.append((found["name"], found.get("value", "")))

    def handle_endtag(self, tag: str) -> None:
        if tag in ("select", "textarea"):
            self.name = ""

    def handle_data(self, data: str) -> None:
        if self.pairs and self.name and self.pairs[-1][0] == self.name and self.lasttag == "textarea":
            self.pairs[-1] = (self.name, (self.pairs[-1][1] + data).removeprefix("\n"))


FORMS = [
    *("policies/policy/add/", "policies/policy/alpha/change/"),
    *("django_celery_beat/periodictask/add/", "django_celery_beat/periodictask/{task}/change/"),
    *("django_celery_beat/crontabschedule/add/", "django_celery_beat/intervalschedule/add/"),
    *("django_celery_beat/clockedschedule/add/", "django_celery_beat/solarschedule/add/"),
    *("auth/user/add/", "auth/user/{user}/change/", "auth/user/{user}/password/", "auth/group/add/"),
    *("password_change/", "second-factor/", "rankings/workerstatus/", "policies/policy/", "rankings/countedvote/"),
]
"""Pages with a form of their own."""


@st.composite
def spoilt(draw: st.DrawFn, good: Pairs) -> Pairs:
    """A form with a field or two that says something else, is missing, comes twice, or that the page does not have."""
    pairs = list(good)
    for _ in range(draw(st.integers(1, 4))):
        where = draw(st.integers(0, len(pairs))) if pairs else 0
        what = draw(st.sampled_from(["say", "say", "say", "leave out", "again", "add"]))
        if where == len(pairs) or what == "add":
            names = st.one_of(st.sampled_from(["id", "pk", "vote", "is_superuser", "_save", "_saveasnew"]), hostile)
            pairs.append((draw(names), draw(hostile)))
        elif what == "say":
            pairs[where] = (pairs[where][0], draw(hostile))
        elif what == "leave out":
            del pairs[where]
        else:
            pairs.insert(where, (pairs[where][0], draw(hostile)))
    return pairs


@fuzz(
    "posts to the admin",
    100,
    who=st.sampled_from(["operator", "superuser"]),
    page=st.sampled_from(FORMS),
    data=st.data(),
)
def test_any_form_is_taken_or_told_what_is_wrong(place: Place, who: str, page: str, data: st.DataObject) -> None:
    keys = {"task": PeriodicTask.objects.get(name="broken").pk, "user": User.objects.get(username="moderator").pk}
    address = f"/admin/{page.format(**keys)}"
    good = place.filled(who, address)
    if good is not None:
        pairs = data.draw(spoilt(good))
        with nothing_kept(place), no_vote_changes():
            assert is_an_answer(posted(place, who, address, pairs))


def test_what_a_form_shows_is_taken_as_it_is(place: Place) -> None:
    """Else the forms above would be refused for another reason than what is wrong with them."""
    for page in ("policies/policy/alpha/change/", "auth/user/{user}/change/"):
        address = f"/admin/{page.format(user=User.objects.get(username='moderator').pk)}"
        assert posted(place, "superuser", address, place.filled("superuser", address) or []).status_code == 302


fields = st.lists(st.tuples(hostile, hostile), max_size=4)


@fuzz("posts to the admin", 60, who=people, asked=places, fields=fields)
def test_any_form_to_any_address_is_answered(
    place: Place, who: str, asked: tuple[Any, str, str], fields: Pairs
) -> None:
    model, address, query = asked
    with nothing_kept(place), no_vote_changes():
        assert is_an_answer(posted(place, who, keyed(model, address), [("post", "yes"), *fields], query))


@fuzz("posts to the admin", 30, who=people, run=st.lists(st.tuples(st.sampled_from(["force", "reason"]), hostile)))
def test_the_button_of_the_boards_publishes_or_says_why_not(place: Place, who: str, run: Pairs) -> None:
    with nothing_kept(place), no_vote_changes():
        status = posted(place, who, "/admin/rankings/workerstatus/run/", run).status_code
        assert status == (403 if who == "moderator" else 302)


@fuzz(
    "posts to the admin",
    60,
    told=models.flatmap(lambda one: st.tuples(st.just(one), ticked(one))),
    token=st.one_of(hostile, st.text("abcdefghij", min_size=32, max_size=32)),
)
def test_a_form_that_is_not_of_ours_does_nothing(place: Place, told: tuple[Any, Pairs], token: str) -> None:
    model, pairs = told
    pairs = [(name, keyed(model, value)) for name, value in pairs]
    with nothing_kept(place), only_read():
        assert posted(place, "superuser", listed(model), pairs, token=token).status_code == 403
        assert posted(place, "superuser", "/admin/rankings/workerstatus/run/", pairs, token=token).status_code == 403


@pytest.mark.parametrize(
    ("where", "status", "told"),
    [
        ("arena/session/?last_active_at__year=99999", 302, ""),
        ("rankings/countedvote/?vote__voted_at__year=0", 302, ""),
        ("django_celery_beat/periodictask/?start_time__year=9999", 302, ""),
        ("django_celery_beat/periodictask/?start_time__year=9999&start_time__month=12&start_time__day=31", 302, ""),
        ("arena/session/?user_id__regex=(", 400, ""),
        ("arena/session/?q=" + "a+" * 1200, 200, "A search has at most 20 words"),
        ("arena/session/?q=" + "a" * 501, 200, "and 500 characters"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_question_that_cannot_be_asked_is_told_so(place: Place, where: str, status: int, told: str) -> None:
    response = place.client("superuser").get(f"/admin/{where}")
    assert response.status_code == status
    assert response.headers.get("Location", "?e=1").endswith("?e=1")
    assert told in response.content.decode()


@pytest.mark.parametrize("key", ["abc", "9" * 40, "1.5", "\x00", ""])
def test_a_ticked_row_that_is_none_of_the_list_is_named(place: Place, key: str) -> None:
    before, there = excluded(), str(CountedVote.objects.filter(counted=True)[0].pk)
    pairs = [("action", "exclude_votes"), ("index", "0"), ("reason", "stuffed"), ("_selected_action", there)]
    address = "/admin/rankings/countedvote/"
    assert "is not a row of this list" in told_to(place, "moderator", address, [*pairs, ("_selected_action", key)])
    assert excluded() == before
    assert "1 votes excluded" in told_to(place, "moderator", address, pairs)
    assert excluded() != before


def told_to(place: Place, who: str, address: str, pairs: Pairs) -> str:
    """The list as it is shown after an action."""
    client = place.client(who)
    sent = client.generic("POST", address, encoded([(OF_DJANGO, TOKEN), *pairs]), content_type=FORM)
    assert sent.status_code == 302
    return unescape(client.get(address).content.decode())


TASK = "django_celery_beat/periodictask/{task}/change/"


@pytest.mark.parametrize(
    ("page", "said", "told"),
    [
        (TASK, {"task": "x" * 201}, "at most 200 characters"),
        (TASK, {"args": "[" * 20_000}, "Not JSON, such as []"),
        (TASK, {"args": "7"}, "Give a list, such as []"),
        (TASK, {"kwargs": '{"__type__": [], "__value__": 1}'}, "Not JSON, such as {}"),
        (TASK, {"kwargs": "[]"}, "Give a dictionary, such as {}"),
        (TASK, {"headers": "7"}, "Give a dictionary, such as {}"),
        (
            TASK,
            {"interval": "", "crontab": "the one", "start_time_0": "9999-12-31", "start_time_1": "23:59:59"},
            "when a task is due",
        ),
        ("django_celery_beat/intervalschedule/add/", {"every": "2147483647", "period": "days"}, "when a task is due"),
        ("django_celery_beat/crontabschedule/add/", {"day_of_month": "31", "month_of_year": "2"}, "when a task is due"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_schedule_that_beat_could_not_follow_is_not_taken(
    place: Place, page: str, said: dict[str, str], told: str
) -> None:
    address = f"/admin/{page.format(task=PeriodicTask.objects.get(name='hourly').pk)}"
    good = dict(place.filled("operator", address) or [])
    assert set(said) <= set(good)
    if "crontab" in said:
        said = said | {"crontab": str(CrontabSchedule.objects.get().pk)}
    refused = posted(place, "operator", address, [*(good | said).items()])
    assert refused.status_code == 200
    assert told in unescape(refused.content.decode())


def test_a_task_without_headers_is_taken(place: Place) -> None:
    address = f"/admin/{TASK.format(task=PeriodicTask.objects.get(name='hourly').pk)}"
    pairs = dict(place.filled("operator", address) or []) | {"headers": "", "args": "", "kwargs": ""}
    assert posted(place, "operator", address, [*pairs.items()]).status_code == 302
    task = PeriodicTask.objects.get(name="hourly")
    assert (task.headers, task.args, task.kwargs) == ("{}", "[]", "{}")


def test_a_stored_task_that_cannot_be_sent_is_named_when_it_is_to_run(place: Place) -> None:
    key = str(PeriodicTask.objects.get(name="broken").pk)
    pairs = [("action", "run_tasks"), ("index", "0"), ("_selected_action", key)]
    page = told_to(place, "operator", "/admin/django_celery_beat/periodictask/", pairs)
    assert "Broken, kwargs: Give a dictionary" in page


def test_a_reason_that_the_log_cannot_keep_publishes_nothing(place: Place) -> None:
    published = aggregation.published_at()
    run = [("force", "1"), ("reason", "now\x00")]
    assert posted(place, "operator", "/admin/rankings/workerstatus/run/", run).status_code == 302
    assert aggregation.published_at() == published
