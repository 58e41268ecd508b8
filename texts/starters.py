"""Prompts to begin with, by category."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy

STARTERS = (
    gettext_lazy("Explain to a child why the sky is blue."),
    gettext_lazy("Write a short poem about rain."),
    gettext_lazy("Give me three tips for better sleep."),
    gettext_lazy("What should I cook with rice and eggs?"),
)
"""Those that are shown at once."""
CATEGORIES: tuple[dict[str, Any], ...] = (
    {
        "name": gettext_lazy("Explain"),
        "suggestions": (
            gettext_lazy("Why is the night sky dark although there are so many stars?"),
            gettext_lazy("How does a vaccine work? Two paragraphs, please."),
            gettext_lazy("What is inflation, and who gains from it?"),
            gettext_lazy("Explain recursion to somebody who bakes."),
        ),
    },
    {
        "name": gettext_lazy("Write"),
        "suggestions": (
            gettext_lazy("Write a friendly e-mail that declines an invitation."),
            gettext_lazy("Tell a story of a hundred words that ends with a closed door."),
            gettext_lazy("Suggest five names for a bakery by the sea."),
            gettext_lazy("Write a limerick about a robot that learns to cook."),
        ),
    },
    {
        "name": gettext_lazy("Code"),
        "suggestions": (
            gettext_lazy("Write a Python function that tells whether a word is a palindrome."),
            gettext_lazy("How do I undo the last commit in git without losing my changes?"),
            gettext_lazy("Write an SQL query for the three best customers of each month."),
            gettext_lazy("What is wrong with comparing floats by ==? Show an example."),
        ),
    },
    {
        "name": gettext_lazy("Math"),
        "suggestions": (
            gettext_lazy("Derive the formula for the roots of a quadratic equation."),
            gettext_lazy("A train leaves at 14:10 and covers 210 km at 90 km/h. When does it arrive?"),
            gettext_lazy("How likely is it that two of 23 people share a birthday?"),
            gettext_lazy(
                "A bat and a ball cost 1.10 together, the bat 1.00 more than the ball. What does the ball cost?"
            ),
        ),
    },
    {
        "name": gettext_lazy("Plan"),
        "suggestions": (
            gettext_lazy("Plan a day in Lisbon for a family with a small child."),
            gettext_lazy("How do I take up running if I have never done any sport?"),
            gettext_lazy("Make a packing list for three days in the mountains."),
            gettext_lazy("Compare trains and planes for a trip from Berlin to Paris."),
        ),
    },
)
