"""Damaged files, many of them, against everything that reads."""
