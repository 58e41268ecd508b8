"""The engine of Snake, its players, and the files it writes. No Django."""
