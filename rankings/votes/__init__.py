"""Which votes count, and what the database knows about them."""
