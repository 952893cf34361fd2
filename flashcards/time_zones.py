"""Time zones by their IANA names."""

from __future__ import annotations

import zoneinfo
from functools import cache

# Files that lie beside the time zones and name none.
_NO_ZONES = frozenset({"Factory", "localtime", "posixrules"})


@cache
def time_zone_names() -> frozenset[str]:
    """Every IANA name this machine knows, spelt exactly. A look-up in it opens no file, whatever the name says."""
    return frozenset(zoneinfo.available_timezones()) - _NO_ZONES


def clean_time_zone(name: str) -> str:
    """`name` if it is an IANA time zone; ValueError says the form."""
    if name not in time_zone_names():
        raise ValueError("must be an IANA time zone such as Europe/Paris, America/New_York or UTC, spelt exactly")
    return name
