/** What a filter made of a call, in a test. */
import type { Result } from "../content.js";
import { ToolhostError } from "../error.js";
import { decodeAnsweredResult } from "../plugin/filter.js";
import type { TestCall } from "./call.js";

/** What a filter made of a call. */
export interface Filtered {
  /** What takes the place of the arguments; undefined: the filter left them. */
  readonly arguments: Readonly<Record<string, unknown>> | undefined;
  /** Why the call must not be made; undefined: it may. */
  readonly deny: string | undefined;
  /** What ends the call in the tool's place; undefined: nothing. */
  readonly answer: Result | undefined;
  /** What takes the place of the result; undefined: the filter left it. */
  readonly result: Result | undefined;
  /** Why a toolhost takes the filter for one that failed; undefined: it does not. */
  readonly error: ToolhostError | undefined;
  /** The filter's own call, with what it logged. */
  readonly call: TestCall;
}

/** Reads what a filter's call ended with. */
export function filtered(call: TestCall): Filtered {
  const failed = call.isError ? new ToolhostError("internal", call.text) : call.error;
  const answered = !failed && call.result?.content.some(({ kind }) => kind === "json");
  const said = (answered ? call.value : {}) as Record<string, unknown>;
  return {
    arguments: said.arguments as Record<string, unknown> | undefined,
    deny: said.deny as string | undefined,
    answer: said.answer === undefined ? undefined : decodeAnsweredResult(said.answer),
    result: said.result === undefined ? undefined : decodeAnsweredResult(said.result),
    error: failed,
    call,
  };
}
