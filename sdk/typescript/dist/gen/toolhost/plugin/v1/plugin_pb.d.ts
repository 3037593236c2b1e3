import type { GenEnum, GenFile, GenMessage, GenService } from "@bufbuild/protobuf/codegenv2";
import type { Duration } from "@bufbuild/protobuf/wkt";
import type { Error } from "../../tool/v1/error_pb.js";
import type { Permissions } from "../../tool/v1/permissions_pb.js";
import type { Answer, ModelQuestion, PersonQuestion, QuestionKinds } from "../../tool/v1/question_pb.js";
import type { Result } from "../../tool/v1/result_pb.js";
import type { ToolSpec } from "../../tool/v1/spec_pb.js";
import type { LogRecord, Progress, Status } from "../../tool/v1/status_pb.js";
import type { SdkInfo } from "../../tool/v1/version_pb.js";
import type { Message } from "@bufbuild/protobuf";
/**
 * Describes the file toolhost/plugin/v1/plugin.proto.
 */
export declare const file_toolhost_plugin_v1_plugin: GenFile;
/**
 * DescribeRequest requests the description of the plugin.
 *
 * @generated from message toolhost.plugin.v1.DescribeRequest
 */
export type DescribeRequest = Message<"toolhost.plugin.v1.DescribeRequest"> & {
    /**
     * The names of the tools to describe. The plugin ignores unknown names. Empty means all tools.
     *
     * @generated from field: repeated string tools = 1;
     */
    tools: string[];
    /**
     * The session for which dynamic tools are described. If session and context are empty, the
     * description applies to all callers without a session.
     *
     * @generated from field: string session = 2;
     */
    session: string;
    /**
     * The context of the session, as JSON values by key. It contains only keys that the tools
     * declare.
     *
     * @generated from field: map<string, bytes> context = 3;
     */
    context: {
        [key: string]: Uint8Array;
    };
};
/**
 * Describes the message toolhost.plugin.v1.DescribeRequest.
 * Use `create(DescribeRequestSchema)` to create a new message.
 */
export declare const DescribeRequestSchema: GenMessage<DescribeRequest>;
/**
 * DescribeResponse is what a plugin declares about itself.
 *
 * @generated from message toolhost.plugin.v1.DescribeResponse
 */
export type DescribeResponse = Message<"toolhost.plugin.v1.DescribeResponse"> & {
    /**
     * The name of the plugin: 1 to 64 of the characters A-Z a-z 0-9 _ -, beginning with a letter.
     *
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * The version of the plugin. Any text; semantic versioning is usual.
     *
     * @generated from field: string version = 2;
     */
    version: string;
    /**
     * One line that describes the plugin. May be empty.
     *
     * @generated from field: string description = 3;
     */
    description: string;
    /**
     * The tools. Names must be unique. Must not be empty unless the plugin has filters.
     *
     * @generated from field: repeated toolhost.tool.v1.ToolSpec tools = 4;
     */
    tools: ToolSpec[];
    /**
     * The tags of tools that declare none.
     *
     * @generated from field: repeated string default_tags = 5;
     */
    defaultTags: string[];
    /**
     * The filters. Names must be unique among tools and filters. Usually empty.
     *
     * @generated from field: repeated toolhost.plugin.v1.FilterSpec filters = 6;
     */
    filters: FilterSpec[];
    /**
     * The access that the plugin requests beyond what every plugin has. The request grants nothing;
     * toolhost shows it to the operator, whose configuration grants access. A plugin.yaml file can
     * request access too. Usually unset.
     *
     * @generated from field: toolhost.tool.v1.Permissions permissions = 7;
     */
    permissions?: Permissions | undefined;
    /**
     * The SDK that the plugin uses. Unset if it uses none. toolhost shows it to the operator, and
     * makes no decision that depends on it.
     *
     * @generated from field: toolhost.tool.v1.SdkInfo sdk = 8;
     */
    sdk?: SdkInfo | undefined;
};
/**
 * Describes the message toolhost.plugin.v1.DescribeResponse.
 * Use `create(DescribeResponseSchema)` to create a new message.
 */
export declare const DescribeResponseSchema: GenMessage<DescribeResponse>;
/**
 * FilterSpec declares a filter: a function that toolhost calls before or after tool calls,
 * including calls of other plugins' tools. The operator's configuration says which tools a filter
 * applies to, and in which order the filters run. A plugin can apply a filter to its own tools; see
 * `tools`.
 *
 * toolhost calls a filter like a tool, with StartCall. `tool` is the filter's name, the arguments
 * are complete, and the call id is unique to the filter's call. The arguments are a JSON object
 * with these members; members without a value are absent:
 *
 * 	"phase"       "before" or "after"
 * 	"call_id"     the id of the filtered call
 * 	"principal"   the key of the principal that the call is for
 * 	"via"         the key of the delegate that made the call for the principal
 * 	"groups"      the groups of the principal, a list
 * 	"session"     the session
 * 	"tool"        the name of the tool
 * 	"plugin"      the name of the plugin that contains the tool
 * 	"arguments"   before: the arguments from the caller or the previous filter; after: the arguments
 * 	              that were executed
 * 	"result"      after: the result, a toolhost.tool.v1.Result as ProtoJSON
 * 	              (https://protobuf.dev/programming-guides/json)
 *
 * The filter returns a result whose first content block is `json`: an object with at most one of
 * the members below. An empty object, or a result without content, changes nothing. A member that
 * is not listed here, or that does not belong to the phase, makes the filter fail.
 *
 * 	"arguments"   before: an object that replaces the arguments
 * 	"deny"        before: a string with the reason for refusing the call; the call ends with the
 * 	              error DENIED
 * 	"answer"      before: a Result as ProtoJSON; the call ends with it, and the tool is not called
 * 	"result"      after: a Result as ProtoJSON that replaces the result
 *
 * Filters wrap a call like layers: before the call they run in their order, after it in reverse
 * order. If a filter returns "answer", the filters that ran before it receive that answer as the
 * result, and the remaining filters do not run. A replaced result keeps the duration of the
 * original, and its usage and cost unless the replacement sets them.
 *
 * If a filter fails, or returns a result with `is_error`, the call ends with an error, unless the
 * operator has configured the filter as optional.
 *
 * @generated from message toolhost.plugin.v1.FilterSpec
 */
