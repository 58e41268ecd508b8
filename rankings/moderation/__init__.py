"""What moderators do about votes, voters and networks."""
