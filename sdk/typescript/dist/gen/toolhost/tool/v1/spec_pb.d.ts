import type { GenFile, GenMessage } from "@bufbuild/protobuf/codegenv2";
import type { Duration } from "@bufbuild/protobuf/wkt";
import type { Message } from "@bufbuild/protobuf";
/**
 * Describes the file toolhost/tool/v1/spec.proto.
 */
export declare const file_toolhost_tool_v1_spec: GenFile;
/**
 * ToolSpec is what a tool declares about itself. Limits, sandbox exemptions and secrets are
 * requests: the operator's configuration decides what is granted.
 *
 * @generated from message toolhost.tool.v1.ToolSpec
 */
export type ToolSpec = Message<"toolhost.tool.v1.ToolSpec"> & {
    /**
     * The name by which models and callers call the tool: 1 to 64 of the characters A-Z a-z 0-9 _ -,
     * beginning with a letter. Unique within one toolhost.
     *
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * The version of the tool. Any text; semantic versioning is usual. Empty means the plugin's
     * version.
     *
     * @generated from field: string version = 2;
     */
    version: string;
    /**
     * A name to show to people. Empty means `name`.
     *
     * @generated from field: string display_name = 3;
     */
    displayName: string;
    /**
     * What the tool does, when not to use it, and what it returns. Written for a model. Must not be
     * empty.
     *
     * @generated from field: string description = 4;
     */
    description: string;
    /**
     * A word or path that groups tools, such as `files`. Empty means none.
     *
     * @generated from field: string category = 5;
     */
    category: string;
    /**
     * Tags for filtering. Empty means the plugin's default tags.
     *
     * @generated from field: repeated string tags = 6;
     */
    tags: string[];
    /**
     * The JSON Schema (2020-12 or draft-07) of the arguments. Its type must be `object`. Empty means
     * an object without properties. The schema must not refer to other documents. toolhost refuses a
     * schema with more than 100 nested levels of objects and arrays, more than 4,096 objects and
     * arrays, or more than 32,768 values. Definitions under `$defs` do not add to the nesting.
     *
     * @generated from field: bytes input_schema = 7;
     */
    inputSchema: Uint8Array;
    /**
     * The JSON Schema of the structured result: the first JSON block, or `null` if there is none.
     * Empty means that the structure of results is not declared. toolhost replaces a result that does
     * not match by an error of kind INTERNAL; the operator can configure a warning instead. Results
     * with `is_error` and results without content are not checked.
     *
     * @generated from field: bytes output_schema = 8;
     */
    outputSchema: Uint8Array;
    /**
     * Example arguments that show how to call the tool.
     *
     * @generated from field: repeated toolhost.tool.v1.InputExample input_examples = 9;
     */
    inputExamples: InputExample[];
    /**
     * The time limit of one call. Unset means toolhost's default (30 s). toolhost's cap (10 min) is
     * the upper bound.
     *
     * @generated from field: google.protobuf.Duration timeout = 10;
     */
    timeout?: Duration | undefined;
    /**
     * Whether each progress report restarts `timeout`. toolhost's cap still applies to the whole
     * call.
     *
     * @generated from field: bool progress_extends_timeout = 11;
     */
    progressExtendsTimeout: boolean;
    /**
     * How failed calls are retried. Unset means no retries.
     *
     * @generated from field: toolhost.tool.v1.RetryPolicy retry = 12;
     */
    retry?: RetryPolicy | undefined;
    /**
     * The number of calls that may start in any 60 seconds, per session. One principal may start ten
     * times as many in all its sessions together. 0 means no limit.
     *
     * @generated from field: uint32 rate_limit_per_minute = 13;
     */
    rateLimitPerMinute: number;
    /**
     * The memory that the tool's process needs, in bytes. toolhost uses the largest value of all
     * tools of a plugin. 0 means the operator's default.
     *
     * @generated from field: uint64 memory_limit_bytes = 14;
     */
    memoryLimitBytes: bigint;
    /**
     * The cost of one attempt that reaches the plugin, in a unit that the operator chooses for all
     * tools. An attempt costs this whether it succeeds, fails or times out. 0 means free.
     *
     * @generated from field: double cost_per_use = 15;
     */
    costPerUse: number;
    /**
     * The names of the secrets that the tool needs. If the operator's store lacks one, the tool is
     * listed as unavailable, with the reason.
     *
     * @generated from field: repeated string requires_auth = 16;
     */
    requiresAuth: string[];
    /**
     * Requests to run without a sandbox. Only the operator can grant it, with
     * `plugin.NAME.sandbox.mode: off` in toolhost.yaml, and only for the whole plugin, because the
     * tools of a plugin share processes. Ship such a tool in a plugin that has no other tools.
     *
     * @generated from field: bool sandbox_exempt = 17;
     */
    sandboxExempt: boolean;
    /**
     * Whether the tool receives its arguments while the model still generates them, for previews
     * without side effects.
     *
     * @generated from field: bool partial_arguments = 18;
     */
    partialArguments: boolean;
    /**
     * Whether the tool can cause harm. Its calls need the approval of a person unless a policy rule
     * decides otherwise.
     *
     * @generated from field: bool dangerous = 19;
     */
    dangerous: boolean;
    /**
     * Whether calls change nothing outside of the tool. toolhost may retry such a call, and does not
     * record it on disk.
     *
     * @generated from field: bool read_only = 20;
     */
    readOnly: boolean;
    /**
     * Whether a second execution with the same arguments has no further effect. toolhost may retry
     * such a call.
     *
     * @generated from field: bool idempotent = 21;
     */
    idempotent: boolean;
    /**
     * Whether the tool must not run at the same time as another call of the same model response. It
     * overrides `parallel`.
     *
     * @generated from field: bool serial = 22;
     */
    serial: boolean;
    /**
     * Whether the result is the final answer to the user, so that the model does not need to see it.
     *
     * @generated from field: bool return_direct = 23;
     */
    returnDirect: boolean;
    /**
     * Whether the arguments must reach the tool exactly as the caller sent them, without repair,
     * clamping or defaults.
     *
     * @generated from field: bool strict = 24;
     */
    strict: boolean;
    /**
     * Whether display name, description, schemas and examples depend on the session. toolhost then
     * calls Describe for each session that lists or calls the tool. All other fields are the same for
     * every session.
     *
     * @generated from field: bool dynamic = 25;
     */
    dynamic: boolean;
    /**
     * The keys of the call's context that the tool receives, such as `run` or `toolhost.principal`;
     * see CallOptions.context for the predefined keys. The tool receives no other keys.
     *
     * @generated from field: repeated string context_keys = 26;
     */
    contextKeys: string[];
    /**
     * Additional JSON values by key, for the author's own use.
     *
     * @generated from field: map<string, bytes> metadata = 27;
     */
    metadata: {
        [key: string]: Uint8Array;
    };
    /**
     * The keys of the run's context that the tool's effects may change. toolhost and agentd refuse
     * effects on other keys, because policy rules may read the context. Keys that a policy rule
     * reads, and keys that were set when the run started, also need the operator's permission. No
     * effect may change `tenant`, `user`, `session`, `run`, `turn` and keys that begin with
     * `toolhost.`.
     *
     * @generated from field: repeated string effect_keys = 28;
     */
    effectKeys: string[];
    /**
     * Whether the tool can say later whether a call happened. If the process or toolhost ends during a
     * call, toolhost asks the tool instead of leaving the outcome unknown; see StartCall.settle of the
     * plugin contract. Must not be set for a tool that is read_only.
     *
     * @generated from field: bool settles = 29;
     */
    settles: boolean;
    /**
     * Whether the order of calls with other calls of the same model response does not matter, although
     * they have side effects. Without it, the calls of a response that are not read_only are executed
     * one after the other, in the order of the response.
     *
     * @generated from field: bool parallel = 30;
     */
    parallel: boolean;
    /**
     * Whether the check of a tool that `settles` seals: if it answers DID_NOT_HAPPEN, it has made sure
     * that the execution in question has no effect later either, even if that one still runs. It does
     * that in the place where the effect happens, with StartCall.effect_key of the plugin contract. So
     * any toolhost that shares the ledger may ask it, also while the one that had the call is silent.
     *
     * @generated from field: bool seals = 31;
     */
    seals: boolean;
};
/**
 * Describes the message toolhost.tool.v1.ToolSpec.
 * Use `create(ToolSpecSchema)` to create a new message.
 */
