"""Programs on which tools for gradients are known to be wrong in silence, put to each tool."""