export type FilterSpec = Message<"toolhost.plugin.v1.FilterSpec"> & {
    /**
     * The name of the filter; the rules are those for tool names.
     *
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * What the filter does, for operators. May be empty.
     *
     * @generated from field: string description = 2;
     */
    description: string;
    /**
     * Whether toolhost calls the filter before calls.
     *
     * @generated from field: bool before = 3;
     */
    before: boolean;
    /**
     * Whether toolhost calls the filter after calls.
     *
     * @generated from field: bool after = 4;
     */
    after: boolean;
    /**
     * The names of tools of the same plugin, as the plugin declares them, whose calls always pass the
     * filter. The operator configures nothing for that, and cannot make such a filter optional. Empty
     * means that only the operator's configuration applies the filter.
     *
     * The filter runs closest to the tool: before a call after the operator's filters, and after it
     * before them. It runs before the operator's policy and the approval of a person, which decide
     * about the arguments that it makes. So it must have no side effects, it must not return "answer",
     * and it gets no secrets. It gets no calls that the policy denies whatever their arguments are. It
     * gets "principal", "via" and "groups" only if the tool declares the context key
     * `toolhost.principal`.
     *
     * A plugin that names a tool here that it does not have, or the same one twice, cannot be used. At
     * most 8 filters of a plugin may name a tool.
     *
     * @generated from field: repeated string tools = 5;
     */
    tools: string[];
};
/**
 * Describes the message toolhost.plugin.v1.FilterSpec.
 * Use `create(FilterSpecSchema)` to create a new message.
 */
export declare const FilterSpecSchema: GenMessage<FilterSpec>;
/**
 * ConnectRequest is a frame from toolhost to the plugin.
 *
 * @generated from message toolhost.plugin.v1.ConnectRequest
 */
export type ConnectRequest = Message<"toolhost.plugin.v1.ConnectRequest"> & {
    /**
     * The number of the call on this stream, from 1.
     *
     * @generated from field: uint32 call = 1;
     */
    call: number;
    /**
     * The content of the frame.
     *
     * @generated from oneof toolhost.plugin.v1.ConnectRequest.frame
     */
    frame: {
        /**
         * Starts a call.
         *
         * @generated from field: toolhost.plugin.v1.StartCall start = 2;
         */
        value: StartCall;
        case: "start";
    } | {
        /**
         * Appends argument text, while the model still generates the arguments.
         *
         * @generated from field: toolhost.plugin.v1.AppendArguments append = 3;
         */
        value: AppendArguments;
        case: "append";
    } | {
        /**
         * Completes the arguments; the plugin executes the call.
         *
         * @generated from field: toolhost.plugin.v1.CompleteArguments complete = 4;
         */
        value: CompleteArguments;
        case: "complete";
    } | {
        /**
         * Requests cancellation. The plugin still sends `end`, usually with the error CANCELLED.
         *
         * @generated from field: toolhost.plugin.v1.CancelCall cancel = 5;
         */
        value: CancelCall;
        case: "cancel";
    } | {
        /**
         * Allows the plugin to send more.
         *
         * @generated from field: toolhost.plugin.v1.GrantCredit credit = 6;
         */
        value: GrantCredit;
        case: "credit";
    } | {
        /**
         * The answer to the plugin's `read_artifact`.
         *
         * @generated from field: toolhost.plugin.v1.ArtifactPiece artifact = 7;
         */
        value: ArtifactPiece;
        case: "artifact";
    } | {
        /**
         * The answer to the plugin's `ask_person` or `ask_model`.
         *
         * @generated from field: toolhost.plugin.v1.QuestionAnswer answer = 11;
         */
        value: QuestionAnswer;
        case: "answer";
    } | {
        case: undefined;
        value?: undefined;
    };
    /**
     * Frames that follow this one, in order; see Connect. They have no `batch`, `ack_token` or `ack`.
     *
     * @generated from field: repeated toolhost.plugin.v1.ConnectRequest batch = 8;
     */
    batch: ConnectRequest[];
    /**
     * A random number that the plugin returns in `ack` after it has read this message; see Connect. 0
     * means that no ack is requested.
     *
     * @generated from field: fixed64 ack_token = 9;
     */
    ackToken: bigint;
    /**
     * The `ack_token` of the last message that toolhost has read. 0 means none.
     *
     * @generated from field: fixed64 ack = 10;
     */
    ack: bigint;
};
/**
 * Describes the message toolhost.plugin.v1.ConnectRequest.
 * Use `create(ConnectRequestSchema)` to create a new message.
 */
