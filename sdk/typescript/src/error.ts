/**
 * The errors of tools, which the model reads, and of the infrastructure, which the caller handles.
 */

/** The kind of an infrastructure error. */
export type ErrorKind =
  /** The request is invalid. Sending it again cannot succeed. */
  | "invalid_argument"
  /** The named tool, plugin, call, run or artifact does not exist. */
  | "not_found"
  /** A policy rule forbids the call. */
  | "denied"
  /** A person has to approve the call first. */
  | "approval_required"
  /** A rate limit is exhausted; see `retryAfterMs`. */
  | "rate_limited"
  /** The deadline of the call passed. */
  | "timeout"
  /** The caller, an operator or a shutdown cancelled the call. */
  | "cancelled"
  /** The process of the plugin ended during a call that has no side effects. */
  | "crashed"
  /** A component or service is unreachable at the moment. */
  | "unavailable"
  /** The process or the connection ended. Side effects may have happened or not. */
  | "outcome_unknown"
  /** The call id belongs to a call of another tool or with other arguments. */
  | "conflict"
  /** The operator, the caller or an older version does not allow it, such as a question of a tool. */
  | "unsupported"
  /** A bug, or a plugin that violated the protocol. */
  | "internal";

/** How the process of a plugin ended. */
export interface Exit {
  /** The exit code; -1 if a signal ended it. */
  readonly code: number;
  /** The name of the signal, such as `SIGKILL`. Undefined if the process exited by itself. */
  readonly signal: string | undefined;
  /** Whether the process was killed because memory ran out. */
  readonly outOfMemory: boolean;
  /** The probable cause, as toolhost explains it. */
  readonly reason: string;
  /** The last lines that the process wrote to standard error. */
  readonly lastStderr: readonly string[];
}

/** The properties of a ToolhostError besides its kind and message. */
export interface ErrorDetails {
  /** After how many milliseconds the caller should try again. */
  retryAfterMs?: number | undefined;
  /** The call that failed. */
  callId?: string | undefined;
  /** The plugin that the error concerns. */
  plugin?: string | undefined;
  /** The plugin instance that the error concerns. */
  instance?: string | undefined;
  /** How the process ended, for the kinds `crashed` and `outcome_unknown`. */
  exit?: Exit | undefined;
  /** The policy rule that matched, for `denied` and `approval_required`. */
  rule?: string | undefined;
  /** For `approval_required`: the final arguments as JSON text. */
  arguments?: string | undefined;
  /** The digest of the final arguments. */
  argumentsSha256?: string | undefined;
  /** The name with which toolhost holds the call. */
  decision?: string | undefined;
  /** What an approval has to name to move the session. */
  sessionMove?: string | undefined;
  /** The cause. It is not sent. */
  cause?: unknown;
}

/**
 * An infrastructure error, which the caller handles. A tool throws it if something that it needs
 * does not work: `throw new ToolhostError("unavailable", "the database is down")`. The clients
 * throw only errors of this class.
 */
export class ToolhostError extends Error {
  override readonly name = "ToolhostError";
  /** The kind. */
  readonly kind: ErrorKind;
  /** After how many milliseconds the caller should try again. Undefined if that is unknown. */
  readonly retryAfterMs: number | undefined;
  /** The id of the call that failed. Undefined if the request never became a call. */
  readonly callId: string | undefined;
  /** The plugin that the error concerns. Undefined if it concerns none. */
  readonly plugin: string | undefined;
  /** The plugin instance that the error concerns. Undefined if it concerns none. */
  readonly instance: string | undefined;
  /** How the process ended, for the kinds `crashed` and `outcome_unknown`. */
  readonly exit: Exit | undefined;
  /** The policy rule that matched. Undefined if no rule matched. */
  readonly rule: string | undefined;
  /**
   * For `approval_required`, the final arguments as JSON text. Undefined if they are too large to
   * include.
   */
  readonly arguments: string | undefined;
  /**
   * The digest of the final arguments, to pass as `Approval.argumentsSha256`. Undefined if there is
   * none.
   */
  readonly argumentsSha256: string | undefined;
  /**
   * For `approval_required`, the name with which toolhost holds the call: `toolhost approvals approve
   * NAME` approves it, and then the same call passes once. Undefined if the call had no
   * `approvalWaitMs`.
   */
  readonly decision: string | undefined;
  /**
   * For `approval_required`, what to pass as `Approval.sessionMove`: the approval also moves the
   * session to a toolhost that does not have its files, and the message says so. Undefined if the
   * session does not move.
   */
  readonly sessionMove: string | undefined;

  /** Creates an error. `message` says what happened, why, and what to do about it. */
  constructor(kind: ErrorKind, message: string, details: ErrorDetails = {}) {
    super(message || kind, details.cause === undefined ? undefined : { cause: details.cause });
    this.kind = kind;
    this.retryAfterMs = details.retryAfterMs;
    this.callId = details.callId || undefined;
    this.plugin = details.plugin || undefined;
    this.instance = details.instance || undefined;
    this.exit = details.exit;
    this.rule = details.rule || undefined;
    this.arguments = details.arguments;
    this.argumentsSha256 = details.argumentsSha256 || undefined;
    this.decision = details.decision || undefined;
    this.sessionMove = details.sessionMove || undefined;
  }
}

/**
 * A tool throws it to tell the model that the call failed, and why: `throw new ToolError("there is
 * no city Atlantis")`. The model reads the message. It also reads the messages of other errors, and
 * these are logged with their stack.
 */
export class ToolError extends Error {
  override readonly name = "ToolError";
}
