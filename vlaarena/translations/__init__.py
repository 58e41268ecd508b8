"""Translated strings: found in the sources, kept in `locale/LANGUAGE`, compiled without gettext's tools."""