export declare const ConnectRequestSchema: GenMessage<ConnectRequest>;
/**
 * StartCall starts a call.
 *
 * If `complete` is set, `arguments` is final and the plugin executes the call at once. Otherwise
 * `append` frames may follow, and then `complete` or `cancel`; the plugin executes the call at
 * `complete`. Tools without `partial_arguments` receive such calls too, because arguments of more
 * than 64 KiB arrive in pieces.
 *
 * If the plugin does not have the tool, the call ends with the error NOT_FOUND.
 *
 * @generated from message toolhost.plugin.v1.StartCall
 */
export type StartCall = Message<"toolhost.plugin.v1.StartCall"> & {
    /**
     * The id of the call, which is also its idempotency key. All frames and attempts with one call id
     * reach the same tool object.
     *
     * @generated from field: string call_id = 1;
     */
    callId: string;
    /**
     * The name of the tool.
     *
     * @generated from field: string tool = 2;
     */
    tool: string;
    /**
     * JSON text: the whole arguments if `complete` is set, otherwise their beginning.
     *
     * @generated from field: bytes arguments = 3;
     */
    arguments: Uint8Array;
    /**
     * Whether `arguments` is complete.
     *
     * @generated from field: bool complete = 4;
     */
    complete: boolean;
    /**
     * The time limit of the call, from now. When it is over, the plugin stops the work and ends the
     * call with the error TIMEOUT; toolhost also stops waiting. Unset means no limit. If progress or
     * questions can move the deadline of the call, this is the latest possible one, and toolhost
     * cancels the call at the actual one.
     *
     * @generated from field: google.protobuf.Duration timeout = 5;
     */
    timeout?: Duration | undefined;
    /**
     * The initial credit of the call in bytes. See GrantCredit.
     *
     * @generated from field: uint32 credit = 6;
     */
    credit: number;
    /**
     * The number of the attempt, from 1. 0 means 1.
     *
     * @generated from field: uint32 attempt = 7;
     */
    attempt: number;
    /**
     * The context of the call. Unset means that all its fields are empty.
     *
     * @generated from field: toolhost.plugin.v1.CallContext context = 8;
     */
    context?: CallContext | undefined;
    /**
     * Asks what became of an earlier call instead of executing one. toolhost sets it only for tools that
     * declare `settles`. Only if the tool declares `seals`, too, the earlier call may still run, in
     * another process or on another machine. `call_id`, `arguments` and `effect_key` are those of the
     * earlier call, and `complete` is set. The plugin finds out whether that call had its effect, changes
     * nothing but what sealing needs, and ends with `settlement` within `timeout`. It may send only log
     * records and spans before that. A plugin whose tool does not declare `settles` executes nothing and ends with
     * the error UNSUPPORTED.
     *
     * toolhost treats an error, a result, a late answer and an answer for another call id as UNKNOWN.
     *
     * @generated from field: bool settle = 9;
     */
    settle: boolean;
    /**
     * Names this execution of the call, for the place where its effect happens: an idempotency key or a
     * unique column. All attempts of an execution have the same one. After DID_NOT_HAPPEN, the call may
     * be executed again under the same call id, with another key: so a check that seals refuses the old
     * key there for ever. No two executions have the same, whosever they are. At most 64 of the characters
     * a-z and 0-9. Set for tools that declare `settles`. It is empty if an older toolhost executes or
     * asks, and a tool that `seals` then answers UNKNOWN.
     *
     * @generated from field: string effect_key = 10;
     */
    effectKey: string;
};
/**
 * Describes the message toolhost.plugin.v1.StartCall.
 * Use `create(StartCallSchema)` to create a new message.
 */
export declare const StartCallSchema: GenMessage<StartCall>;
/**
 * CallContext is the context in which a call runs. It contains only what the tool declared.
 *
 * @generated from message toolhost.plugin.v1.CallContext
 */
export type CallContext = Message<"toolhost.plugin.v1.CallContext"> & {
    /**
     * The id of the session. Empty means none.
     *
     * @generated from field: string session = 1;
     */
    session: string;
    /**
     * The absolute path of the folder in which the tool may work. Empty means none.
     *
     * @generated from field: string workspace = 2;
     */
    workspace: string;
    /**
     * Context values, as JSON by key, for the keys in ToolSpec.context_keys.
     *
     * @generated from field: map<string, bytes> values = 3;
     */
    values: {
        [key: string]: Uint8Array;
    };
    /**
     * Secret values by name, for exactly the names in ToolSpec.requires_auth. toolhost does not start
     * the call if the operator's store lacks one or does not grant it to the plugin. In everything
     * that the plugin sends or prints, toolhost replaces each value with `[secret NAME]`.
     *
     * @generated from field: map<string, string> secrets = 4;
     */
    secrets: {
        [key: string]: string;
    };
    /**
     * The W3C trace context of the call (https://www.w3.org/TR/trace-context/). If toolhost records
     * the call, the span id is the id of toolhost's span. Empty means none.
     *
     * @generated from field: string traceparent = 5;
     */
    traceparent: string;
    /**
     * How many bytes of `spans` frames toolhost accepts for this call. 0 means that toolhost does not
     * record the call: the plugin sends no spans.
     *
     * @generated from field: uint32 span_bytes = 6;
     */
    spanBytes: number;
    /**
     * What the call may ask. The operator permits it, and the caller answers it. The plugin must not
     * ask anything else: an SDK returns the error UNSUPPORTED to its tool. A toolhost that does not
     * know questions leaves this unset, which means nothing.
     *
     * @generated from field: toolhost.tool.v1.QuestionKinds answers = 7;
     */
    answers?: QuestionKinds | undefined;
};
/**
 * Describes the message toolhost.plugin.v1.CallContext.
 * Use `create(CallContextSchema)` to create a new message.
 */
