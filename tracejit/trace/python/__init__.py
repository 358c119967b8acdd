"""What Python's calls, objects and lists do on traced values."""
