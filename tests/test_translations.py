"""Every text that people read exists in Chinese and Russian, and the compiled catalogs are the written ones."""

from __future__ import annotations

import ast
import gettext
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from flashcards.configuration import ROOT

LOCALES = ("zh_Hans", "ru")
TRANSLATE = re.compile(r'{%\s*translate "((?:[^"\\]|\\.)*)"')
BLOCK = re.compile(r"{%\s*blocktranslate[^%]*%}(.*?)(?:{%\s*plural\s*%}.*?)?{%\s*endblocktranslate\s*%}", re.DOTALL)
CALLS = {"gettext", "gettext_lazy", "ngettext", "pgettext", "_"}
APPS = ("accounts", "review", "mcp_bridge", "sqlgate", "flashcards")


def texts_of_templates() -> Iterator[str]:
    for file in (ROOT / "templates").rglob("*.html"):
        source = file.read_text(encoding="utf-8")
        yield from TRANSLATE.findall(source)
        yield from (re.sub(r"{{\s*(\w+)\s*}}", r"%(\1)s", block) for block in BLOCK.findall(source))


def texts_of_code() -> Iterator[str]:
    files = [file for app in APPS for file in (ROOT / app).rglob("*.py")]
    for node in (node for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS:
            yield from (str(arg.value) for arg in node.args[:1] if isinstance(arg, ast.Constant))


def written(locale: str) -> dict[str, str]:
    """The entries of the .po file: each text with its translation, of a plural the first form."""
    text = (ROOT / "locale" / locale / "LC_MESSAGES" / "django.po").read_text(encoding="utf-8")
    entries = re.findall(
        r'^msgid ((?:".*"\n)+)(?:msgid_plural (?:".*"\n)+)?msgstr(?:\[0\])? ((?:".*"\n?)+)', text, re.MULTILINE
    )
    return {unquoted(source): unquoted(target) for source, target in entries}


def unquoted(lines: str) -> str:
    return "".join(ast.literal_eval(line) for line in lines.strip().split("\n"))


def compiled(locale: str) -> gettext.GNUTranslations:
    file = Path(ROOT / "locale" / locale / "LC_MESSAGES" / "django.mo")
    with file.open("rb") as source:
        return gettext.GNUTranslations(source)


@pytest.mark.parametrize("locale", LOCALES)
def test_every_text_is_translated(locale):
    known = written(locale)
    texts = {*texts_of_templates(), *texts_of_code()}
    assert len(texts) > 50
    assert sorted(text for text in texts if not known.get(text)) == []


@pytest.mark.parametrize("locale", LOCALES)
def test_the_compiled_catalog_is_the_written_one(locale):
    catalog = compiled(locale)
    entries = written(locale)
    assert {text: catalog.gettext(text) for text in entries if text and "%d" not in text} == {
        text: said for text, said in entries.items() if text and "%d" not in text
    }
    assert all(catalog.ngettext(text, text, 1) == said for text, said in entries.items() if "%d" in text)


@pytest.mark.parametrize("locale", LOCALES)
def test_translations_keep_what_is_filled_in(locale):
    for text, said in written(locale).items():
        assert sorted(re.findall(r"%\(\w+\)s|%d|</?\w+>", text)) == sorted(re.findall(r"%\(\w+\)s|%d|</?\w+>", said)), (
            text
        )


def test_russian_counts_as_russian_does():
    catalog = compiled("ru")
    forms = [catalog.ngettext("That code is not right. %d try left.", "", n) % n for n in (1, 2, 4)]
    assert [form.split(". ")[1] for form in forms] == [
        "Осталась 1 попытка.",
        "Осталось 2 попытки.",
        "Осталось 4 попытки.",
    ]