export declare const CallContextSchema: GenMessage<CallContext>;
/**
 * AppendArguments appends to the argument text. A tool may use incomplete text only for previews. A
 * tool without previews just collects it.
 *
 * @generated from message toolhost.plugin.v1.AppendArguments
 */
export type AppendArguments = Message<"toolhost.plugin.v1.AppendArguments"> & {
    /**
     * The next piece of the text. It may end anywhere, even inside a UTF-8 sequence.
     *
     * @generated from field: bytes text = 1;
     */
    text: Uint8Array;
};
/**
 * Describes the message toolhost.plugin.v1.AppendArguments.
 * Use `create(AppendArgumentsSchema)` to create a new message.
 */
export declare const AppendArgumentsSchema: GenMessage<AppendArguments>;
/**
 * CompleteArguments says that the arguments are complete and valid. The plugin executes the call
 * exactly once and stops its previews.
 *
 * @generated from message toolhost.plugin.v1.CompleteArguments
 */
export type CompleteArguments = Message<"toolhost.plugin.v1.CompleteArguments"> & {
    /**
     * The final arguments, a JSON object. If set, they replace the text received so far, because
     * toolhost repaired it. Empty means the text received so far.
     *
     * @generated from field: bytes arguments = 1;
     */
    arguments: Uint8Array;
};
/**
 * Describes the message toolhost.plugin.v1.CompleteArguments.
 * Use `create(CompleteArgumentsSchema)` to create a new message.
 */
export declare const CompleteArgumentsSchema: GenMessage<CompleteArguments>;
/**
 * CancelCall requests the cancellation of a call.
 *
 * @generated from message toolhost.plugin.v1.CancelCall
 */
export type CancelCall = Message<"toolhost.plugin.v1.CancelCall"> & {
    /**
     * The reason, as text. May be empty.
     *
     * @generated from field: string reason = 1;
     */
    reason: string;
};
/**
 * Describes the message toolhost.plugin.v1.CancelCall.
 * Use `create(CancelCallSchema)` to create a new message.
 */
export declare const CancelCallSchema: GenMessage<CancelCall>;
/**
 * GrantCredit allows the plugin to send more for one call, so that a call whose output is not read
 * does not block the others.
 *
 * Each frame from the plugin except `end` costs its encoded size in bytes: the size of the
 * ConnectResponse with its `call` field, but without `ack_token`, `ack`, `batch` and gRPC framing.
 * A call starts with StartCall.credit. The plugin may send a frame only if the credit is positive;
 * the frame may make it negative. `end` needs no credit. To keep `end` small, the plugin sends the
 * content of a result in `chunk` frames of at most 64 KiB each if all blocks together have more
 * than 64 KiB.
 *
 * If a plugin sends without credit, toolhost ends the call with an error. If a call is canceled or
 * times out while the plugin waits for credit, the plugin sends `end` without waiting, because
 * toolhost may grant no more credit.
 *
 * @generated from message toolhost.plugin.v1.GrantCredit
 */
export type GrantCredit = Message<"toolhost.plugin.v1.GrantCredit"> & {
    /**
     * The number of bytes to add to the credit.
     *
     * @generated from field: uint32 bytes = 1;
     */
    bytes: number;
};
/**
 * Describes the message toolhost.plugin.v1.GrantCredit.
 * Use `create(GrantCreditSchema)` to create a new message.
 */
export declare const GrantCreditSchema: GenMessage<GrantCredit>;
/**
 * ConnectResponse is a frame from the plugin to toolhost.
 *
 * @generated from message toolhost.plugin.v1.ConnectResponse
 */
export type ConnectResponse = Message<"toolhost.plugin.v1.ConnectResponse"> & {
    /**
     * The number of the call on this stream.
     *
     * @generated from field: uint32 call = 1;
     */
    call: number;
    /**
     * The content of the frame.
     *
     * @generated from oneof toolhost.plugin.v1.ConnectResponse.frame
     */
    frame: {
        /**
         * A status for people.
         *
         * @generated from field: toolhost.tool.v1.Status status = 2;
         */
        value: Status;
        case: "status";
    } | {
        /**
         * Progress: short for a status in which only `progress` is set.
         *
         * @generated from field: toolhost.tool.v1.Progress progress = 3;
         */
        value: Progress;
        case: "progress";
    } | {
        /**
         * A record of the tool's log.
         *
         * @generated from field: toolhost.tool.v1.LogRecord log = 4;
         */
        value: LogRecord;
        case: "log";
    } | {
        /**
         * A part of the result.
         *
         * @generated from field: toolhost.plugin.v1.ContentChunk chunk = 5;
         */
        value: ContentChunk;
        case: "chunk";
    } | {
        /**
         * The outcome. It is the last frame of the call.
         *
         * @generated from field: toolhost.plugin.v1.CallEnd end = 6;
         */
        value: CallEnd;
        case: "end";
    } | {
        /**
         * Requests a part of an artifact.
         *
         * @generated from field: toolhost.plugin.v1.ReadArtifact read_artifact = 7;
         */
        value: ReadArtifact;
        case: "readArtifact";
    } | {
        /**
         * Spans that have ended. They must come before `end`.
         *
         * @generated from field: toolhost.plugin.v1.FinishedSpans spans = 11;
         */
        value: FinishedSpans;
        case: "spans";
    } | {
        /**
         * Asks a person.
         *
         * @generated from field: toolhost.plugin.v1.AskPerson ask_person = 12;
         */
        value: AskPerson;
        case: "askPerson";
    } | {
        /**
         * Asks a model.
         *
         * @generated from field: toolhost.plugin.v1.AskModel ask_model = 13;
         */
        value: AskModel;
        case: "askModel";
    } | {
        case: undefined;
        value?: undefined;
    };
    /**
     * Frames that follow this one, in order; see Connect. They have no `batch`, `ack_token` or `ack`.
     *
     * @generated from field: repeated toolhost.plugin.v1.ConnectResponse batch = 8;
     */
    batch: ConnectResponse[];
    /**
     * A random number that toolhost returns in `ack` after it has read this message; see Connect. 0
     * means that no ack is requested.
     *
     * @generated from field: fixed64 ack_token = 9;
     */
    ackToken: bigint;
    /**
     * The `ack_token` of the last message that the plugin has read. 0 means none.
     *
     * @generated from field: fixed64 ack = 10;
     */
    ack: bigint;
};
/**
 * Describes the message toolhost.plugin.v1.ConnectResponse.
 * Use `create(ConnectResponseSchema)` to create a new message.
 */
