import type { GenEnum, GenFile, GenMessage } from "@bufbuild/protobuf/codegenv2";
import type { Duration } from "@bufbuild/protobuf/wkt";
import type { Message } from "@bufbuild/protobuf";
/**
 * Describes the file toolhost/tool/v1/error.proto.
 */
export declare const file_toolhost_tool_v1_error: GenFile;
/**
 * Error is an infrastructure failure: the call could not be executed, or its outcome could not be
 * returned. A failure that the tool itself reports is a Result with `is_error` instead.
 *
 * Unary RPCs return an Error as a detail of the gRPC status. Streams return it in their last event.
 *
 * @generated from message toolhost.tool.v1.Error
 */
export type Error = Message<"toolhost.tool.v1.Error"> & {
    /**
     * The kind of failure. A client decides by it what to do next.
     *
     * @generated from field: toolhost.tool.v1.ErrorKind kind = 1;
     */
    kind: ErrorKind;
    /**
     * What failed, why, and what to do about it, in English. For people; the text may change.
     *
     * @generated from field: string message = 2;
     */
    message: string;
    /**
     * The shortest delay before a retry can succeed. Unset means unknown.
     *
     * @generated from field: google.protobuf.Duration retry_after = 3;
     */
    retryAfter?: Duration | undefined;
    /**
     * The id of the call that failed. Empty if the request failed before it became a call.
     *
     * @generated from field: string call_id = 4;
     */
    callId: string;
    /**
     * The name of the plugin that the error concerns. Empty if it concerns no plugin.
     *
     * @generated from field: string plugin = 5;
     */
    plugin: string;
    /**
     * The id of the plugin process that the error concerns. Empty if it concerns no process.
     *
     * @generated from field: string instance = 6;
     */
    instance: string;
    /**
     * How the process ended. Set for the kinds CRASHED and OUTCOME_UNKNOWN.
     *
     * @generated from field: toolhost.tool.v1.Exit exit = 7;
     */
    exit?: Exit | undefined;
    /**
     * The name of the policy rule that decided, for the kinds DENIED and APPROVAL_REQUIRED. Empty if
     * no named rule decided.
     *
     * @generated from field: string rule = 8;
     */
    rule: string;
    /**
     * For the kind APPROVAL_REQUIRED: the final arguments, a JSON object in canonical form. These are
     * the arguments after filters, repair and defaults, so they can differ from those that the caller
     * sent. Show them to the person who approves. Empty if they are larger than the response can
     * carry: 1 MiB on streams, 2 KiB on unary RPCs.
     *
     * @generated from field: bytes arguments = 9;
     */
    arguments: Uint8Array;
    /**
     * For the kind APPROVAL_REQUIRED: the SHA-256 digest of the final arguments, as 64 lower-case
     * hexadecimal digits. The caller copies it to Approval.arguments_sha256. It is set even if
     * `arguments` is empty because of its size.
     *
     * @generated from field: string arguments_sha256 = 10;
     */
    argumentsSha256: string;
    /**
     * What the failed call cost, in the unit of ToolSpec.cost_per_use: the declared cost of each
     * attempt that reached the plugin. 0 if nothing was executed, as for the kinds DENIED,
     * APPROVAL_REQUIRED and RATE_LIMITED.
     *
     * @generated from field: double cost = 11;
     */
    cost: number;
    /**
     * For the kind APPROVAL_REQUIRED: whether the approver must be a principal other than the one
     * that the call is for.
     *
     * @generated from field: bool four_eyes = 12;
     */
    fourEyes: boolean;
    /**
     * For the kind APPROVAL_REQUIRED: the digest of the definition of the tool, as 64 lower-case
     * hexadecimal digits. A caller that creates a standing approval from the call copies it to
     * CreateApprovalRequest.definition_sha256. Empty if toolhost has no standing approvals.
     *
     * @generated from field: string definition_sha256 = 13;
     */
    definitionSha256: string;
    /**
     * For the kind APPROVAL_REQUIRED: the groups of which the approver has to be in one. Empty means
     * that the rule names none.
     *
     * @generated from field: repeated string approver_groups = 14;
     */
    approverGroups: string[];
    /**
     * For the kind APPROVAL_REQUIRED: the name of the decision that toolhost holds for this call, for
     * DecisionService. After it was approved, the same call passes once. Empty unless the caller set
     * CallOptions.approval_wait.
     *
     * @generated from field: string decision = 15;
     */
    decision: string;
    /**
     * For the kind APPROVAL_REQUIRED: what the approval also has to name, because it moves the session
     * to a toolhost that does not have its files. `message` says so. The caller copies it to
     * Approval.session_move if the person has read the message. Empty: the session does not move.
     *
     * @generated from field: string session_move = 16;
     */
    sessionMove: string;
};
/**
 * Describes the message toolhost.tool.v1.Error.
 * Use `create(ErrorSchema)` to create a new message.
 */
export declare const ErrorSchema: GenMessage<Error>;
/**
 * Exit describes how a plugin process ended.
 *
 * @generated from message toolhost.tool.v1.Exit
 */
