"""Column types that read and order the same on SQLite and PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models.expressions import Combinable

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper

TAG_END = "\x01"
_ENCODE = str.maketrans({"\x01": "\x02\x02", "\x02": "\x02\x03"})


def encode_tag(tag: str) -> str:
    """One tag as it stands inside a `TagsField` column, its terminator included."""
    return tag.translate(_ENCODE) + TAG_END


def encode_tags(tags: list[str]) -> str:
    """A list of tags as column text whose code-point order is the order of the lists, element by element."""
    return "".join(map(encode_tag, tags))


def decode_tags(text: str) -> list[str]:
    """The list that `encode_tags` made `text` from."""
    return [part.replace("\x02\x02", "\x01").replace("\x02\x03", "\x02") for part in text.split(TAG_END)[:-1]]


# The type checker wants Django's fields subscripted; at run time they cannot be.
if TYPE_CHECKING:
    _Text = models.TextField[str | Combinable, str]
    _OptionalText = models.TextField[str | Combinable | None, str | None]
    _Tags = models.TextField[list[str] | Combinable, list[str]]
else:
    _Text = _OptionalText = _Tags = models.TextField


class _CodePointOrder:
    """Text that compares and orders by code point.

    SQLite's BINARY collation does so by itself; PostgreSQL needs the "C" collation, because the database's own may be
    any language's.
    """

    def db_parameters(self, connection: BaseDatabaseWrapper) -> dict[str, Any]:
        # Not by db_collation: that names one collation for every engine.
        return {"type": "text", "check": None, "collation": "C" if connection.vendor == "postgresql" else None}


class CodePointTextField(_CodePointOrder, _Text):
    """One text that compares and orders by code point."""


class OptionalCodePointTextField(_CodePointOrder, _OptionalText):
    """The same for a column that may be NULL."""


class TagsField(_CodePointOrder, _Tags):
    """An ordered list of tags in one text column (see `encode_tags`).

    One text serves equality, DISTINCT and element-wise order on both engines, which neither JSON nor arrays do alike.
    """

    def from_db_value(self, value: str | None, *_: object) -> list[str] | None:
        return None if value is None else decode_tags(value)

    def to_python(self, value: Any) -> Any:
        return decode_tags(value) if isinstance(value, str) else value

    def get_prep_value(self, value: Any) -> Any:
        return encode_tags(list(value)) if isinstance(value, list | tuple) else value

    def value_to_string(self, obj: models.Model) -> str:
        return encode_tags(self.value_from_object(obj))
