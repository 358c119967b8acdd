"""What each part of a report says, as elements."""