export declare const ToolSpecSchema: GenMessage<ToolSpec>;
/**
 * InputExample is an example call.
 *
 * @generated from message toolhost.tool.v1.InputExample
 */
export type InputExample = Message<"toolhost.tool.v1.InputExample"> & {
    /**
     * What the example shows. May be empty.
     *
     * @generated from field: string description = 1;
     */
    description: string;
    /**
     * The arguments, a JSON object.
     *
     * @generated from field: bytes arguments = 2;
     */
    arguments: Uint8Array;
};
/**
 * Describes the message toolhost.tool.v1.InputExample.
 * Use `create(InputExampleSchema)` to create a new message.
 */
export declare const InputExampleSchema: GenMessage<InputExample>;
/**
 * RetryPolicy says how toolhost retries failed calls. toolhost applies it only if a retry is safe:
 * the call never started, or its tool is read_only or idempotent.
 *
 * @generated from message toolhost.tool.v1.RetryPolicy
 */
export type RetryPolicy = Message<"toolhost.tool.v1.RetryPolicy"> & {
    /**
     * The maximum number of attempts, including the first. 0 and 1 both mean no retries.
     *
     * @generated from field: uint32 max_attempts = 1;
     */
    maxAttempts: number;
    /**
     * The delay before the second attempt. It doubles, with jitter, before each further attempt.
     * Unset means 200 ms.
     *
     * @generated from field: google.protobuf.Duration initial_backoff = 2;
     */
    initialBackoff?: Duration | undefined;
    /**
     * The longest delay between two attempts. Unset means 5 s.
     *
     * @generated from field: google.protobuf.Duration max_backoff = 3;
     */
    maxBackoff?: Duration | undefined;
};
/**
 * Describes the message toolhost.tool.v1.RetryPolicy.
 * Use `create(RetryPolicySchema)` to create a new message.
 */
export declare const RetryPolicySchema: GenMessage<RetryPolicy>;
