"""The typed op IR: its data, its printed form, and its interpreter."""
