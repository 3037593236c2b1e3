/** What a tool says about an earlier call whose outcome is unknown. */

/**
 * Whether an earlier call had its effect:
 *
 * - `happened`: it had its whole effect. toolhost never executes it again. `result` is what the tool
 *   would have returned; it is undefined if the tool knows only that the call happened.
 * - `did_not_happen`: it had no effect, and can have none later. toolhost may execute it under the
 *   same call id. In doubt, use `unknown`.
 * - `unknown`: the tool does not know, or the call had a part of its effect.
 *
 * `reason` is how the tool knows, in one line for people and models.
 */
export type Settlement =
  | { readonly verdict: "happened"; readonly result?: unknown; readonly reason?: string }
  | { readonly verdict: "did_not_happen" | "unknown"; readonly reason?: string };
