"""Which votes count, and what the database says of them."""
