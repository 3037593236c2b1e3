/** The view that a tool has of its call. */
import { parseJSON } from "../json.js";
import type { ModelAnswer, ModelQuestion, PersonAnswer, PersonQuestion } from "../question.js";
import type { LogLevel, Progress, Status } from "../status.js";
import type { Artifact } from "./artifact.js";

/** Writes records of the log of a call, which toolhost stores with the call. */
export type Logger = {
  /**
   * Queues a record, whose attributes are JSON values. It never throws. If more than 1 MiB waits to
   * be sent, or the call has ended, the record goes to standard error instead; see `Call.flush`.
   */
  readonly [level in LogLevel]: (message: string, attributes?: Readonly<Record<string, unknown>>) => void;
};

/** The session for which a tool runs or declares itself. */
export interface Session {
  /** The id of the session. Undefined if there is none. */
  readonly session: string | undefined;
  /** The run context, with only the keys that the tool declares in `contextKeys`. */
  readonly context: Readonly<Record<string, unknown>>;
}

/**
 * A call, as its tool sees it. Statuses and log records reach people, and never the model. After
 * the end of the call the methods do nothing, and log records go to standard error.
 */
export interface Call extends Session {
  /** The call id. It is the same in every attempt, so a tool can use it as an idempotency key. */
  readonly id: string;
  /**
   * A key of this execution of the call, for the place where its effect happens. It is the same in
   * every attempt. If `settle` says that the call did not happen, the call may be executed again with
   * the same id, and has another key. So a tool that `seals` passes along this key, and not the id. If
   * toolhost is too old to give one, it is the id.
   */
  readonly effectKey: string;
  /** The name of the tool. */
  readonly tool: string;
  /** The number of the attempt, from 1. */
  readonly attempt: number;
  /**
   * The absolute path of the folder that the tool may work in. Undefined if there is none. A path
   * from a model may lead out of the folder, for example with `..`, so check it before use.
   */
  readonly workspace: string | undefined;
  /**
   * The secrets that the tool declares in `requiresAuth`, by name. The tool must not disclose them.
   */
  readonly secrets: Readonly<Record<string, string>>;
  /** The W3C traceparent. Undefined if there is none. */
  readonly traceparent: string | undefined;
  /** The deadline of the call. Undefined if there is none. */
  readonly deadline: Date | undefined;
  /**
   * Aborted when the call is cancelled, when its deadline passes, and when it has ended. The reason
   * is a ToolhostError. A tool passes it to what it waits for, such as `fetch`, because the call
   * ends only after the tool has returned.
   */
  readonly signal: AbortSignal;
  /**
   * The arguments as the JSON text that arrived. It has all digits of integers beyond 2^53, which
   * JavaScript rounds. Empty while the arguments are incomplete.
   */
  readonly argumentsText: string;
  /** The log of the call. */
  readonly log: Logger;
  /**
   * Queues a status for people. It never throws.
   *
   * Reporting is optional. The SDK completes the states of a call that reports anything: a first
   * status without a state gets `doing`, or `wait` in a preview. The execution after a preview gets
   * `doing`, and the end of the call `success` or `error`. A state that would go back is omitted,
   * and nothing is sent after a terminal state. If more than 1 MiB waits to be sent, the status is
   * dropped.
   */
  status(status: Status): void;
  /**
   * Queues a status with only a progress. `done` must not decrease, and `total` is undefined if it
   * is unknown.
   */
  progress(done: number, total?: number, message?: string): void;
  /**
   * Waits until all queued statuses and records are sent, or the call is cancelled. A tool that
   * reports a lot waits from time to time, so that it does not report faster than toolhost reads.
   * It never rejects.
   */
  flush(): Promise<void>;
  /**
   * Opens an artifact, a large result of another tool, by a handle from the arguments. Throws a
   * ToolError, which informs the model, if the artifact does not exist, belongs to another session
   * or has expired.
   */
  openArtifact(handle: string): Promise<Artifact>;
  /**
   * Asks a person who uses the caller of the tool. The deadline of the call pauses meanwhile.
   * Several questions can be open at the same time. Throws a ToolhostError: `unsupported` if the
   * operator does not permit the plugin to ask or the caller has no person, `timeout` if no answer
   * came in time.
   */
  ask(question: PersonQuestion): Promise<PersonAnswer>;
  /**
   * Asks the language model of the caller for one response. The caller chooses the model and counts
   * the tokens. The deadline of the call pauses meanwhile. Throws a ToolhostError: `unsupported` if
   * the operator does not permit the plugin to ask a model or the caller has none, `rate_limited` if
   * the budget of the caller is used up.
   */
  complete(question: ModelQuestion): Promise<ModelAnswer>;
}

/** Decodes the values of the run context that a tool declares. */
export function sessionContext(
  encoded: Readonly<Record<string, Uint8Array>>,
  keys: readonly string[],
): Record<string, unknown> {
  const values: Record<string, unknown> = Object.create(null);
  for (const key of keys) {
    const text = Object.hasOwn(encoded, key) ? encoded[key] : undefined;
    if (text) {
      values[key] = parseJSON(Buffer.from(text).toString("utf8"));
    }
  }
  return values;
}

/** Returns the progress for the arguments of `Call.progress`. */
export function progressOf(done: number, total: number | undefined, message: string | undefined): Progress {
  return { done, ...(total !== undefined && { total }), ...(message !== undefined && { message }) };
}