export type Exit = Message<"toolhost.tool.v1.Exit"> & {
    /**
     * The exit code. -1 if a signal ended the process.
     *
     * @generated from field: int32 code = 1;
     */
    code: number;
    /**
     * The name of the signal that ended the process, such as `SIGKILL`. Empty if it exited by itself.
     *
     * @generated from field: string signal = 2;
     */
    signal: string;
    /**
     * Whether the kernel killed the process because it exceeded its memory limit.
     *
     * @generated from field: bool out_of_memory = 3;
     */
    outOfMemory: boolean;
    /**
     * The cause that toolhost inferred, in English. May be empty.
     *
     * @generated from field: string reason = 4;
     */
    reason: string;
    /**
     * The last lines that the process wrote to standard error, oldest first.
     *
     * @generated from field: repeated string last_stderr = 5;
     */
    lastStderr: string[];
};
/**
 * Describes the message toolhost.tool.v1.Exit.
 * Use `create(ExitSchema)` to create a new message.
 */
export declare const ExitSchema: GenMessage<Exit>;
/**
 * ErrorKind classifies infrastructure failures. Each kind maps to one gRPC status code.
 *
 * @generated from enum toolhost.tool.v1.ErrorKind
 */
export declare enum ErrorKind {
    /**
     * Not set. Clients treat it as INTERNAL.
     *
     * @generated from enum value: ERROR_KIND_UNSPECIFIED = 0;
     */
    UNSPECIFIED = 0,
    /**
     * The request is malformed or its arguments do not match the schema. gRPC: INVALID_ARGUMENT.
     *
     * @generated from enum value: ERROR_KIND_INVALID_ARGUMENT = 1;
     */
    INVALID_ARGUMENT = 1,
    /**
     * The tool, plugin, call, run or artifact does not exist. gRPC: NOT_FOUND.
     *
     * @generated from enum value: ERROR_KIND_NOT_FOUND = 2;
     */
    NOT_FOUND = 2,
    /**
     * A policy rule or a filter forbids the call. gRPC: PERMISSION_DENIED.
     *
     * @generated from enum value: ERROR_KIND_DENIED = 3;
     */
    DENIED = 3,
    /**
     * A person must approve the call before it can be executed. gRPC: FAILED_PRECONDITION.
     *
     * @generated from enum value: ERROR_KIND_APPROVAL_REQUIRED = 4;
     */
    APPROVAL_REQUIRED = 4,
    /**
     * A rate, concurrency or memory limit was reached; see `retry_after`. gRPC: RESOURCE_EXHAUSTED.
     *
     * @generated from enum value: ERROR_KIND_RATE_LIMITED = 5;
     */
    RATE_LIMITED = 5,
    /**
     * The deadline of the call passed. gRPC: DEADLINE_EXCEEDED.
     *
     * @generated from enum value: ERROR_KIND_TIMEOUT = 6;
     */
    TIMEOUT = 6,
    /**
     * The caller, an operator or a shutdown canceled the call. gRPC: CANCELLED.
     *
     * @generated from enum value: ERROR_KIND_CANCELLED = 7;
     */
    CANCELLED = 7,
    /**
     * The plugin process ended during the call, and the call had no side effects. A retry is safe.
     * gRPC: ABORTED.
     *
     * @generated from enum value: ERROR_KIND_CRASHED = 8;
     */
    CRASHED = 8,
    /**
     * The plugin cannot accept calls at the moment. gRPC: UNAVAILABLE.
     *
     * @generated from enum value: ERROR_KIND_UNAVAILABLE = 9;
     */
    UNAVAILABLE = 9,
    /**
     * The plugin process ended during a call with side effects. They may or may not have happened, so
     * a retry can repeat them. gRPC: UNKNOWN. Clients recognize this kind only by the Error in the
     * status details; a status UNKNOWN without details is INTERNAL.
     *
     * @generated from enum value: ERROR_KIND_OUTCOME_UNKNOWN = 10;
     */
    OUTCOME_UNKNOWN = 10,
    /**
     * The id is already used by a call or run with different parameters. gRPC: ALREADY_EXISTS.
     *
     * @generated from enum value: ERROR_KIND_CONFLICT = 11;
     */
    CONFLICT = 11,
    /**
     * A bug in toolhost or agentd, or a plugin that violated its contract. gRPC: INTERNAL.
     *
     * @generated from enum value: ERROR_KIND_INTERNAL = 12;
     */
    INTERNAL = 12,
    /**
     * The caller, the operator's configuration or the other end's version does not allow what was
     * requested, such as a question of a tool to a person. gRPC: UNIMPLEMENTED.
     *
     * @generated from enum value: ERROR_KIND_UNSUPPORTED = 13;
     */
    UNSUPPORTED = 13
}
/**
 * Describes the enum toolhost.tool.v1.ErrorKind.
 */
export declare const ErrorKindSchema: GenEnum<ErrorKind>;