export declare const ConnectResponseSchema: GenMessage<ConnectResponse>;
/**
 * FinishedSpans contains finished spans of the call: operations of the tool's own code, for the
 * trace of the call. A plugin has no network, so toolhost exports the spans for it.
 *
 * toolhost sets the trace and the service of the spans. It exports them as spans of this plugin in
 * the trace of the call, between the start and the end of the call. If the parent of a span is
 * neither the call's span nor another span of the same call, toolhost replaces it by the call's
 * span. toolhost drops spans without a valid id, spans with an id that occurs twice, spans after
 * the first 128 of a call, and spans beyond CallContext.span_bytes. It clips content that exceeds
 * the bounds of Span. Dropped spans never fail a call. toolhost counts them, and the call's span says
 * how many there are.
 *
 * @generated from message toolhost.plugin.v1.FinishedSpans
 */
export type FinishedSpans = Message<"toolhost.plugin.v1.FinishedSpans"> & {
    /**
     * The spans, in any order: a child usually ends before its parent.
     *
     * @generated from field: repeated toolhost.plugin.v1.Span spans = 1;
     */
    spans: Span[];
    /**
     * How many further spans the plugin has dropped since its last FinishedSpans of the call: spans
     * beyond the bounds, and spans that had not ended.
     *
     * @generated from field: uint32 dropped = 2;
     */
    dropped: number;
};
/**
 * Describes the message toolhost.plugin.v1.FinishedSpans.
 * Use `create(FinishedSpansSchema)` to create a new message.
 */
export declare const FinishedSpansSchema: GenMessage<FinishedSpans>;
/**
 * Span is an operation that has ended, in the terms of OpenTelemetry.
 *
 * @generated from message toolhost.plugin.v1.Span
 */
export type Span = Message<"toolhost.plugin.v1.Span"> & {
    /**
     * The id: 8 bytes, not all of them 0, unique in the trace.
     *
     * @generated from field: bytes span_id = 1;
     */
    spanId: Uint8Array;
    /**
     * The id of the parent, 8 bytes. Empty means the span that CallContext.traceparent names.
     *
     * @generated from field: bytes parent_span_id = 2;
     */
    parentSpanId: Uint8Array;
    /**
     * The name, at most 128 bytes.
     *
     * @generated from field: string name = 3;
     */
    name: string;
    /**
     * When the operation began and ended, in nanoseconds since the Unix epoch.
     *
     * @generated from field: fixed64 start_time_unix_nano = 4;
     */
    startTimeUnixNano: bigint;
    /**
     * See start_time_unix_nano.
     *
     * @generated from field: fixed64 end_time_unix_nano = 5;
     */
    endTimeUnixNano: bigint;
    /**
     * The kind. Unspecified means internal.
     *
     * @generated from field: toolhost.plugin.v1.SpanKind kind = 6;
     */
    kind: SpanKind;
    /**
     * At most 32 attributes.
     *
     * @generated from field: repeated toolhost.plugin.v1.SpanAttribute attributes = 7;
     */
    attributes: SpanAttribute[];
    /**
     * At most 32 events.
     *
     * @generated from field: repeated toolhost.plugin.v1.SpanEvent events = 8;
     */
    events: SpanEvent[];
    /**
     * Whether the operation succeeded.
     *
     * @generated from field: toolhost.plugin.v1.SpanStatus status = 9;
     */
    status: SpanStatus;
    /**
     * Why the operation failed, at most 1 KiB. Empty unless `status` is an error.
     *
     * @generated from field: string status_message = 10;
     */
    statusMessage: string;
};
/**
 * Describes the message toolhost.plugin.v1.Span.
 * Use `create(SpanSchema)` to create a new message.
 */
export declare const SpanSchema: GenMessage<Span>;
/**
 * SpanAttribute is a key with a value. The key has at most 128 bytes. Keys that begin with
 * `toolhost.` belong to toolhost, which drops them.
 *
 * @generated from message toolhost.plugin.v1.SpanAttribute
 */
