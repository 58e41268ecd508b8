"""From files of games to rows, once and for good."""
