/** When a client repeats a failed call. */
import { ToolhostError } from "../error.js";
/**
 * Returns how long to wait before the next attempt, in milliseconds. Returns undefined if the call
 * must not be repeated. `attempt` is the number of attempts so far, and `named` says whether the
 * call has a call id. A call is repeated only if that cannot execute it twice: a rate limit
 * rejected it, it reached no plugin, the error itself names the time of the next attempt, or its
 * outcome is unknown and its call id makes toolhost return the recorded outcome.
 */
export function pauseBeforeRetry(policy, attempt, error, named) {
    if (!policy || attempt >= policy.maxAttempts || !(error instanceof ToolhostError) || !isRepeatable(error, named)) {
        return undefined;
    }
    const backoff = Math.min(policy.maxBackoffMs ?? 5_000, (policy.initialBackoffMs ?? 200) * 2 ** (attempt - 1));
    // Clients that failed together would otherwise try again together.
    return Math.max(backoff * (0.5 + Math.random() / 2), error.retryAfterMs ?? 0);
}
function isRepeatable(error, named) {
    switch (error.kind) {
        case "rate_limited":
            return true;
        case "unavailable":
            return error.plugin === undefined || error.retryAfterMs !== undefined;
        case "outcome_unknown":
            return named;
        default:
            return false;
    }
}
