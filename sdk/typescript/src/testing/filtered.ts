/** The answer of a filter in a test. */
import type { Result } from "../content.js";
import { ToolhostError } from "../error.js";
import { decodeAnsweredResult } from "../plugin/filter.js";
import type { TestCall } from "./call.js";

/** The answer of a filter. */
export interface Filtered {
  /** The arguments that replace the original ones. Undefined if the filter keeps them. */
  readonly arguments: Readonly<Record<string, unknown>> | undefined;
  /** The reason why the filter prevents the call. Undefined if it allows the call. */
  readonly deny: string | undefined;
  /** The result that ends the call without running the tool. Undefined if there is none. */
  readonly answer: Result | undefined;
  /** The result that replaces the original one. Undefined if the filter keeps it. */
  readonly result: Result | undefined;
  /** The error of the filter. Undefined if it succeeded. */
  readonly error: ToolhostError | undefined;
  /** The call of the filter itself, with its log records. */
  readonly call: TestCall;
}

/** Converts the end of the call of a filter. */
export function filtered(call: TestCall): Filtered {
  const failed = call.isError ? new ToolhostError("internal", call.text) : call.error;
  const answered = !failed && call.result?.content.some(({ kind }) => kind === "json");
  const fields = (answered ? call.value : {}) as Record<string, unknown>;
  return {
    arguments: fields.arguments as Record<string, unknown> | undefined,
    deny: fields.deny as string | undefined,
    answer: fields.answer === undefined ? undefined : decodeAnsweredResult(fields.answer),
    result: fields.result === undefined ? undefined : decodeAnsweredResult(fields.result),
    error: failed,
    call,
  };
}
