"""What votes say of policies beside a rating. Numbers in, numbers out, no Django."""
