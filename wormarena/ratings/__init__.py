"""Ratings of models from the results of their games."""
