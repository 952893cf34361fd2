#!/usr/bin/env python
"""Run the service's commands; `python manage.py help` lists them."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Hand the command line to Django; for a database that is no help, one line unless --traceback is given."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "flashcards.settings")
    from django.core.management import execute_from_command_line
    from django.db import DatabaseError, InterfaceError

    try:
        execute_from_command_line(sys.argv)
    except (DatabaseError, InterfaceError) as error:
        from flashcards.health import database_fault

        fault = None if "--traceback" in sys.argv else database_fault(error)
        if fault is None:
            raise
        sys.exit(fault)


if __name__ == "__main__":
    main()
