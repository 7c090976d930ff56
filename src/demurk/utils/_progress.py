"""Reporting the stages of a fit through scikit-learn's callbacks, and ending it."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from contextlib import contextmanager

__all__ = ["fit_progress", "settled"]


@contextmanager
def fit_progress(estimator, n_stages, X=None, y=None):
    """Open the callback context of a fit made of `n_stages` named stages.

    Parameters
    ----------
    estimator : object with `_init_callback_context`
        The estimator being fitted.
    n_stages : int or None
        How many stages will be opened; None when that is not known.
    X, y : object
        Handed on to the callbacks.

    Yields
    ------
    stage : callable
        ``with stage("name") as done:`` reports one stage. A loop calls
        ``done(attributes)`` at the end of an iteration; it returns True when a
        callback asks to stop.
    """
    context = estimator._init_callback_context(max_subtasks=n_stages)
    context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)

    @contextmanager
    def stage(name):
        subcontext = context.subcontext(task_name=name)
        subcontext.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
        ended = False

        def done(attributes=None):
            nonlocal ended
            ended = True
            return subcontext.call_on_fit_task_end(
                estimator=estimator,
                X=X,
                y=y,
                reconstruction_attributes=attributes,
            )

        yield done
        if not ended:
            done()

    yield stage
    context.call_on_fit_task_end(estimator=estimator, X=X, y=y)


def settled(values, tol):
    """Whether the last iteration lowered the objective by little."""
    return len(values) > 1 and values[-2] - values[-1] <= tol * abs(values[-2])
