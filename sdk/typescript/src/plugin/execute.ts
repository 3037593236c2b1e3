/** The execution of a call: its arguments, the tool function, and the outcome. */

import { AsyncLocalStorage } from "node:async_hooks";
import { inspect } from "node:util";
import { type Result, result, resultOf } from "../content.js";
import { ToolError, ToolhostError } from "../error.js";
import { parseJSON } from "../json.js";
import type { Settlement } from "../settlement.js";
import { describedFor } from "./dynamic.js";
import { askFilter, type Filter } from "./filter.js";
import { PartialJSON } from "./partialjson.js";
import { relativeTo } from "./relative.js";
import type { RunningCall } from "./runningcall.js";
import { readArguments } from "./schema.js";
import { logToStderr } from "./stdio.js";
import type { Tool, ToolObject } from "./tool.js";
import type { WireCall } from "./wirecall.js";

/** A tool or a filter. */
export type Callable = { readonly tool: Tool } | { readonly filter: Filter };

/**
 * Ends the current call with an error that was thrown outside of its promise, such as in a timer.
 */
export type Fail = (error: unknown) => void;

/** The call for which the current code runs. */
export const currentCall = new AsyncLocalStorage<Fail>();

/** Runs a call to its end. It rejects with a ToolhostError for an infrastructure error. */
export async function execute(callable: Callable, call: RunningCall, wire: WireCall): Promise<Result> {
  const what = "tool" in callable ? "tool" : "filter";
  try {
    const answer = await attended(call, what, () =>
      "tool" in callable ? runTool(callable.tool, call, wire) : runFilter(callable.filter, call, wire),
    );
    try {
      return resultOf(answer, (message) => call.log.warn(message));
    } catch (error) {
      throw internal(error, call, what); // the tool made a list of blocks that is none
    }
  } catch (error) {
    return outcomeOf(error, call, what);
  }
}

/**
 * Says what became of an earlier call, and executes nothing. It rejects with a ToolhostError, also
 * if the check throws another error.
 */
export async function settle(callable: Callable, call: RunningCall, wire: WireCall): Promise<Settlement> {
  const check = "tool" in callable ? callable.tool : undefined;
  if (!check?.spec.settle) {
    throw new ToolhostError("unsupported", `${JSON.stringify(call.tool)} cannot say what became of a call`);
  }
  if (check.spec.seals && !wire.start.effectKey) {
    return { verdict: "unknown", reason: "toolhost does not say which execution it asks about" };
  }
  const what = "the check of tool";
  try {
    return await attended(call, what, async () => {
      await wire.until(() => wire.complete);
      return await check.spec.settle?.((await readInput(check, call, wire)) as never, call);
    }).then((settlement) => {
      if (typeof settlement !== "object" || settlement === null) {
        throw new Error(`it returned ${inspect(settlement)}; it must return a settlement`);
      }
      return settlement;
    });
  } catch (error) {
    const told = outcomeOf(error, call, what);
    throw new ToolhostError("internal", `${what} ${JSON.stringify(call.tool)}: ${told.text}`, { cause: error });
  }
}

/**
 * Runs code of an author for a call. It also rejects with an error that the code throws outside of
 * its promise, such as in a timer.
 */
async function attended<T>(call: RunningCall, what: string, run: () => Promise<T>): Promise<T> {
  let fail: Fail = () => {};
  let over = false;
  const failed = new Promise<never>((_, reject) => {
    fail = (error) => {
      reject(error instanceof ToolError ? error : internal(error, call, what));
      if (over) {
        logToStderr("error", "an error of a call that has ended was not caught", { call_id: call.id, error });
      }
    };
  });
  failed.catch(() => {}); // it may reject after the outcome is known
  try {
    const work = currentCall.run(fail, run);
    work.catch(() => {}); // it may reject after `failed` has
    return await Promise.race([work, failed]);
  } finally {
    over = true;
  }
}

async function runFilter(filter: Filter, call: RunningCall, wire: WireCall): Promise<Result> {
  await wire.until(() => wire.complete);
  call.execute();
  return askFilter(filter, wire.text().toString("utf8"), call);
}

async function runTool(t: Tool, call: RunningCall, wire: WireCall): Promise<unknown> {
  const object = await t.open(call);
  try {
    await receive(t, object, call, wire);
    const value = await readInput(t, call, wire);
    call.execute();
    return await object.run(value as never);
  } finally {
    await close(object, call);
  }
}

/** Returns the complete arguments of a call. */
async function readInput(t: Tool, call: RunningCall, wire: WireCall): Promise<unknown> {
  call.argumentsText = wire.text().toString("utf8") || "{}";
  const { input } = t.spec.describe ? await describedFor(t, viewerOf(wire)) : { input: t.spec.input };
  return readArguments(input, parseArguments(call.argumentsText));
}

function viewerOf({ start }: WireCall) {
  return { session: start.context?.session ?? "", values: start.context?.values ?? {} };
}

function parseArguments(text: string): unknown {
  try {
    return parseJSON(text === "" ? "{}" : text);
  } catch (error) {
    throw new ToolError(`the arguments are not JSON: ${error instanceof Error ? error.message : error}`);
  }
}

