"""The gallery: voted battles to browse and search, for every kind."""
