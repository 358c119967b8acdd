"""Digests: short hashes of bytes and of nests of lists, strings and numbers."""

from __future__ import annotations

import hashlib
import json

__all__ = ["digest"]


def digest(x: object) -> str:
    """Return a short hash of a nest of lists, strings and numbers."""
    text = x if isinstance(x, bytes) else json.dumps(x, sort_keys=True).encode()
    return hashlib.blake2b(text, digest_size=16).hexdigest()
