"""Damaging files at random, repeatably: shared by the fuzz tests.

`mutations` damages bytes; `zip_mutations` damages what lies inside an archive (npz,
skops) and packs it again, so that the damage is not all found by the checksums.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import io
import json
import random
import struct
import zipfile

__all__ = ["mutate", "mutations", "zip_mutations"]

# Numbers at which programs go wrong, in the sizes that files store them.
NUMBERS = (0, 1, -1, 127, 128, 255, 2**15, 2**16 - 1, 2**31 - 1, -(2**31), 2**32 - 1)
FORMATS = ("<b", "<h", "<i", "<q", ">h", ">i", ">q")
DIGITS = b"0123456789"


def mutations(data, n, seed=0):
    """Yield `n` damaged versions of `data`, the same for the same seed."""
    rng = random.Random(seed)
    for _ in range(n):
        yield mutate(data, rng)


def zip_mutations(data, n, seed=0):
    """Yield `n` archives made from `data` with one to three damaged members each."""
    rng = random.Random(seed)
    members = _members(data)
    for _ in range(n):
        yield _mutate_zip(members, rng)


def mutate(data, rng):
    """Damage bytes in one to four places."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        data = rng.choice(DAMAGES)(data, rng)
    return data


# Damages of bytes: each takes the bytes and a `random.Random`.


def _flip(data, rng):
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _set_bytes(data, rng):
    start, stop = _span(data, rng, 16)
    return data[:start] + rng.randbytes(stop - start) + data[stop:]


def _truncate(data, rng):
    return data[: rng.randrange(len(data) + 1)]


def _drop(data, rng):
    start, stop = _span(data, rng, 64)
    return data[:start] + data[stop:]


def _duplicate(data, rng):
    start, stop = _span(data, rng, 64)
    return data[:stop] + data[start:stop] * rng.choice((1, 1, 2, 50)) + data[stop:]


def _splice(data, rng):
    start, stop = _span(data, rng, 256)
    place = rng.randrange(len(data) + 1)
    return data[:place] + data[start:stop] + data[place + stop - start :]


def _integer(data, rng):
    """Put a number of bad reputation where some integer may lie."""
    form = rng.choice(FORMATS)
    size = struct.calcsize(form)
    if len(data) < size:
        return data
    place = rng.randrange(len(data) - size + 1)
    if rng.random() < 0.7:
        place -= place % size
    (old,) = struct.unpack_from(form, data, place)
    number = rng.choice((*NUMBERS, old + 1, old - 1, old * 2, -old))
    half = 1 << (8 * size - 1)
    number = (number + half) % (2 * half) - half
    return data[:place] + struct.pack(form, number) + data[place + size :]


def _digits(data, rng):
    """Replace a number written in digits, near a random place."""
    place = next(
        (i for i in range(_start(data, rng), len(data)) if data[i] in DIGITS), None
    )
    if place is None:
        return data
    stop = place
    while stop < len(data) and data[stop] in DIGITS:
        stop += 1
    number = rng.choice(("-1", "0", "1e400", "9" * 400, *map(str, NUMBERS)))
    return data[:place] + number.encode() + data[stop:]


DAMAGES = (
    _flip,
    _set_bytes,
    _truncate,
    _drop,
    _duplicate,
    _splice,
    _integer,
    _integer,
    _digits,
)


def _start(data, rng):
    return rng.randrange(len(data)) if data else 0


def _span(data, rng, longest):
    start = _start(data, rng)
    return start, min(len(data), start + 1 + rng.randrange(longest))


# Damages of archives


def _members(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _mutate_zip(members, rng):
    members = dict(members)
    for _ in range(rng.choice((1, 1, 2, 3))):
        # The table of contents of a model is worth as much as all arrays.
        name = "schema.json" if rng.random() < 0.5 else rng.choice(list(members))
        name = name if name in members else rng.choice(list(members))
        what = rng.random()
        if what < 0.04 and len(members) > 1:
            del members[name]
        elif what < 0.08:
            members[name] = members[rng.choice(list(members))]
        else:
            members[name] = _mutate_member(name, members[name], rng)
    return _packed(members, rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)))


def _mutate_member(name, content, rng):
    if name.endswith((".npz", ".zip")) and rng.random() < 0.8:
        try:
            members = _members(content)
        except Exception:  # damaged in an earlier turn; zipfile raises many kinds
            return mutate(content, rng)
        return _mutate_zip(members, rng) if members else mutate(content, rng)
    if name.endswith(".json") and rng.random() < 0.7:
        try:
            return json.dumps(_mutate_json(json.loads(content), rng)).encode()
        except (ValueError, RecursionError):
            return mutate(content, rng)
    if name.endswith(".npy") and rng.random() < 0.3:
        # The first 128 bytes are the header.
        return mutate(content[:128], rng) + content[128:]
    return mutate(content, rng)


def _packed(members, compression):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in members.items():
            # A ZipInfo has a fixed date: the same seed gives the same bytes.
            archive.writestr(zipfile.ZipInfo(name), content, compression)
    return buffer.getvalue()


def _mutate_json(root, rng):
    """Change one value of a nested structure: another's, none, or a strange one."""
    places = []
    stack = [root]
    while stack:
        parent = stack.pop()
        items = parent.items() if isinstance(parent, dict) else enumerate(parent)
        for key, value in items:
            places.append((parent, key))
            if isinstance(value, dict | list):
                stack.append(value)
    if not places:
        return root
    parent, key = rng.choice(places)
    other, other_key = rng.choice(places)
    strange = (None, True, [], {}, "", "os.system", 1e400, -1, 2**64, {"a": [[[]]]})
    what = rng.random()
    if what < 0.2 and isinstance(parent, dict):
        del parent[key]
    elif what < 0.7:
        # Copied through text, so that the structure stays a tree.
        parent[key] = json.loads(json.dumps(other[other_key]))
    elif isinstance(parent[key], str) and what < 0.85:
        parent[key] = mutate(parent[key].encode(), rng).decode("latin1")
    else:
        parent[key] = rng.choice(strange)
    return root
