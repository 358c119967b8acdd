"""The stand-ins of numbers and arrays in a capture, and the equations that they make."""
