"""Every string that people see can be said in another language, and German says them all."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import polib
import pytest
from django.conf import settings
from django.test import Client
from django.utils import translation

from tests.factories import PolicyFactory, VoteFactory
from vlaarena.translations import files
from vlaarena.translations.extraction import Message, of_pages, of_scripts

ROOT = Path(settings.BASE_DIR)
SPOKEN = ("aria-label", "title", "placeholder", "alt")
# Names, units, keys, and what is data: instructions, what a policy says of itself.
NAMES = re.compile(r"VLA Arena|API|MuJoCo|English|Deutsch|WidowX 250s|[¼½]?×?")
VOID = {"meta", "link", "input", "img", "br", "path", "line", "circle", "rect"}


@pytest.mark.parametrize("domain", ["django", "djangojs"])
def test_german_says_every_string_with_its_placeholders(domain: str) -> None:
    assert list(files.missing(ROOT, "de", domain)) == []


@pytest.mark.parametrize("domain", ["django", "djangojs"])
def test_german_says_nothing_that_no_source_says(domain: str) -> None:
    said = {
        Message(e.msgid, e.msgid_plural or "", e.msgctxt or "") for e in polib.pofile(files.po_path(ROOT, "de", domain))
    }
    assert said - set(files.SOURCES[domain](ROOT)) == set()


def test_strings_are_found_in_templates_python_scripts_and_data() -> None:
    pages, scripts = of_pages(ROOT), of_scripts(ROOT)
    assert Message("Skip to the content") in pages
    assert Message("Closer to the goal") in pages
    assert Message("Lift the named object off the table and hold it.") in pages
    assert Message("Working: step %(step)s of %(all)s") in scripts
    assert Message("%(count)s battle", "%(count)s battles") in scripts
    assert Message("Published weights of OpenVLA 7B; not trained by VLA Arena") in scripts  # told with the vote


class Texts(HTMLParser):
    """What a person reads or hears of a page, with what may be left as it is taken out."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._open: list[bool] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        data = tag in ("script", "style", "code", "kbd") or "data-suggestion" in said or said.get("lang") == "en"
        if tag not in VOID:
            self._open.append(data)
        if not any(self._open):
            self.found += [value for name in SPOKEN if (value := said.get(name))]

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID and self._open:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if not any(self._open):
            self.found.append(data)


def mark(text: str) -> str:
    return "".join("¤" if letter.isalpha() else letter for letter in text)


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/", "/battle", "/models", "/battle/battle_unknown"])
def test_no_page_says_anything_that_cannot_be_translated(
    client: Client, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a language in which every letter is ¤, no letter is left but those of names."""
    from django.utils.translation import trans_real

    whole = trans_real.gettext, trans_real.ngettext
    # Django keeps what it looks up first: it is made to do so before, or every later test would read ¤.
    for keeper in ("django.utils.translation._trans", "django.utils.translation.trans_real"):
        monkeypatch.setattr(f"{keeper}.gettext", lambda text: _marked(whole[0](text)))
        monkeypatch.setattr(f"{keeper}.ngettext", lambda one, many, count: _marked(whole[1](one, many, count)))
    reader = Texts()
    reader.feed(client.get(path).content.decode())
    left = [text.strip() for text in reader.found if re.search(r"[A-Za-z]{2}", NAMES.sub("", text))]
    assert left == []


def _marked(text: str) -> str:
    parts = re.split(r"(%\(\w+\)[sd])", str(text))
    return "".join(part if part.startswith("%(") else mark(part) for part in parts)


@pytest.mark.django_db
def test_a_visitor_who_reads_german_gets_german(client: Client) -> None:
    VoteFactory()
    page = client.get("/", headers={"Accept-Language": "de-DE,de;q=0.9"}).content.decode()
    assert '<html lang="de"' in page
    assert "Duell beginnen" in page
    assert "Start a battle" not in page


@pytest.mark.django_db
def test_the_switch_keeps_the_language_and_goes_back_to_the_page(client: Client) -> None:
    answer = client.post("/wish", {"language": "de", "next": "/models"})
    assert (answer.status_code, answer["Location"]) == (302, "/models")
    assert "Die Modelle" in client.get("/models").content.decode()
    client.post("/wish", {"language": "en", "next": "/models"})
    assert "Meet the models" in client.get("/models").content.decode()


@pytest.mark.django_db
def test_shortcuts_are_on_until_somebody_switches_them_off(client: Client) -> None:
    assert 'data-shortcuts="on"' in client.get("/models").content.decode()
    client.post("/wish", {"shortcuts": "off"})
    page = client.get("/models").content.decode()
    assert 'data-shortcuts="off"' in page
    assert 'name="shortcuts" value="off" aria-pressed="true"' in page
    refused = client.post("/wish", {"shortcuts": "sometimes"})
    assert refused.status_code == 400
    assert "shortcuts: on, off" in refused.content.decode()
    client.post("/wish", {"shortcuts": "on"})
    assert 'data-shortcuts="on"' in client.get("/models").content.decode()


@pytest.mark.django_db
def test_the_theme_is_kept_and_nothing_else_can_be(client: Client) -> None:
    client.post("/wish", {"theme": "dark"})
    assert 'data-theme="dark"' in client.get("/models").content.decode()
    for wrong in ({"theme": "pink"}, {"language": "xx"}):
        assert client.post("/wish", wrong).status_code == 400
    assert client.get("/wish").status_code == 405


@pytest.mark.django_db
@pytest.mark.parametrize("elsewhere", ["https://example.org/", "//example.org", "javascript:alert(1)", "models"])
def test_the_switch_sends_nobody_elsewhere(client: Client, elsewhere: str) -> None:
    assert client.post("/wish", {"theme": "dark", "next": elsewhere})["Location"] == "/"


@pytest.mark.django_db
def test_strings_for_scripts_travel_once_and_not_at_all_in_english(client: Client) -> None:
    PolicyFactory()
    assert "/strings/" not in client.get("/battle").content.decode()
    page = client.get("/battle", headers={"Accept-Language": "de"}).content.decode()
    address = re.search(r'src="(/strings/de\.\w+\.js)" defer', page)
    assert address
    answer = client.get(address[1])
    assert "immutable" in answer["Cache-Control"]
    assert "Beide Roboter arbeiten." in answer.content.decode()
    assert "immutable" not in client.get("/strings/de.000000000000.js")["Cache-Control"]
    assert client.get("/strings/xx.000000000000.js").status_code == 404


def test_the_language_of_one_request_does_not_stay_for_the_next(client: Client) -> None:
    assert translation.get_language() == "en"
