"""Measurements of the service beside a plain Django view; `python -m bench --help`."""
