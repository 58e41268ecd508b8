"""Translated strings: extracted from the sources, stored in `locale/LANGUAGE`, compiled without gettext's tools."""
