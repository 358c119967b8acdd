"""Slots: folders of artifacts, both named by digests."""

from __future__ import annotations

import os
from contextlib import suppress

from tracejit.store.digests import digest
from tracejit.store.files import Folder

__all__ = ["LENGTH", "MANIFEST", "MOST", "holds", "is_named", "uses"]

MANIFEST = "manifest.json"
MOST = 32
"""The most artifacts of one slot: versions of one function, or sizes that were fixed."""
LENGTH = len(digest(""))
"""Of the names of slots and artifacts."""


def is_named(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry is a folder named like slots and artifacts."""
    return len(entry.name) == LENGTH and entry.is_dir(follow_symlinks=False)


def holds(folder: Folder, key: str) -> bool:
    """Return whether a slot has an artifact as a whole."""
    try:
        return bool(folder.folder(key).state(MANIFEST))
    except OSError:
        return False


def uses(folder: Folder) -> list[tuple[float, str]]:
    """Return when the artifacts of a slot were last used, the latest first."""
    found = []
    for entry in folder.entries():
        if is_named(entry):
            with suppress(OSError):
                found.append((folder.state(f"{entry.name}/{MANIFEST}").st_mtime, entry.name))
    return sorted(found, reverse=True)