export type SpanAttribute = Message<"toolhost.plugin.v1.SpanAttribute"> & {
    /**
     * The key. Must not be empty.
     *
     * @generated from field: string key = 1;
     */
    key: string;
    /**
     * The value. Exactly one is set. A list travels as JSON text.
     *
     * @generated from oneof toolhost.plugin.v1.SpanAttribute.value
     */
    value: {
        /**
         * A text of at most 1 KiB.
         *
         * @generated from field: string text = 2;
         */
        value: string;
        case: "text";
    } | {
        /**
         * A truth value.
         *
         * @generated from field: bool truth = 3;
         */
        value: boolean;
        case: "truth";
    } | {
        /**
         * An integer.
         *
         * @generated from field: int64 integer = 4;
         */
        value: bigint;
        case: "integer";
    } | {
        /**
         * A floating-point number.
         *
         * @generated from field: double number = 5;
         */
        value: number;
        case: "number";
    } | {
        case: undefined;
        value?: undefined;
    };
};
/**
 * Describes the message toolhost.plugin.v1.SpanAttribute.
 * Use `create(SpanAttributeSchema)` to create a new message.
 */
export declare const SpanAttributeSchema: GenMessage<SpanAttribute>;
/**
 * SpanEvent is something that happened during a span.
 *
 * @generated from message toolhost.plugin.v1.SpanEvent
 */
export type SpanEvent = Message<"toolhost.plugin.v1.SpanEvent"> & {
    /**
     * The name, at most 128 bytes.
     *
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * When it happened, in nanoseconds since the Unix epoch.
     *
     * @generated from field: fixed64 time_unix_nano = 2;
     */
    timeUnixNano: bigint;
    /**
     * At most 8 attributes.
     *
     * @generated from field: repeated toolhost.plugin.v1.SpanAttribute attributes = 3;
     */
    attributes: SpanAttribute[];
};
/**
 * Describes the message toolhost.plugin.v1.SpanEvent.
 * Use `create(SpanEventSchema)` to create a new message.
 */
export declare const SpanEventSchema: GenMessage<SpanEvent>;
/**
 * ReadArtifact requests a part of an artifact whose handle the tool found in its arguments: the
 * result of another tool that was too large to show. toolhost answers with one ArtifactPiece. A
 * call may have one open request; toolhost answers a second one with an error.
 *
 * @generated from message toolhost.plugin.v1.ReadArtifact
 */
export type ReadArtifact = Message<"toolhost.plugin.v1.ReadArtifact"> & {
    /**
     * The handle of the artifact.
     *
     * @generated from field: string handle = 1;
     */
    handle: string;
    /**
     * The position of the first byte.
     *
     * @generated from field: uint64 offset = 2;
     */
    offset: bigint;
    /**
     * The maximum number of bytes. 0 and values over 64 KiB mean 64 KiB.
     *
     * @generated from field: uint32 limit = 3;
     */
    limit: number;
};
/**
 * Describes the message toolhost.plugin.v1.ReadArtifact.
 * Use `create(ReadArtifactSchema)` to create a new message.
 */
export declare const ReadArtifactSchema: GenMessage<ReadArtifact>;
/**
 * ArtifactPiece answers ReadArtifact.
 *
 * @generated from message toolhost.plugin.v1.ArtifactPiece
 */
export type ArtifactPiece = Message<"toolhost.plugin.v1.ArtifactPiece"> & {
    /**
     * The bytes. Empty at or after the end of the artifact.
     *
     * @generated from field: bytes data = 1;
     */
    data: Uint8Array;
    /**
     * The IANA media type of the whole artifact.
     *
     * @generated from field: string media_type = 2;
     */
    mediaType: string;
    /**
     * The size of the whole artifact, in bytes.
     *
     * @generated from field: uint64 size = 3;
     */
    size: bigint;
    /**
     * The failure: NOT_FOUND if the artifact does not exist, has expired, or the call may not read
     * it. Unset means success.
     *
     * @generated from field: toolhost.tool.v1.Error error = 4;
     */
    error?: Error | undefined;
    /**
     * A file name without folders. May be empty.
     *
     * @generated from field: string name = 5;
     */
    name: string;
};
/**
 * Describes the message toolhost.plugin.v1.ArtifactPiece.
 * Use `create(ArtifactPieceSchema)` to create a new message.
 */
export declare const ArtifactPieceSchema: GenMessage<ArtifactPiece>;
/**
 * AskPerson asks a person who uses the caller of the tool. toolhost passes the question to the caller,
 * with the name of the plugin, and answers once with QuestionAnswer. It does so at once, with an
 * error, if the question is malformed, exceeds a limit of the operator, or is not in
 * CallContext.answers. A call can have several open questions. The plugin continues to send and
 * receive other frames meanwhile. The deadline of the call pauses while a question is open, up to a
 * limit of the operator. When the call ends or is canceled, its open questions get no answer.
 *
 * @generated from message toolhost.plugin.v1.AskPerson
 */
export type AskPerson = Message<"toolhost.plugin.v1.AskPerson"> & {
    /**
     * The number of the question, from 1. The plugin chooses it. Unique in the call for questions of
     * both kinds.
     *
     * @generated from field: uint32 number = 1;
     */
    number: number;
    /**
     * The question.
     *
     * @generated from field: toolhost.tool.v1.PersonQuestion question = 2;
     */
    question?: PersonQuestion | undefined;
};
/**
 * Describes the message toolhost.plugin.v1.AskPerson.
 * Use `create(AskPersonSchema)` to create a new message.
 */
export declare const AskPersonSchema: GenMessage<AskPerson>;
/**
 * AskModel asks the language model of the caller. The rules are those of AskPerson.
 *
 * @generated from message toolhost.plugin.v1.AskModel
 */
