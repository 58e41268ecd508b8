"""What votes say of contestants besides a rating. Numbers in, numbers out, no Django."""
