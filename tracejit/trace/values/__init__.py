"""What stands for numbers and arrays in a capture, and the equations that they make."""
