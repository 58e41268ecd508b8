"""What votes say of voters, and how much they weigh. Numbers in, numbers out, no Django."""