async function close(object: ToolObject, call: RunningCall): Promise<void> {
  try {
    await object.close?.();
  } catch (error) {
    call.log.warn("closing the tool failed", { error });
  }
}

/**
 * Waits until the arguments are complete, and runs the preview while they are incomplete. If the
 * preview throws, the log contains the error, and the call continues without previews.
 */
async function receive(t: Tool, object: ToolObject, call: RunningCall, wire: WireCall): Promise<void> {
  if (wire.complete || !t.spec.partialArguments || !object.preview) {
    await wire.until(() => wire.complete);
    return;
  }
  const over = new AbortController();
  const previews = showPreviews(object, wire, over.signal).catch((error: unknown) => {
    if (!over.signal.aborted || !isAbort(error)) {
      call.log.error("the preview of the tool failed", { error });
    }
  });
  try {
    await wire.until(() => wire.complete);
  } finally {
    over.abort();
    await previews;
  }
}

async function showPreviews(object: ToolObject, wire: WireCall, over: AbortSignal): Promise<void> {
  const parser = new PartialJSON();
  let shown = 0;
  let fresh = wire.news();
  while (!over.aborted && !parser.broken) {
    for (const piece of fresh) {
      parser.write(piece);
    }
    const { value } = parser;
    if (value.length > shown) {
      shown = value.length;
      await object.preview?.(JSON.parse(value) as never, over);
    }
    fresh = [];
    await until(wire, () => {
      fresh = wire.news();
      return fresh.length > 0 || wire.complete;
    });
    if (wire.complete) {
      return;
    }
  }
}

/**
 * Waits for a condition, or until the call is stopped. `receive` handles the reason of the stop.
 */
async function until(wire: WireCall, condition: () => boolean): Promise<void> {
  try {
    await wire.until(condition);
  } catch {
    // `receive` waits for the same call and rejects.
  }
}

/**
 * Converts the error of a tool. It returns a result for the model, or throws a ToolhostError for
 * the caller. Paths in the workspace become relative in both.
 */
function outcomeOf(error: unknown, call: RunningCall, what: string): Result {
  if (error instanceof ToolhostError) {
    const message = relativeTo(call.workspace ?? "", error.message);
    throw message === error.message ? error : new ToolhostError(error.kind, message, { ...error, cause: error });
  }
  if (call.signal.aborted && isAbort(error)) {
    throw call.signal.reason;
  }
  if (!(error instanceof ToolError)) {
    call.log.error(`${what} failed`, { error });
  }
  return result({ content: relativeTo(call.workspace ?? "", messageForModel(error)), isError: true });
}

/**
 * Returns the infrastructure error for an uncaught error, or for a result that cannot be encoded.
 */
function internal(error: unknown, call: RunningCall, what: string): ToolhostError {
  if (error instanceof ToolhostError) {
    return error;
  }
  call.log.error(`${what} failed`, { error });
  return new ToolhostError("internal", `${what} ${JSON.stringify(call.tool)}: ${describeError(error)}`, { cause: error });
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && (error.name === "AbortError" || error.name === "TimeoutError");
}

/** Returns the message that the model reads for an error of a tool. */
function messageForModel(error: unknown): string {
  if (error instanceof Error && !error.message && !error.cause && partsOf(error).length === 0) {
    return `the tool failed with an error of type ${error.name} without a message`;
  }
  return describeError(error).replace(/^(Tool)?Error: /, "");
}

/** The most errors of an AggregateError that a message names, characters of each, and errors within each other. */
const MAX_ERRORS = 10;
const MAX_TEXT = 500;
const MAX_DEPTH = 4;

/** Returns the type and message of an error, of its causes, and of the errors in an AggregateError. */
function describeError(error: unknown, depth = 0): string {
  if (!(error instanceof Error)) {
    return `the tool threw ${inspect(error)}, which is not an Error`;
  }
  if (depth >= MAX_DEPTH) {
    return String(error);
  }
  const parts = partsOf(error);
  const named = parts.slice(0, MAX_ERRORS).map((part) => cut(describePart(part, depth + 1)));
  if (parts.length > MAX_ERRORS) {
    named.push(`and ${parts.length - MAX_ERRORS} more`);
  }
  const [first, between] = depth === 0 ? ["\n- ", "\n- "] : [": ", "; "];
  const within =
    parts.length > 0 ? ` (${parts.length} ${parts.length === 1 ? "error" : "errors"})${first}${named.join(between)}` : "";
  const cause = error.cause instanceof Error ? ` (${describeError(error.cause, depth + 1)})` : "";
  return String(error) + within + cause;
}

/** Describes an error within another one. A ToolError has only its message, which its author wrote for the model. */
function describePart(part: unknown, depth: number): string {
  if (!(part instanceof Error)) {
    return inspect(part);
  }
  return part instanceof ToolError && part.message ? part.message : describeError(part, depth);
}

/** Returns the errors of an AggregateError in their order. */
function partsOf(error: Error): readonly unknown[] {
  const { errors } = error as { errors?: unknown };
  return error instanceof AggregateError && Array.isArray(errors) ? errors : [];
}

function cut(words: string): string {
  return words.length <= MAX_TEXT ? words : `${words.slice(0, MAX_TEXT - 1)}…`;
}
