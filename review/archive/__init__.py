"""A workspace as one JSON file: exported without loss, imported whole or not at all."""

from review.archive.exporting import export_archive
from review.archive.faults import ArchiveRefused, Fault
from review.archive.importing import Imported, import_archive

__all__ = ["ArchiveRefused", "Fault", "Imported", "export_archive", "import_archive"]
