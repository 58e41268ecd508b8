"""The calls of the rankings, and the reads shaped for them and for pages."""
