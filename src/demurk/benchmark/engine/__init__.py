"""From a protocol to results: tasks, their keys, processes that do them, the store."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause
