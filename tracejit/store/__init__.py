"""The store on disk: folders of one user, locks, sizes, the environment; nothing of programs."""
