"""Two policies on the same tasks and seeds: playing the pairs, keeping them, what they say, and a report."""
