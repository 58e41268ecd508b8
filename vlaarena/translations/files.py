"""The catalogues of a language: `locale/LANGUAGE/LC_MESSAGES/{django,djangojs}.po`, and the `.mo` read at run time."""

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
    """Write the catalogue anew from the sources: known translations stay, what nobody says any more goes."""
    path = po_path(root, language, domain)
    known = {_message(entry): entry for entry in (polib.pofile(str(path)) if path.exists() else ())}
    catalogue = polib.POFile(wrapwidth=120)
    catalogue.metadata = {"Language": language, **HEADER}
    for message, _place in sorted(SOURCES[domain](root).items()):
        catalogue.append(known.get(message) or _entry(message))
    path.parent.mkdir(parents=True, exist_ok=True)
    catalogue.save(str(path))
    return catalogue


def compile_all(root: Path) -> list[Path]:
    """Write every `.mo`; returns them."""
    written = []
    for path in sorted((root / "locale").glob("*/LC_MESSAGES/*.po")):
        polib.pofile(str(path)).save_as_mofile(str(path.with_suffix(".mo")))
        written.append(path.with_suffix(".mo"))
    return written


def missing(root: Path, language: str, domain: str) -> Iterator[str]:
    """Strings that the sources say and the language does not, or says with other placeholders."""
    path = po_path(root, language, domain)
    known = {_message(entry): entry for entry in polib.pofile(str(path))}
    for message, place in sorted(SOURCES[domain](root).items()):
        entry = known.get(message)
        if entry is None or not entry.translated():
            yield f"{place}: not translated: {message.text!r}"
        elif trouble := _misplaced(entry):
            yield f"{place}: {message.text!r}: {trouble}"


def _misplaced(entry: polib.POEntry) -> str:
    """The single form of a plural may leave its number out: "one vote"."""
    wanted = set(PLACEHOLDER.findall(entry.msgid_plural or entry.msgid))
    forms = list(entry.msgstr_plural.values()) if entry.msgid_plural else [entry.msgstr]
    for form in forms[1:] if entry.msgid_plural else forms:
        if set(PLACEHOLDER.findall(form)) != wanted:
            return f"placeholders are {sorted(wanted)}, the translation has {sorted(set(PLACEHOLDER.findall(form)))}"
    return ""


def _message(entry: polib.POEntry) -> Message:
    return Message(entry.msgid, entry.msgid_plural or "", entry.msgctxt or "")


def _entry(message: Message) -> polib.POEntry:
    plural = {"msgid_plural": message.plural, "msgstr_plural": {0: "", 1: ""}} if message.plural else {}
    return polib.POEntry(msgid=message.text, msgctxt=message.context or None, **plural)