export type AskModel = Message<"toolhost.plugin.v1.AskModel"> & {
    /**
     * The number of the question, from 1. The plugin chooses it. Unique in the call for questions of
     * both kinds.
     *
     * @generated from field: uint32 number = 1;
     */
    number: number;
    /**
     * The question.
     *
     * @generated from field: toolhost.tool.v1.ModelQuestion question = 2;
     */
    question?: ModelQuestion | undefined;
};
/**
 * Describes the message toolhost.plugin.v1.AskModel.
 * Use `create(AskModelSchema)` to create a new message.
 */
export declare const AskModelSchema: GenMessage<AskModel>;
/**
 * QuestionAnswer answers AskPerson or AskModel.
 *
 * @generated from message toolhost.plugin.v1.QuestionAnswer
 */
export type QuestionAnswer = Message<"toolhost.plugin.v1.QuestionAnswer"> & {
    /**
     * The number of the question.
     *
     * @generated from field: uint32 number = 1;
     */
    number: number;
    /**
     * The answer.
     *
     * @generated from field: toolhost.tool.v1.Answer answer = 2;
     */
    answer?: Answer | undefined;
};
/**
 * Describes the message toolhost.plugin.v1.QuestionAnswer.
 * Use `create(QuestionAnswerSchema)` to create a new message.
 */
export declare const QuestionAnswerSchema: GenMessage<QuestionAnswer>;
/**
 * ContentChunk is a part of one content block of the result that follows in `end`. Chunks keep a
 * large result from blocking other calls. `end` contains the block at its index, with its kind and
 * everything except the payload that was sent in chunks: an empty but set `text` or `json`, or an
 * `image` or `file` with its media type and name. A chunk of text may end inside a UTF-8 sequence.
 *
 * @generated from message toolhost.plugin.v1.ContentChunk
 */
export type ContentChunk = Message<"toolhost.plugin.v1.ContentChunk"> & {
    /**
     * The index of the block in Result.content of `end`. The chunks of a block are sent in order.
     *
     * @generated from field: uint32 index = 1;
     */
    index: number;
    /**
     * At most 64 KiB. The payload of the block (for a Blob: its `data`) is the data of all its
     * chunks, followed by the payload of the block in `end`.
     *
     * @generated from field: bytes data = 2;
     */
    data: Uint8Array;
};
/**
 * Describes the message toolhost.plugin.v1.ContentChunk.
 * Use `create(ContentChunkSchema)` to create a new message.
 */
export declare const ContentChunkSchema: GenMessage<ContentChunk>;
/**
 * CallEnd is the outcome of a call.
 *
 * @generated from message toolhost.plugin.v1.CallEnd
 */
export type CallEnd = Message<"toolhost.plugin.v1.CallEnd"> & {
    /**
     * The outcome. Exactly one is set.
     *
     * @generated from oneof toolhost.plugin.v1.CallEnd.outcome
     */
    outcome: {
        /**
         * The result of the tool, also if the tool reports a failure.
         *
         * @generated from field: toolhost.tool.v1.Result result = 1;
         */
        value: Result;
        case: "result";
    } | {
        /**
         * The plugin could not run the tool. toolhost reads only kind, message and retry_after.
         *
         * @generated from field: toolhost.tool.v1.Error error = 2;
         */
        value: Error;
        case: "error";
    } | {
        /**
         * The answer to StartCall.settle.
         *
         * @generated from field: toolhost.plugin.v1.Settlement settlement = 3;
         */
        value: Settlement;
        case: "settlement";
    } | {
        case: undefined;
        value?: undefined;
    };
};
/**
 * Describes the message toolhost.plugin.v1.CallEnd.
 * Use `create(CallEndSchema)` to create a new message.
 */
export declare const CallEndSchema: GenMessage<CallEnd>;
/**
 * Settlement is what a tool knows about an earlier call; see StartCall.settle.
 *
 * @generated from message toolhost.plugin.v1.Settlement
 */
export type Settlement = Message<"toolhost.plugin.v1.Settlement"> & {
    /**
     * The id of the earlier call.
     *
     * @generated from field: string call_id = 1;
     */
    callId: string;
    /**
     * Whether the call had its effect.
     *
     * @generated from field: toolhost.plugin.v1.SettlementVerdict verdict = 2;
     */
    verdict: SettlementVerdict;
    /**
     * The result of the call, if `verdict` is HAPPENED and the tool knows the result. Unset means that
     * the tool knows only that the call happened. No chunks come before it. It has at most 1 MiB: an SDK
     * leaves out a larger one.
     *
     * @generated from field: toolhost.tool.v1.Result result = 3;
     */
    result?: Result | undefined;
    /**
     * How the tool knows, in one line for people and models; at most 1 KiB. May be empty.
     *
     * @generated from field: string reason = 4;
     */
    reason: string;
};
/**
 * Describes the message toolhost.plugin.v1.Settlement.
 * Use `create(SettlementSchema)` to create a new message.
 */
export declare const SettlementSchema: GenMessage<Settlement>;
/**
 * SpanKind says how an operation relates to other processes.
 *
 * @generated from enum toolhost.plugin.v1.SpanKind
 */
