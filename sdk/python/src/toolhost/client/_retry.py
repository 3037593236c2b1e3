"""When a client repeats a failed call."""

from __future__ import annotations

import random

from toolhost.errors import OutcomeUnknown, RateLimited, ToolhostError, Unavailable
from toolhost.spec import Retry

_INITIAL = 0.2  # seconds
_LONGEST = 5.0  # seconds


def pause_before_retry(policy: Retry | None, attempt: int, failure: ToolhostError, named: bool) -> float | None:
    """Return how long to wait before the next attempt, in seconds.

    Returns None if the call must not be repeated.

    `attempt` is the number of attempts so far, and `named` says whether the call has a call id. A
    call is repeated only if that cannot execute it twice: a rate limit rejected it, it reached no
    plugin, the failure itself names the time of the next attempt, or its outcome is unknown and its
    call id makes toolhost return the recorded outcome.
    """
    if policy is None or attempt >= policy.max_attempts:
        return None
    match failure:
        case RateLimited():
            pass
        case Unavailable() if failure.plugin is None or failure.retry_after is not None:
            pass
        case OutcomeUnknown() if named:
            pass
        case _:
            return None
    longest = _LONGEST if policy.max_backoff is None else policy.max_backoff
    initial = _INITIAL if policy.initial_backoff is None else policy.initial_backoff
    backoff = min(longest, initial * 2.0 ** (attempt - 1))
    # Clients that failed together would otherwise try again together.
    backoff *= random.uniform(0.5, 1.0)  # noqa: S311
    return max(backoff, failure.retry_after or 0.0)
