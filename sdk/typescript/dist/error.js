/**
 * The errors of tools, which the model reads, and of the infrastructure, which the caller handles.
 */
/**
 * An infrastructure error, which the caller handles. A tool throws it if something that it needs
 * does not work: `throw new ToolhostError("unavailable", "the database is down")`. The clients
 * throw only errors of this class.
 */
export class ToolhostError extends Error {
    name = "ToolhostError";
    /** The kind. */
    kind;
    /** After how many milliseconds the caller should try again. Undefined if that is unknown. */
    retryAfterMs;
    /** The id of the call that failed. Undefined if the request never became a call. */
    callId;
    /** The plugin that the error concerns. Undefined if it concerns none. */
    plugin;
    /** The plugin instance that the error concerns. Undefined if it concerns none. */
    instance;
    /** How the process ended, for the kinds `crashed` and `outcome_unknown`. */
    exit;
    /** The policy rule that matched. Undefined if no rule matched. */
    rule;
    /**
     * For `approval_required`, the final arguments as JSON text. Undefined if they are too large to
     * include.
     */
    arguments;
    /**
     * The digest of the final arguments, to pass as `Approval.argumentsSha256`. Undefined if there is
     * none.
     */
    argumentsSha256;
    /**
     * For `approval_required`, the name with which toolhost holds the call: `toolhost approvals approve
     * NAME` approves it, and then the same call passes once. Undefined if the call had no
     * `approvalWaitMs`.
     */
    decision;
    /**
     * For `approval_required`, what to pass as `Approval.sessionMove`: the approval also moves the
     * session to a toolhost that does not have its files, and the message says so. Undefined if the
     * session does not move.
     */
    sessionMove;
    /** Creates an error. `message` says what happened, why, and what to do about it. */
    constructor(kind, message, details = {}) {
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
    name = "ToolError";
}
