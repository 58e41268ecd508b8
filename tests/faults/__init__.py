"""Break a running arena on purpose, while visitors use it, and prove afterwards that nothing was lost.

`make test-faults` runs `tests.faults.campaign`; the ordinary suite only tests the tools in here.
"""
