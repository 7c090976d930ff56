"""Small tools shared by all rooms; nothing here is public."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

__all__: list[str] = []
