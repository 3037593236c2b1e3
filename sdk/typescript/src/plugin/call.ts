/** What a tool knows of its call and may say in it. */
import { parseJSON } from "../json.js";
import type { LogLevel, Progress, Status } from "../status.js";
import type { Artifact } from "./artifact.js";

/** Writes lines of a call's log. They travel with the call and are kept by toolhost. */
export type Logger = {
  /**
   * Writes a line with attributes, which are JSON values. The promise settles when it is on its way; it never rejects.
   * Who logs much waits for it: of what nobody waits for, only so much is kept for the call, the rest goes to standard error.
   */
  readonly [level in LogLevel]: (message: string, attributes?: Readonly<Record<string, unknown>>) => Promise<void>;
};

/** Where and for whom a tool is asked. */
export interface Session {
  /** The session's id; empty: none. */
  readonly session: string;
  /** The run's context by key: only the keys that the tool declares in `contextKeys`. */
  readonly values: Readonly<Record<string, unknown>>;
}

/**
 * One call, as its tool sees it. What a tool says in it is shown to people, and never to the model. After the call has
 * ended, what is said goes nowhere, or to standard error if it is a line of the log.
 */
export interface Call extends Session {
  /** The call's id: the idempotency key, the same in every attempt. */
  readonly id: string;
  /** The tool's name. */
  readonly tool: string;
  /** Which try of the call this is, from 1. */
  readonly attempt: number;
  /** The folder that the tool may work in, as an absolute path; empty: none. */
  readonly workspace: string;
  /** Secrets by name: all that the tool declares in `requiresAuth`, and no others. What is sent elsewhere is the tool's to guard. */
  readonly secrets: Readonly<Record<string, string>>;
  /** The W3C trace context; empty: none. */
  readonly traceparent: string;
  /** When the call's time is up; undefined: never. */
  readonly deadline: Date | undefined;
  /**
   * Aborted when the call is cancelled or out of time, with a ToolhostError as its reason, and when it has ended. A tool
   * that takes long gives it to what it waits for, such as fetch, and stops then: the call ends only when the tool
   * has.
   */
  readonly signal: AbortSignal;
  /**
   * The arguments as JSON text, as they came: with all digits of the integers beyond 2^53 that JavaScript rounds. Empty
   * while a preview is shown.
   */
  readonly argumentsText: string;
  /** The call's log. */
  readonly log: Logger;
  /**
   * Shows people how the call stands. The promise settles when it is on its way; it never rejects. Waiting for it keeps
   * a tool from saying more than anybody reads.
   *
   * A tool that shows nothing needs none. Once it has shown something, the states are kept in order for it: the first
   * status without a state is `doing`, or `wait` in a preview; the execution after a preview is `doing`; and the end of
   * the call is `success` or `error`. A state that goes back is left out, and nothing comes after a terminal one.
   */
  status(status: Status): Promise<void>;
  /** Shows people how far the work is: a status with progress only. `done` must not fall. */
  progress(done: number, total?: number, message?: string): Promise<void>;
  /**
   * Opens an artifact by the handle that the tool found in its arguments: another tool's result that was too large to be
   * shown. If there is none, or not any more, it throws a ToolError that says so to the model.
   */
  openArtifact(handle: string): Promise<Artifact>;
}

/** Returns the values of the run's context that a tool declared, decoded when they are first read. */
export function sessionValues(encoded: Readonly<Record<string, Uint8Array>>, keys: readonly string[]): Record<string, unknown> {
  const values: Record<string, unknown> = Object.create(null);
  for (const key of keys) {
    const text = Object.hasOwn(encoded, key) ? encoded[key] : undefined;
    if (text) {
      values[key] = parseJSON(Buffer.from(text).toString("utf8"));
    }
  }
  return values;
}

/** Returns the progress that a shorthand names. */
export function progressOf(done: number, total = 0, message = ""): Progress {
  return { done, total, message };
}
