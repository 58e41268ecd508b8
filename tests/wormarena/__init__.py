"""Games of Snake: their files, sums, ratings, calls and pages."""
