"""The ``demurk`` command (needs the extra ``cli``)."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import sys

from demurk.utils._optional import import_optional

__all__ = ["main"]


def main(argv=None):
    """Run the command line and return its exit code.

    Parameters
    ----------
    argv : sequence of str, default=None
        Arguments without the program name; None reads them from the shell.

    Returns
    -------
    code : int
        0 on success, 2 when the input or the arguments are wrong.
    """
    argv = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in argv
    try:
        typer = import_optional("typer", "cli")
        from demurk.cli._app import app

        return app(args=argv, prog_name="demurk", standalone_mode=False) or 0
    except KeyboardInterrupt:
        print("demurk: stopped", file=sys.stderr)
        return 130
    except Exception as error:
        if debug:
            raise
        # Everything a user can cause is one of these; the rest is our fault and
        # deserves its traceback.
        expected = (ValueError, OSError, ImportError)
        if "typer" in locals():
            expected += (typer.TyperException,)
        if not isinstance(error, expected):
            raise
        describe = getattr(error, "format_message", error.__str__)
        text = " ".join(describe().split())
        print(f"demurk: {text}", file=sys.stderr)
        return 2


def _run():
    """Entry point of the installed program."""
    sys.exit(main())