export declare enum SpanKind {
    /**
     * Not set: internal.
     *
     * @generated from enum value: SPAN_KIND_UNSPECIFIED = 0;
     */
    UNSPECIFIED = 0,
    /**
     * The operation stays in the plugin.
     *
     * @generated from enum value: SPAN_KIND_INTERNAL = 1;
     */
    INTERNAL = 1,
    /**
     * The operation serves a request of another process.
     *
     * @generated from enum value: SPAN_KIND_SERVER = 2;
     */
    SERVER = 2,
    /**
     * The operation requests something from another process, such as a database.
     *
     * @generated from enum value: SPAN_KIND_CLIENT = 3;
     */
    CLIENT = 3,
    /**
     * The operation sends a message.
     *
     * @generated from enum value: SPAN_KIND_PRODUCER = 4;
     */
    PRODUCER = 4,
    /**
     * The operation handles a message.
     *
     * @generated from enum value: SPAN_KIND_CONSUMER = 5;
     */
    CONSUMER = 5
}
/**
 * Describes the enum toolhost.plugin.v1.SpanKind.
 */
export declare const SpanKindSchema: GenEnum<SpanKind>;
/**
 * SpanStatus says whether an operation succeeded.
 *
 * @generated from enum toolhost.plugin.v1.SpanStatus
 */
export declare enum SpanStatus {
    /**
     * The tool did not say.
     *
     * @generated from enum value: SPAN_STATUS_UNSPECIFIED = 0;
     */
    UNSPECIFIED = 0,
    /**
     * The operation succeeded.
     *
     * @generated from enum value: SPAN_STATUS_OK = 1;
     */
    OK = 1,
    /**
     * The operation failed.
     *
     * @generated from enum value: SPAN_STATUS_ERROR = 2;
     */
    ERROR = 2
}
/**
 * Describes the enum toolhost.plugin.v1.SpanStatus.
 */
export declare const SpanStatusSchema: GenEnum<SpanStatus>;
/**
 * SettlementVerdict says whether an earlier call had its effect.
 *
 * @generated from enum toolhost.plugin.v1.SettlementVerdict
 */
export declare enum SettlementVerdict {
    /**
     * Not set: the tool does not know.
     *
     * @generated from enum value: SETTLEMENT_VERDICT_UNSPECIFIED = 0;
     */
    UNSPECIFIED = 0,
    /**
     * The call had its whole effect. toolhost never executes it again.
     *
     * @generated from enum value: SETTLEMENT_VERDICT_HAPPENED = 1;
     */
    HAPPENED = 1,
    /**
     * The call had no effect, and can have none later. toolhost may execute it under the same call id.
     *
     * @generated from enum value: SETTLEMENT_VERDICT_DID_NOT_HAPPEN = 2;
     */
    DID_NOT_HAPPEN = 2,
    /**
     * The tool does not know, or the call had a part of its effect.
     *
     * @generated from enum value: SETTLEMENT_VERDICT_UNKNOWN = 3;
     */
    UNKNOWN = 3
}
/**
 * Describes the enum toolhost.plugin.v1.SettlementVerdict.
 */
export declare const SettlementVerdictSchema: GenEnum<SettlementVerdict>;
/**
 * ToolPluginService is the whole contract between toolhost and a plugin.
 *
 * @generated from service toolhost.plugin.v1.ToolPluginService
 */
export declare const ToolPluginService: GenService<{
    /**
     * Describe returns the tools of the plugin. It must have no side effects, must not use the
     * network, and must return within seconds.
     *
     * toolhost calls it once for each new executable, without a session. If the plugin has dynamic
     * tools, toolhost calls it again when a session lists or calls them, with that session and its
     * context. toolhost caches such a response for about a minute and waits for it for at most five
     * seconds. If the response is late, is an error, or contains an unusable schema, that session
     * sees the tool as the first response declared it. The stream of Connect may be open or not.
     *
     * @generated from rpc toolhost.plugin.v1.ToolPluginService.Describe
     */
    describe: {
        methodKind: "unary";
        input: typeof DescribeRequestSchema;
        output: typeof DescribeResponseSchema;
    };
    /**
     * Connect carries all calls, as frames that identify their call by a number. toolhost opens one
     * stream per connection and keeps it open as long as the process runs. When the stream ends, the
     * plugin exits.
     *
     * Calls. toolhost chooses the numbers and never reuses one on the same stream. A call starts with
     * `start` and ends with the plugin's `end`, which occurs exactly once, even after `cancel`. Both
     * sides ignore frames for a number that has ended, and frames whose `frame` they do not know,
     * which belong to a newer version of the contract. Calls run in parallel, as many as toolhost
     * starts. The plugin must continue to read the stream whatever its calls do: a call that waits,
     * for example for credit, must not block others. A call that fails in any way ends with `end`,
     * and the plugin continues to run.
     *
     * Batches. Several frames may travel in one message: the first frame carries the others in
     * `batch`. A frame means the same, and costs the same credit, as if it were sent alone. This
     * costs less than one message per frame. A side sends batches only if the other side has
     * announced that it reads them: toolhost in the request metadata `toolhost-batch: 1`, the plugin
     * in the same response header. Announcing is optional, and a side that announced it must still
     * accept single frames.
     *
     * Acks. A side may put a random number into `ack_token`; the other side returns it in `ack` of a
     * later message. The ack shows that the other side reads the stream, which lets the sender write
     * without an intermediate queue. Tokens are random so that a peer cannot acknowledge a message
     * that it has not read. Both fields are optional.
     *
     * @generated from rpc toolhost.plugin.v1.ToolPluginService.Connect
     */
    connect: {
        methodKind: "bidi_streaming";
        input: typeof ConnectRequestSchema;
        output: typeof ConnectResponseSchema;
    };
}>;
