import type { RetryPolicy } from "../plugin/tool.js";
/**
 * Returns how long to wait before the next attempt, in milliseconds. Returns undefined if the call
 * must not be repeated. `attempt` is the number of attempts so far, and `named` says whether the
 * call has a call id. A call is repeated only if that cannot execute it twice: a rate limit
 * rejected it, it reached no plugin, the error itself names the time of the next attempt, or its
 * outcome is unknown and its call id makes toolhost return the recorded outcome.
 */
export declare function pauseBeforeRetry(policy: RetryPolicy | undefined, attempt: number, error: unknown, named: boolean): number | undefined;
