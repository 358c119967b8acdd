"""Lists of which sizes or data say how long they are: how their items are kept."""
