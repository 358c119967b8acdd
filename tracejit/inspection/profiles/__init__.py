"""Where the time of a call goes, beside the limits of the machine."""
