"""Message catalogues: `locale/LANGUAGE/LC_MESSAGES/{django,djangojs}.po`, and the `.mo` files read at run time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import polib

from vlaarena.translations.extraction import Message, of_pages, of_scripts

SOURCES = {"django": of_pages, "djangojs": of_scripts}
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]")
HEADER = {
    "Content-Type": "text/plain; charset=UTF-8",
    "Content-Transfer-Encoding": "8bit",
    "MIME-Version": "1.0",
    "Plural-Forms": "nplurals=2; plural=(n != 1);",
}


def po_path(root: Path, language: str, domain: str) -> Path:
    return root / "locale" / language / "LC_MESSAGES" / f"{domain}.po"


def languages(root: Path) -> list[str]:
    return sorted(path.name for path in (root / "locale").iterdir() if path.is_dir())


def update(root: Path, language: str, domain: str) -> polib.POFile:
    """Regenerate the catalogue from the sources. Translations are kept, and strings no longer in use removed."""
    path = po_path(root, language, domain)
    known = {_message(entry): entry for entry in (polib.pofile(str(path)) if path.exists() else ())}
    catalogue = polib.POFile(wrapwidth=120)
    catalogue.metadata = {"Language": language, **HEADER}
    for message in sorted(SOURCES[domain](root)):
        catalogue.append(known.get(message) or _entry(message))
    path.parent.mkdir(parents=True, exist_ok=True)
    catalogue.save(str(path))
    return catalogue


def compile_all(root: Path) -> list[Path]:
    """Write every `.mo` file. Returns their paths."""
    written = []
    for path in sorted((root / "locale").glob("*/LC_MESSAGES/*.po")):
        polib.pofile(str(path)).save_as_mofile(str(path.with_suffix(".mo")))
        written.append(path.with_suffix(".mo"))
    return written


def missing(root: Path, language: str, domain: str) -> Iterator[str]:
    """A line for each string without a translation, or whose translation has other placeholders."""
    path = po_path(root, language, domain)
    known = {_message(entry): entry for entry in polib.pofile(str(path))}
    for message, place in sorted(SOURCES[domain](root).items()):
        entry = known.get(message)
        if entry is None or not entry.translated():
            yield f"{place}: not translated: {message.text!r}"
        elif trouble := _misplaced(entry):
            yield f"{place}: {message.text!r}: {trouble}"


def _misplaced(entry: polib.POEntry) -> str:
    """What is wrong with the placeholders, or "". A singular form may omit its number: "one vote"."""
    wanted = set(PLACEHOLDER.findall(entry.msgid_plural or entry.msgid))
    for form in list(entry.msgstr_plural.values())[1:] if entry.msgid_plural else [entry.msgstr]:
        if (found := set(PLACEHOLDER.findall(form))) != wanted:
            return f"placeholders are {sorted(wanted)}, the translation has {sorted(found)}"
    return ""


def _message(entry: polib.POEntry) -> Message:
    return Message(entry.msgid, entry.msgid_plural or "", entry.msgctxt or "")


def _entry(message: Message) -> polib.POEntry:
    plural = {"msgid_plural": message.plural, "msgstr_plural": {0: "", 1: ""}} if message.plural else {}
    return polib.POEntry(msgid=message.text, msgctxt=message.context or None, **plural)
