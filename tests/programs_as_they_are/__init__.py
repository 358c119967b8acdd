"""Programs from many fields as their authors would write them, none for tracejit."""
