/** The two kinds of failure: what a model reads, and what a caller handles. */

/** Names a failure of the machinery around a tool. */
export type ErrorKind =
  /** The request itself is wrong. */
  | "invalid_argument"
  /** No such tool, plugin, call or run. */
  | "not_found"
  /** A rule forbids it. */
  | "denied"
  /** A person has to agree first. */
  | "approval_required"
  /** Too many calls; see `retryAfterMs`. */
  | "rate_limited"
  /** The deadline passed. */
  | "timeout"
  /** The caller, an operator or a shutdown cancelled it. */
  | "cancelled"
  /** The process ended, and nothing happened that matters. */
  | "crashed"
  /** What is needed cannot be reached now. */
  | "unavailable"
  /** The process ended; side effects may have happened or not. */
  | "outcome_unknown"
  /** The call id is taken by another call. */
  | "conflict"
  /** A bug, or a plugin that broke the contract. */
  | "internal";

/** How a process ended. */
export interface Exit {
  /** The exit code; -1 if a signal ended it. */
  readonly code: number;
  /** The signal's name, such as `SIGKILL`; empty if it exited by itself. */
  readonly signal: string;
  /** Whether it ended for want of memory. */
  readonly outOfMemory: boolean;
  /** Why toolhost thinks it ended, in words. */
  readonly reason: string;
  /** The last lines that it wrote to standard error. */
  readonly lastStderr: readonly string[];
}

/** What may be said of a ToolhostError besides its kind and message. */
export interface ErrorDetails {
  /** When another try makes sense, in milliseconds. Unset: unknown. */
  retryAfterMs?: number | undefined;
  /** The call that failed. */
  callId?: string;
  /** The plugin that it concerns. */
  plugin?: string;
  /** The instance that it concerns. */
  instance?: string;
  /** How the process ended, for the kinds `crashed` and `outcome_unknown`. */
  exit?: Exit | undefined;
  /** The operator's rule that decided, for `denied` and `approval_required`. */
  rule?: string;
  /** For `approval_required`: the final arguments as JSON text. */
  arguments?: string | undefined;
  /** Their digest. */
  argumentsSha256?: string;
  /** What made it happen. It is not sent. */
  cause?: unknown;
}

/**
 * A failure of the machinery around a tool, which a caller handles, as opposed to a result that a model reads. A tool
 * throws it to say that what it needs cannot be used: `throw new ToolhostError("unavailable", "the database is down")`.
 * All that the clients of toolhost and agentd throw is one.
 */
export class ToolhostError extends Error {
  override readonly name = "ToolhostError";
  /** What kind of failure it is. */
  readonly kind: ErrorKind;
  /** When another try makes sense, in milliseconds. Undefined: unknown. */
  readonly retryAfterMs: number | undefined;
  /** The call that failed; empty if there was none. */
  readonly callId: string;
  /** The plugin that it concerns; may be empty. */
  readonly plugin: string;
  /** The instance that it concerns; may be empty. */
  readonly instance: string;
  /** How the process ended, for the kinds `crashed` and `outcome_unknown`. */
  readonly exit: Exit | undefined;
  /** The operator's rule that decided; empty if none did. */
  readonly rule: string;
  /** For `approval_required`, the final arguments as JSON text: show them to a person. Undefined: they are too large. */
  readonly arguments: string | undefined;
  /** The digest of the final arguments, for `Approval.argumentsSha256`; empty if there is none. */
  readonly argumentsSha256: string;

  /** Makes a failure of a kind; `message` says what happened, why, and what to do. */
  constructor(kind: ErrorKind, message: string, details: ErrorDetails = {}) {
    super(message || kind, details.cause === undefined ? undefined : { cause: details.cause });
    this.kind = kind;
    this.retryAfterMs = details.retryAfterMs;
    this.callId = details.callId ?? "";
    this.plugin = details.plugin ?? "";
    this.instance = details.instance ?? "";
    this.exit = details.exit;
    this.rule = details.rule ?? "";
    this.arguments = details.arguments;
    this.argumentsSha256 = details.argumentsSha256 ?? "";
  }
}

/**
 * What a tool throws to tell the model that the call failed, and why: `throw new ToolError("there is no city Atlantis")`.
 * The model reads the message and can act on it. It reads other errors, too, which are logged besides.
 */
export class ToolError extends Error {
  override readonly name = "ToolError";
}
