"""A person decides about labels, key by key (needs the extra ``review``)."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

__all__: list[str] = []
