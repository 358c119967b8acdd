"""The undefined symbols of object code, read from its table: LLVM aborts on ones it cannot find.

ELF, 64 bits, little-endian: System V Application Binary Interface, chapter 4, "Symbol Table".
"""

from __future__ import annotations

import struct

__all__ = ["BadObject", "undefined_symbols"]


class BadObject(ValueError):
    """Bytes that are no object code of the kind that this process loads."""


_SYMBOL_TABLE = 2
"""The type of the section that holds the symbols."""


def undefined_symbols(data: bytes) -> list[str]:
    """Return the names of the symbols that object code expects others to define.

    Raises `BadObject` where the bytes are no relocatable ELF file, or its tables leave it.
    """
    try:
        return _undefined(data)
    except (struct.error, UnicodeDecodeError, ValueError) as e:
        raise BadObject(f"no object code: {e}") from None


def _undefined(data: bytes) -> list[str]:
    magic, kind = data[:6], struct.unpack_from("<H", data, 16)[0]
    if magic != b"\x7fELF\x02\x01" or kind != 1:
        raise BadObject("not a relocatable ELF file of 64 bits")
    (table,) = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + k * size) for k in range(count)]
    found = []
    for _, kind, _, _, offset, length, link, _, _, each in sections:
        if kind != _SYMBOL_TABLE:
            continue
        start, names_length = sections[link][4:6] if link < len(sections) else (0, 0)
        if offset + length > len(data) or start + names_length > len(data) or each < 24:
            raise BadObject("a table leaves the file")
        for place in range(offset + each, offset + length, each):  # the first is no symbol
            name, _, _, section, _, _ = struct.unpack_from("<IBBHQQ", data, place)
            if section == 0:
                end = data.index(b"\0", start + name)
                found.append(data[start + name:end].decode())
    return found
