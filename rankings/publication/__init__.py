"""From counted votes to the boards and reports that are published."""
