"""Where the time of a call goes, beside what the machine could do."""
