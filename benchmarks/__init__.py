"""Benchmarks of speed and memory, for asv (``make bench``)."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause
