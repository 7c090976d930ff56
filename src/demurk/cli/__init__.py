"""The ``demurk`` command (needs the extra ``cli``)."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import os
import signal
import sys
import threading
from contextlib import suppress

from demurk.utils._optional import import_optional

__all__ = ["main"]

# Time to put things away after Ctrl-C.
GRACE_SECONDS = 0.7


def main(argv=None):
    """Run the command line and return its exit code.

    Parameters
    ----------
    argv : sequence of str, default=None
        Arguments without the program name; None reads them from the shell.

    Returns
    -------
    code : int
        0 on success, 2 when the input or the arguments are wrong, 130 after Ctrl-C.
    """
    argv = list(sys.argv[1:] if argv is None else argv) or ["--help"]
    debug = "--debug" in argv
    try:
        typer = import_optional("typer", "cli")
        from demurk.cli._app import app

        code = app(args=argv, prog_name="demurk", standalone_mode=False) or 0
        # Typer may have caught Ctrl-C before us, and says nothing.
        return _stopped() if code == 130 else code
    except KeyboardInterrupt:
        return _stopped()
    except BrokenPipeError:
        # Whoever read the output has gone; there is nobody to tell.
        return 0
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


def _stopped():
    print("demurk: stopped", file=sys.stderr, flush=True)
    return 130


def _run():
    """Entry point of the installed program."""
    done = _stop_in_time()
    code = main()
    done.set()
    if code == 130:
        _end()
    sys.exit(code)


def _stop_in_time():
    """See to it that Ctrl-C is answered, also in the midst of a long computation.

    Python hears of a signal only between two of its own steps, and threads are waited
    for. Whoever has not stopped by himself shortly after is ended from another thread;
    files appear in one step, so none is half written.
    """
    done = threading.Event()
    if not hasattr(os, "set_blocking"):
        return done
    heard, tell = os.pipe()
    os.set_blocking(tell, False)
    signal.set_wakeup_fd(tell, warn_on_full_buffer=False)

    def watch():
        while os.read(heard, 1)[0] != signal.SIGINT:
            pass
        if not done.wait(GRACE_SECONDS):
            _stopped()
            _end()

    threading.Thread(target=watch, daemon=True).start()
    return done


def _end():
    """End at once, without waiting for threads."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(130)
