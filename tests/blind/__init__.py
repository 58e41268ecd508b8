"""An outsider who tries to name the policies of a battle before its vote, from all that a visitor can fetch or time.

`peek` plays battles over HTTP and writes down every answer, header, size and moment; `features` turns that into numbers
for each side; `naming` learns from voted battles to name the others, and says how surely it does better than chance;
`attacks` runs the shipped networks against what was fetched. `make test-blind` does it at night's size.
"""
