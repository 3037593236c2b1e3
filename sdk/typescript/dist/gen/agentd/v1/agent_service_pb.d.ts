import type { GenEnum, GenFile, GenMessage, GenService } from "@bufbuild/protobuf/codegenv2";
import type { Duration, Timestamp } from "@bufbuild/protobuf/wkt";
import type { CallerInfo } from "../../toolhost/tool/v1/caller_pb.js";
import type { Error } from "../../toolhost/tool/v1/error_pb.js";
import type { Result, Usage } from "../../toolhost/tool/v1/result_pb.js";
import type { Status } from "../../toolhost/tool/v1/status_pb.js";
import type { VersionInfo } from "../../toolhost/tool/v1/version_pb.js";
import type { Settled } from "../../toolhost/v1/settled_pb.js";
import type { Message } from "@bufbuild/protobuf";
/**
 * Describes the file agentd/v1/agent_service.proto.
 */
export declare const file_agentd_v1_agent_service: GenFile;
/**
 * CreateConsoleCodeRequest has no fields.
 *
 * @generated from message agentd.v1.CreateConsoleCodeRequest
 */
export type CreateConsoleCodeRequest = Message<"agentd.v1.CreateConsoleCodeRequest"> & {};
/**
 * Describes the message agentd.v1.CreateConsoleCodeRequest.
 * Use `create(CreateConsoleCodeRequestSchema)` to create a new message.
 */
export declare const CreateConsoleCodeRequestSchema: GenMessage<CreateConsoleCodeRequest>;
/**
 * CreateConsoleCodeResponse has a one-time code.
 *
 * @generated from message agentd.v1.CreateConsoleCodeResponse
 */
export type CreateConsoleCodeResponse = Message<"agentd.v1.CreateConsoleCodeResponse"> & {
    /**
     * The code. It is a secret: whoever types it first is the caller at the pages.
     *
     * @generated from field: string code = 1;
     */
    code: string;
    /**
     * When the code ends.
     *
     * @generated from field: google.protobuf.Timestamp expire_time = 2;
     */
    expireTime?: Timestamp | undefined;
    /**
     * The address of the pages, without the code.
     *
     * @generated from field: string url = 3;
     */
    url: string;
};
/**
 * Describes the message agentd.v1.CreateConsoleCodeResponse.
 * Use `create(CreateConsoleCodeResponseSchema)` to create a new message.
 */
export declare const CreateConsoleCodeResponseSchema: GenMessage<CreateConsoleCodeResponse>;
/**
 * ReloadRequest has no fields.
 *
 * @generated from message agentd.v1.ReloadRequest
 */
export type ReloadRequest = Message<"agentd.v1.ReloadRequest"> & {};
/**
 * Describes the message agentd.v1.ReloadRequest.
 * Use `create(ReloadRequestSchema)` to create a new message.
 */
export declare const ReloadRequestSchema: GenMessage<ReloadRequest>;
/**
 * ReloadResponse says what has changed.
 *
 * @generated from message agentd.v1.ReloadResponse
 */
export type ReloadResponse = Message<"agentd.v1.ReloadResponse"> & {
    /**
     * Unset if the file says what is in effect already.
     *
     * @generated from field: agentd.v1.ConfigurationChange configuration = 1;
     */
    configuration?: ConfigurationChange | undefined;
};
/**
 * Describes the message agentd.v1.ReloadResponse.
 * Use `create(ReloadResponseSchema)` to create a new message.
 */
export declare const ReloadResponseSchema: GenMessage<ReloadResponse>;
/**
 * DiffConfigurationRequest has no fields.
 *
 * @generated from message agentd.v1.DiffConfigurationRequest
 */
export type DiffConfigurationRequest = Message<"agentd.v1.DiffConfigurationRequest"> & {};
/**
 * Describes the message agentd.v1.DiffConfigurationRequest.
 * Use `create(DiffConfigurationRequestSchema)` to create a new message.
 */
export declare const DiffConfigurationRequestSchema: GenMessage<DiffConfigurationRequest>;
/**
 * DiffConfigurationResponse says what a Reload would do.
 *
 * @generated from message agentd.v1.DiffConfigurationResponse
 */
export type DiffConfigurationResponse = Message<"agentd.v1.DiffConfigurationResponse"> & {
    /**
     * Unset if the file says what is in effect already.
     *
     * @generated from field: agentd.v1.ConfigurationChange configuration = 1;
     */
    configuration?: ConfigurationChange | undefined;
};
/**
 * Describes the message agentd.v1.DiffConfigurationResponse.
 * Use `create(DiffConfigurationResponseSchema)` to create a new message.
 */
export declare const DiffConfigurationResponseSchema: GenMessage<DiffConfigurationResponse>;
/**
 * ConfigurationChange says how the configuration file differs from the configuration in effect.
 *
 * @generated from message agentd.v1.ConfigurationChange
 */
export type ConfigurationChange = Message<"agentd.v1.ConfigurationChange"> & {
    /**
     * The path of the file. Empty if agentd has none.
     *
     * @generated from field: string file = 1;
     */
    file: string;
    /**
     * The settings whose values differ, in the order of the reference. Empty if `problem` is set.
     *
     * @generated from field: repeated agentd.v1.SettingChange changes = 2;
     */
    changes: SettingChange[];
    /**
     * Why agentd would refuse to start with the current file, in English. agentd then applies no part
     * of it. Empty if agentd would start.
     *
     * @generated from field: string problem = 3;
     */
    problem: string;
};
/**
 * Describes the message agentd.v1.ConfigurationChange.
 * Use `create(ConfigurationChangeSchema)` to create a new message.
 */
export declare const ConfigurationChangeSchema: GenMessage<ConfigurationChange>;
/**
 * SettingChange is one setting of the configuration file with its values.
 *
 * @generated from message agentd.v1.SettingChange
 */
export type SettingChange = Message<"agentd.v1.SettingChange"> & {
    /**
     * The key with its parents, such as `limits.max_turns`.
     *
     * @generated from field: string key = 1;
     */
    key: string;
    /**
     * The value in effect. Empty if the setting has no value.
     *
     * @generated from field: string old = 2;
     */
    old: string;
    /**
     * The value in the file. Empty if the setting has no value.
     *
     * @generated from field: string new = 3;
     */
    new: string;
    /**
     * Reload does not apply the change; the next start of agentd does.
     *
     * @generated from field: bool restart = 4;
     */
    restart: boolean;
};
/**
 * Describes the message agentd.v1.SettingChange.
 * Use `create(SettingChangeSchema)` to create a new message.
 */
export declare const SettingChangeSchema: GenMessage<SettingChange>;
/**
 * GetVersionRequest has no fields.
 *
 * @generated from message agentd.v1.GetVersionRequest
 */
export type GetVersionRequest = Message<"agentd.v1.GetVersionRequest"> & {};
/**
 * Describes the message agentd.v1.GetVersionRequest.
 * Use `create(GetVersionRequestSchema)` to create a new message.
 */
export declare const GetVersionRequestSchema: GenMessage<GetVersionRequest>;
/**
 * GetVersionResponse contains the version of agentd.
 *
 * @generated from message agentd.v1.GetVersionResponse
 */
export type GetVersionResponse = Message<"agentd.v1.GetVersionResponse"> & {
    /**
     * The version of the program that answers.
     *
     * @generated from field: toolhost.tool.v1.VersionInfo version = 1;
     */
    version?: VersionInfo | undefined;
};
/**
 * Describes the message agentd.v1.GetVersionResponse.
 * Use `create(GetVersionResponseSchema)` to create a new message.
 */
export declare const GetVersionResponseSchema: GenMessage<GetVersionResponse>;
/**
 * WhoAmIRequest has no fields.
 *
 * @generated from message agentd.v1.WhoAmIRequest
 */
export type WhoAmIRequest = Message<"agentd.v1.WhoAmIRequest"> & {};
/**
 * Describes the message agentd.v1.WhoAmIRequest.
 * Use `create(WhoAmIRequestSchema)` to create a new message.
 */
export declare const WhoAmIRequestSchema: GenMessage<WhoAmIRequest>;
/**
 * WhoAmIResponse describes the caller.
 *
 * @generated from message agentd.v1.WhoAmIResponse
 */
export type WhoAmIResponse = Message<"agentd.v1.WhoAmIResponse"> & {
    /**
     * The caller.
     *
     * @generated from field: toolhost.tool.v1.CallerInfo caller = 1;
     */
    caller?: CallerInfo | undefined;
};
/**
 * Describes the message agentd.v1.WhoAmIResponse.
 * Use `create(WhoAmIResponseSchema)` to create a new message.
 */
export declare const WhoAmIResponseSchema: GenMessage<WhoAmIResponse>;
/**
 * StartRunRequest describes a task for an agent.
 *
 * @generated from message agentd.v1.StartRunRequest
 */
export type StartRunRequest = Message<"agentd.v1.StartRunRequest"> & {
    /**
     * The task, as text from the user. Must not be empty.
     *
     * @generated from field: string prompt = 1;
     */
    prompt: string;
    /**
     * The id of the run: 1 to 64 of the characters A-Z a-z 0-9 _ -. Empty means that agentd generates
     * an id.
     *
     * @generated from field: string run_id = 2;
     */
    runId: string;
    /**
     * The instructions for the model. Empty means those of the agent, or agentd's default.
     *
     * @generated from field: string system_prompt = 3;
     */
    systemPrompt: string;
    /**
     * The tools that the model may call. Unset means those of the agent, or all. Everything here but
     * `max_tools` also applies to all sub-runs, whatever tools their agents have.
     *
     * @generated from field: agentd.v1.ToolChoice tools = 4;
     */
    tools?: ToolChoice | undefined;
    /**
     * The limits of the run. Unset means agentd's defaults.
     *
     * @generated from field: agentd.v1.Limits limits = 5;
     */
    limits?: Limits | undefined;
    /**
     * The toolhost session in which the run calls tools. Empty means the id of the run.
     *
     * @generated from field: string session = 6;
     */
    session: string;
    /**
     * Whether people take part in the run. Unset means agentd's default.
     *
     * @generated from field: agentd.v1.People people = 7;
     */
    people?: People | undefined;
    /**
     * The initial context of the run, as JSON values by key. agentd sets the keys `run`, `turn` and
     * `session` itself. The keys `tenant` and `user` say for whom the run works. They can be set only
     * here; no effect of a tool changes them.
     *
     * @generated from field: map<string, bytes> context = 8;
     */
    context: {
        [key: string]: Uint8Array;
    };
    /**
     * Whether the run succeeds only if the model calls `attempt_completion`. If the model responds
     * without a call, agentd reminds it; after three such responses the run pauses. `completion`
     * overrides this field.
     *
     * @generated from field: bool explicit_completion = 9;
     */
    explicitCompletion: boolean;
    /**
     * The context window of the model, and when the conversation is compacted. Unset means agentd's
     * defaults.
     *
     * @generated from field: agentd.v1.Window window = 10;
     */
    window?: Window | undefined;
    /**
     * The system tools of agentd that the model may call. Unset means agentd's default.
     *
     * @generated from field: agentd.v1.SystemTools system_tools = 11;
     */
    systemTools?: SystemTools | undefined;
    /**
     * The maximum depth of sub-runs below the run. 0 means no sub-runs. Unset means agentd's default.
     *
     * @generated from field: optional uint32 sub_runs = 12;
     */
    subRuns?: number | undefined;
    /**
     * The named agent: a name in `agents` of agentd.yaml. It has the instructions, the model, the
     * sampling, the tools, the limits and the completion of the run. Empty means the agent that the key
     * `agent` of agentd.yaml names, if any. An unknown name fails with INVALID_ARGUMENT.
     *
     * A field of this request that only narrows what the agent permits needs no right: fewer tools,
     * lower limits, a model among those of the agent. Without the right `runs.customize`, a request
     * fails with DENIED if it has other instructions, another sampling, another model, another window,
     * another completion, more tools, more tools in a request, more levels of sub-runs or higher
     * limits. So does a request without an agent, if agentd.yaml has `agents` and no `agent`.
     *
     * @generated from field: string agent = 13;
     */
    agent: string;
    /**
     * When the run has succeeded. Unset means EXPLICIT if `explicit_completion` is true, otherwise
     * agentd's default.
     *
     * @generated from field: agentd.v1.Completion completion = 14;
     */
    completion: Completion;
    /**
     * The W3C trace context in which the run starts; its calls belong to this trace. Empty means the
     * `traceparent` of the request metadata. If that is absent too, or if the value is malformed,
     * agentd starts a new trace.
     *
     * @generated from field: string traceparent = 15;
     */
    traceparent: string;
    /**
     * The model: a name in `models` of agentd.yaml, or the name of the default model. The run has no
     * fallbacks then. Empty means the model and the fallbacks of the agent, or agentd's default model.
     * An unknown name fails with INVALID_ARGUMENT.
     *
     * @generated from field: string model = 16;
     */
    model: string;
    /**
     * How the model chooses its words. Unset means the sampling of the agent. A field that is set
     * overrides that of the agent.
     *
     * @generated from field: agentd.v1.Sampling sampling = 17;
     */
    sampling?: Sampling | undefined;
    /**
     * The JSON Schema of the answer, whose `type` is `object`. The run then succeeds only with an
     * answer that fits it, and `RunFinished.result` has that answer. The same bounds apply as to the
     * input schemas of tools. A schema that agentd cannot use fails with INVALID_ARGUMENT. Empty means
     * that the answer is text.
     *
     * @generated from field: bytes response_schema = 18;
     */
    responseSchema: Uint8Array;
    /**
     * The files that go with the prompt. At most 20, with at most 12 MiB in total; all of one run may
     * be 100, with at most 20 MiB.
     *
     * @generated from field: repeated agentd.v1.Attachment attachments = 19;
     */
    attachments: Attachment[];
};
/**
 * Describes the message agentd.v1.StartRunRequest.
 * Use `create(StartRunRequestSchema)` to create a new message.
 */
export declare const StartRunRequestSchema: GenMessage<StartRunRequest>;
/**
 * Attachment is a file that a caller attaches to a prompt or a message. agentd takes its content
 * when it accepts the request and keeps it with the run. The run does not change if the file or the
 * artifact changes or disappears.
 *
 * @generated from message agentd.v1.Attachment
 */
export type Attachment = Message<"agentd.v1.Attachment"> & {
    /**
     * The name of the file, without folders. The model may see it. At most 255 bytes, without control
     * characters and characters that do not show. Empty means none.
     *
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * The MIME type for which the caller takes the content. agentd determines the type from the
     * content, and a contradiction fails with INVALID_ARGUMENT. All text is `text/plain`, must be
     * UTF-8, and fits every type of text. Empty means that the caller does not say.
     *
     * @generated from field: string mime_type = 2;
     */
    mimeType: string;
    /**
     * Where the content comes from. Required.
     *
     * @generated from oneof agentd.v1.Attachment.content
     */
    content: {
        /**
         * The content. 1 byte to 10 MiB.
         *
         * @generated from field: bytes data = 3;
         */
        value: Uint8Array;
        case: "data";
    } | {
        /**
         * An artifact of toolhost.
         *
         * @generated from field: agentd.v1.ArtifactSource artifact = 4;
         */
        value: ArtifactSource;
        case: "artifact";
    } | {
        case: undefined;
        value?: undefined;
    };
};
/**
 * Describes the message agentd.v1.Attachment.
 * Use `create(AttachmentSchema)` to create a new message.
 */
export declare const AttachmentSchema: GenMessage<Attachment>;
/**
 * ArtifactSource names an artifact of toolhost. agentd reads it for the principal of the run.
 *
 * @generated from message agentd.v1.ArtifactSource
 */
export type ArtifactSource = Message<"agentd.v1.ArtifactSource"> & {
    /**
     * The handle of the artifact.
     *
     * @generated from field: string handle = 1;
     */
    handle: string;
    /**
     * The session of the call that returned the artifact. Empty means the session of the run.
     *
     * @generated from field: string session = 2;
     */
    session: string;
};
/**
 * Describes the message agentd.v1.ArtifactSource.
 * Use `create(ArtifactSourceSchema)` to create a new message.
 */
export declare const ArtifactSourceSchema: GenMessage<ArtifactSource>;
/**
 * AttachmentInfo describes an attachment of a prompt or a message. It does not have the content.
 *
 * @generated from message agentd.v1.AttachmentInfo
 */
export type AttachmentInfo = Message<"agentd.v1.AttachmentInfo"> & {
    /**
     * The name of the file. Empty means none.
     *
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * The MIME type of the content, as agentd determined it.
     *
     * @generated from field: string mime_type = 2;
     */
    mimeType: string;
    /**
     * The size of the content in bytes.
     *
     * @generated from field: uint64 size = 3;
     */
    size: bigint;
    /**
     * The SHA-256 of the content, in lower-case hexadecimal.
     *
     * @generated from field: string sha256 = 4;
     */
    sha256: string;
    /**
     * The handle of the artifact that the content was read from. Empty if the caller sent it.
     *
     * @generated from field: string artifact = 5;
     */
    artifact: string;
};
/**
 * Describes the message agentd.v1.AttachmentInfo.
 * Use `create(AttachmentInfoSchema)` to create a new message.
 */
export declare const AttachmentInfoSchema: GenMessage<AttachmentInfo>;
/**
 * Sampling says how a model chooses its words, and how much it thinks. A setting that the provider
 * of the model does not have makes the run fail with MODEL_ERROR.
 *
 * @generated from message agentd.v1.Sampling
 */
export type Sampling = Message<"agentd.v1.Sampling"> & {
    /**
     * From 0 to 2. Some providers accept less. Unset means the provider's default.
     *
     * @generated from field: optional double temperature = 1;
     */
    temperature?: number | undefined;
    /**
     * From 0 to 1. Unset means the provider's default.
     *
     * @generated from field: optional double top_p = 2;
     */
    topP?: number | undefined;
    /**
     * How much a reasoning model thinks: `none`, `low`, `medium` or `high`. Empty means the
     * provider's default.
     *
     * @generated from field: string effort = 3;
     */
    effort: string;
};
/**
 * Describes the message agentd.v1.Sampling.
 * Use `create(SamplingSchema)` to create a new message.
 */
export declare const SamplingSchema: GenMessage<Sampling>;
/**
 * Window says how large the context window of the model is, and when agentd compacts the
 * conversation. agentd first replaces the results of old calls by notes. If that is not enough, the
 * model summarizes the conversation. A field that is 0 means agentd's default.
 *
 * @generated from message agentd.v1.Window
 */
export type Window = Message<"agentd.v1.Window"> & {
    /**
     * The number of tokens that the model can read and generate in one request.
     *
     * @generated from field: uint64 tokens = 1;
     */
    tokens: bigint;
    /**
     * The fraction of the window, from 0 to 1, at which agentd clears old results.
     *
     * @generated from field: double clear_at = 2;
     */
    clearAt: number;
    /**
     * The fraction of the window, from 0 to 1, at which agentd requests a summary.
     *
     * @generated from field: double summarize_at = 3;
     */
    summarizeAt: number;
    /**
     * The number of latest model responses that agentd leaves unchanged, together with their results.
     *
     * @generated from field: uint32 keep = 4;
     */
    keep: number;
};
/**
 * Describes the message agentd.v1.Window.
 * Use `create(WindowSchema)` to create a new message.
 */
export declare const WindowSchema: GenMessage<Window>;
/**
 * SystemTools selects the system tools of agentd. A plugin's tool with the same name replaces a
 * system tool.
 *
 * @generated from message agentd.v1.SystemTools
 */
export type SystemTools = Message<"agentd.v1.SystemTools"> & {
    /**
     * The names: `ask_user`, `attempt_completion`, `compact_conversation`, `new_task` and
     * `tool_search`. Empty means none. agentd always offers `tool_search` if there are more tools
     * than the model is shown, and `attempt_completion` if the run requires explicit completion.
     *
     * @generated from field: repeated string names = 1;
     */
    names: string[];
};
/**
 * Describes the message agentd.v1.SystemTools.
 * Use `create(SystemToolsSchema)` to create a new message.
 */
export declare const SystemToolsSchema: GenMessage<SystemTools>;
/**
 * People says whether people take part in a run.
 *
 * @generated from message agentd.v1.People
 */
export type People = Message<"agentd.v1.People"> & {
    /**
     * Whether a person sees the pending decisions of the run and may respond. If false, agentd
     * rejects everything that would need a person, and tells the model so.
     *
     * @generated from field: bool attended = 1;
     */
    attended: boolean;
    /**
     * How long a decision stays pending before it counts as rejected. Unset means 24 hours.
     *
     * @generated from field: google.protobuf.Duration expiry = 2;
     */
    expiry?: Duration | undefined;
    /**
     * Whether a person decides how to continue after a call with an unknown outcome. If false, the
     * model decides.
     *
     * @generated from field: bool ask_outcome = 3;
     */
    askOutcome: boolean;
};
/**
 * Describes the message agentd.v1.People.
 * Use `create(PeopleSchema)` to create a new message.
 */
export declare const PeopleSchema: GenMessage<People>;
/**
 * ToolChoice selects the tools that a model may call. A tool is selected if it matches every field
 * that is set.
 *
 * @generated from message agentd.v1.ToolChoice
 */
export type ToolChoice = Message<"agentd.v1.ToolChoice"> & {
    /**
     * Matches tools with one of these names. Empty means any.
     *
     * @generated from field: repeated string names = 1;
     */
    names: string[];
    /**
     * Matches tools in one of these categories. Empty means any.
     *
     * @generated from field: repeated string categories = 2;
     */
    categories: string[];
    /**
     * Matches tools with at least one of these tags. Empty means any.
     *
     * @generated from field: repeated string tags = 3;
     */
    tags: string[];
    /**
     * True matches dangerous tools, false matches all others. Unset means both.
     *
     * @generated from field: optional bool dangerous = 4;
     */
    dangerous?: boolean | undefined;
    /**
     * Matches tools that cost at most this much per use. Unset means any.
     *
     * @generated from field: optional double max_cost_per_use = 5;
     */
    maxCostPerUse?: number | undefined;
    /**
     * The maximum number of tools that the model is shown at a time. It finds the others with
     * `tool_search`. 0 means agentd's default.
     *
     * @generated from field: uint32 max_tools = 6;
     */
    maxTools: number;
    /**
     * Matches the tools of one of these plugins. Empty means any.
     *
     * @generated from field: repeated string plugins = 7;
     */
    plugins: string[];
    /**
     * The names of tools that are never selected.
     *
     * @generated from field: repeated string excluded = 8;
     */
    excluded: string[];
};
/**
 * Describes the message agentd.v1.ToolChoice.
 * Use `create(ToolChoiceSchema)` to create a new message.
 */
export declare const ToolChoiceSchema: GenMessage<ToolChoice>;
/**
 * Limits limits the resources of a run. A field that is 0 means agentd's default.
 *
 * @generated from message agentd.v1.Limits
 */
export type Limits = Message<"agentd.v1.Limits"> & {
    /**
     * The maximum number of model responses.
     *
     * @generated from field: uint32 max_turns = 1;
     */
    maxTurns: number;
    /**
     * The maximum number of tool calls.
     *
     * @generated from field: uint32 max_calls = 2;
     */
    maxCalls: number;
    /**
     * The maximum number of tokens in one model response.
     *
     * @generated from field: uint32 max_response_tokens = 3;
     */
    maxResponseTokens: number;
    /**
     * The maximum number of tokens, input and output, that the model and the tools use.
     *
     * @generated from field: uint64 max_tokens = 4;
     */
    maxTokens: bigint;
    /**
     * The maximum cost of the model and the tools, in the currency of agentd's price table. If the
     * model has no price, a value fails with INVALID_ARGUMENT.
     *
     * @generated from field: double max_cost = 5;
     */
    maxCost: number;
    /**
     * The maximum time that the run works. The time in which it waits only for people does not count.
     *
     * @generated from field: google.protobuf.Duration max_wall_time = 6;
     */
    maxWallTime?: Duration | undefined;
    /**
     * The maximum number of bytes of text in all tool results.
     *
     * @generated from field: uint64 max_output = 7;
     */
    maxOutput: bigint;
    /**
     * The maximum number of consecutive failed calls.
     *
     * @generated from field: uint32 max_failures = 8;
     */
    maxFailures: number;
    /**
     * The number of consecutive timeouts of one tool after which the run pauses.
     *
     * @generated from field: uint32 max_timeouts = 9;
     */
    maxTimeouts: number;
    /**
     * The maximum number of consecutive results that repeat an earlier result of the same tool and
     * arguments.
     *
     * @generated from field: uint32 max_repeats = 10;
     */
    maxRepeats: number;
};
/**
 * Describes the message agentd.v1.Limits.
 * Use `create(LimitsSchema)` to create a new message.
 */
export declare const LimitsSchema: GenMessage<Limits>;
/**
 * StartRunResponse identifies the run.
 *
 * @generated from message agentd.v1.StartRunResponse
 */
export type StartRunResponse = Message<"agentd.v1.StartRunResponse"> & {
    /**
     * The id of the run.
     *
     * @generated from field: string run_id = 1;
     */
    runId: string;
};
/**
 * Describes the message agentd.v1.StartRunResponse.
 * Use `create(StartRunResponseSchema)` to create a new message.
 */
export declare const StartRunResponseSchema: GenMessage<StartRunResponse>;
/**
 * SendMessageRequest is a message from the user.
 *
 * @generated from message agentd.v1.SendMessageRequest
 */
export type SendMessageRequest = Message<"agentd.v1.SendMessageRequest"> & {
    /**
     * The id of the run.
     *
     * @generated from field: string run_id = 1;
     */
    runId: string;
    /**
     * The text. Must not be empty.
     *
     * @generated from field: string text = 2;
     */
    text: string;
    /**
     * The files that go with the text, as those of StartRunRequest.
     *
     * @generated from field: repeated agentd.v1.Attachment attachments = 3;
     */
    attachments: Attachment[];
    /**
     * An id that the client chooses for the message: 1 to 64 of the characters A-Z a-z 0-9 _ -. A
     * client that got no answer sends the message again with the same id: agentd adds it once, and
     * answers as it did the first time, also after a restart. The id belongs to the run and the
     * caller: another caller's equal id is another message. The same id with another text is
     * ALREADY_EXISTS. The attachments of a repeated message are not compared. A run remembers its
     * latest 100 messages with an id. Empty means that each request is a new message.
     *
     * @generated from field: string message_id = 4;
     */
    messageId: string;
};
/**
 * Describes the message agentd.v1.SendMessageRequest.
 * Use `create(SendMessageRequestSchema)` to create a new message.
 */
export declare const SendMessageRequestSchema: GenMessage<SendMessageRequest>;
/**
 * SendMessageResponse locates the message in the journal.
 *
 * @generated from message agentd.v1.SendMessageResponse
 */
export type SendMessageResponse = Message<"agentd.v1.SendMessageResponse"> & {
    /**
     * The sequence number of the message's event.
     *
     * @generated from field: uint64 seq = 1;
     */
    seq: bigint;
};
/**
 * Describes the message agentd.v1.SendMessageResponse.
 * Use `create(SendMessageResponseSchema)` to create a new message.
 */
export declare const SendMessageResponseSchema: GenMessage<SendMessageResponse>;
/**
 * WatchRunRequest names a run to watch.
 *
 * @generated from message agentd.v1.WatchRunRequest
 */
export type WatchRunRequest = Message<"agentd.v1.WatchRunRequest"> & {
    /**
     * The id of the run.
     *
     * @generated from field: string run_id = 1;
     */
    runId: string;
    /**
     * The `seq` of the last durable event that the caller has seen; the stream continues after it. 0
     * means all events.
     *
     * @generated from field: uint64 after_seq = 2;
     */
    afterSeq: bigint;
};
/**
 * Describes the message agentd.v1.WatchRunRequest.
 * Use `create(WatchRunRequestSchema)` to create a new message.
 */
export declare const WatchRunRequestSchema: GenMessage<WatchRunRequest>;
/**
 * WatchRunResponse returns one event.
 *
 * @generated from message agentd.v1.WatchRunResponse
 */
export type WatchRunResponse = Message<"agentd.v1.WatchRunResponse"> & {
    /**
     * The event.
     *
     * @generated from field: agentd.v1.RunEvent event = 1;
     */
    event?: RunEvent | undefined;
};
/**
 * Describes the message agentd.v1.WatchRunResponse.
 * Use `create(WatchRunResponseSchema)` to create a new message.
 */
export declare const WatchRunResponseSchema: GenMessage<WatchRunResponse>;
/**
 * RespondRequest makes pending decisions.
 *
 * @generated from message agentd.v1.RespondRequest
 */
export type RespondRequest = Message<"agentd.v1.RespondRequest"> & {
    /**
     * The id of the run.
     *
     * @generated from field: string run_id = 1;
     */
    runId: string;
    /**
     * The decisions. At least one.
     *
     * @generated from field: repeated agentd.v1.Decision decisions = 2;
     */
    decisions: Decision[];
    /**
     * A name for the person who decides, as text. May be empty. The journal and toolhost's audit log
     * record it beside the principal of the caller, because agentd cannot verify it.
     *
     * @generated from field: string decided_by = 3;
     */
    decidedBy: string;
};
/**
 * Describes the message agentd.v1.RespondRequest.
 * Use `create(RespondRequestSchema)` to create a new message.
 */
export declare const RespondRequestSchema: GenMessage<RespondRequest>;
/**
 * Decision is a person's decision.
 *
 * @generated from message agentd.v1.Decision
 */
export type Decision = Message<"agentd.v1.Decision"> & {
    /**
     * The `decision_id` of the pending decision.
     *
     * @generated from field: string decision_id = 1;
     */
    decisionId: string;
    /**
     * The verdict. It must fit the kind of decision; see DecisionKind.
     *
     * @generated from oneof agentd.v1.Decision.verdict
     */
    verdict: {
        /**
         * Approves.
         *
         * @generated from field: agentd.v1.Approve approve = 2;
         */
        value: Approve;
        case: "approve";
    } | {
        /**
         * Rejects.
         *
         * @generated from field: agentd.v1.Reject reject = 3;
         */
        value: Reject;
        case: "reject";
    } | {
        /**
         * Answers the question.
         *
         * @generated from field: agentd.v1.Answer answer = 4;
         */
        value: Answer;
        case: "answer";
    } | {
        case: undefined;
        value?: undefined;
    };
};
/**
 * Describes the message agentd.v1.Decision.
 * Use `create(DecisionSchema)` to create a new message.
 */
export declare const DecisionSchema: GenMessage<Decision>;
/**
 * Approve is a verdict that approves.
 *
 * @generated from message agentd.v1.Approve
 */
export type Approve = Message<"agentd.v1.Approve"> & {
    /**
     * For DECISION_KIND_APPROVAL: other arguments for the call, a JSON object that fits the `schema` of
     * the PendingDecision. toolhost applies filters, repair and defaults to them. If that changes them, the run asks again with the new
     * final arguments. Empty means the arguments of the PendingDecision.
     *
     * @generated from field: bytes arguments = 1;
     */
    arguments: Uint8Array;
    /**
     * The reason, as text. May be empty. For DECISION_KIND_PAUSE the model reads it.
     *
     * @generated from field: string reason = 2;
     */
    reason: string;
    /**
     * For DECISION_KIND_APPROVAL: approves later calls of the tool together with this call. agentd
     * creates a standing approval in toolhost before the call is executed, in the name of the caller of
     * Respond and for the principal of the run. The event `standing_approved` has the result. If
     * toolhost refuses, only this call is approved. Unset approves only this call.
     *
     * @generated from field: agentd.v1.StandingChoice standing = 3;
     */
    standing?: StandingChoice | undefined;
};
/**
 * Describes the message agentd.v1.Approve.
 * Use `create(ApproveSchema)` to create a new message.
 */
export declare const ApproveSchema: GenMessage<Approve>;
/**
 * StandingChoice says which later calls of the tool are approved. They are calls of the same
 * principal and agent, and toolhost applies no standing approval where a rule denies the call or
 * requires four eyes. See toolhost.v1.ApprovalService.
 *
 * @generated from message agentd.v1.StandingChoice
 */
export type StandingChoice = Message<"agentd.v1.StandingChoice"> & {
    /**
     * For which calls. UNSPECIFIED only in the offers of a PendingDecision, where the caller chooses.
     *
     * @generated from field: agentd.v1.StandingScope scope = 1;
     */
    scope: StandingScope;
    /**
     * Whether later calls may have any arguments. Only for the scope RUN, and without patterns.
     *
     * @generated from field: bool any_arguments = 2;
     */
    anyArguments: boolean;
    /**
     * The arguments that may differ, at most one pattern for each and 32 in all. All others must be as
     * in this call.
     *
     * @generated from field: repeated agentd.v1.StandingPattern patterns = 3;
     */
    patterns: StandingPattern[];
    /**
     * When the approval ends. Required for the scope PRINCIPAL. Otherwise unset means the longest time
     * that the operator of toolhost allows.
     *
     * @generated from field: google.protobuf.Timestamp expire_time = 4;
     */
    expireTime?: Timestamp | undefined;
};
/**
 * Describes the message agentd.v1.StandingChoice.
 * Use `create(StandingChoiceSchema)` to create a new message.
 */
export declare const StandingChoiceSchema: GenMessage<StandingChoice>;
/**
 * StandingPattern permits more than one value of one argument; see toolhost.v1.ArgumentPattern.
 *
 * @generated from message agentd.v1.StandingPattern
 */
export type StandingPattern = Message<"agentd.v1.StandingPattern"> & {
    /**
     * The name of the argument.
     *
     * @generated from field: string argument = 1;
     */
    argument: string;
    /**
     * What values it permits. Exactly one is set.
     *
     * @generated from oneof agentd.v1.StandingPattern.form
     */
    form: {
        /**
         * The path of a file or folder, relative to the workspace, and what lies below it.
         *
         * @generated from field: string path_prefix = 2;
         */
        value: string;
        case: "pathPrefix";
    } | {
        /**
         * The origin of http and https URLs, such as `https://example.com`.
         *
         * @generated from field: string origin = 3;
         */
        value: string;
        case: "origin";
    } | {
        /**
         * Any value. Only for arguments that the tool declares as content.
         *
         * @generated from field: bool any = 4;
         */
        value: boolean;
        case: "any";
    } | {
        case: undefined;
        value?: undefined;
    };
};
/**
 * Describes the message agentd.v1.StandingPattern.
 * Use `create(StandingPatternSchema)` to create a new message.
 */
export declare const StandingPatternSchema: GenMessage<StandingPattern>;
/**
 * Reject is a verdict that rejects.
 *
 * @generated from message agentd.v1.Reject
 */
export type Reject = Message<"agentd.v1.Reject"> & {
    /**
     * The reason, as text for the model. May be empty.
     *
     * @generated from field: string reason = 1;
     */
    reason: string;
};
/**
 * Describes the message agentd.v1.Reject.
 * Use `create(RejectSchema)` to create a new message.
 */
export declare const RejectSchema: GenMessage<Reject>;
/**
 * Answer is a verdict that answers a question.
 *
 * @generated from message agentd.v1.Answer
 */
export type Answer = Message<"agentd.v1.Answer"> & {
    /**
     * The answer, as text for the model. Must not be empty.
     *
     * @generated from field: string text = 1;
     */
    text: string;
};
/**
 * Describes the message agentd.v1.Answer.
 * Use `create(AnswerSchema)` to create a new message.
 */
export declare const AnswerSchema: GenMessage<Answer>;
/**
 * RespondResponse locates the decisions in the journal.
 *
 * @generated from message agentd.v1.RespondResponse
 */
export type RespondResponse = Message<"agentd.v1.RespondResponse"> & {
    /**
     * The sequence number of the first decision's event.
     *
     * @generated from field: uint64 seq = 1;
     */
    seq: bigint;
};
/**
 * Describes the message agentd.v1.RespondResponse.
 * Use `create(RespondResponseSchema)` to create a new message.
 */
export declare const RespondResponseSchema: GenMessage<RespondResponse>;
/**
 * CancelRunRequest names a run to cancel.
 *
 * @generated from message agentd.v1.CancelRunRequest
 */
export type CancelRunRequest = Message<"agentd.v1.CancelRunRequest"> & {
    /**
     * The id of the run.
     *
     * @generated from field: string run_id = 1;
     */
    runId: string;
    /**
     * The reason, as text. May be empty.
     *
     * @generated from field: string reason = 2;
     */
    reason: string;
};
/**
 * Describes the message agentd.v1.CancelRunRequest.
 * Use `create(CancelRunRequestSchema)` to create a new message.
 */
export declare const CancelRunRequestSchema: GenMessage<CancelRunRequest>;
/**
 * CancelRunResponse confirms the request. The last event of the run reports its end.
 *
 * @generated from message agentd.v1.CancelRunResponse
 */
export type CancelRunResponse = Message<"agentd.v1.CancelRunResponse"> & {};
/**
 * Describes the message agentd.v1.CancelRunResponse.
 * Use `create(CancelRunResponseSchema)` to create a new message.
 */
export declare const CancelRunResponseSchema: GenMessage<CancelRunResponse>;
/**
 * DeleteRunRequest names a run to delete.
 *
 * @generated from message agentd.v1.DeleteRunRequest
 */
export type DeleteRunRequest = Message<"agentd.v1.DeleteRunRequest"> & {
    /**
     * The id of the run.
     *
     * @generated from field: string run_id = 1;
     */
    runId: string;
};
/**
 * Describes the message agentd.v1.DeleteRunRequest.
 * Use `create(DeleteRunRequestSchema)` to create a new message.
 */
export declare const DeleteRunRequestSchema: GenMessage<DeleteRunRequest>;
/**
 * DeleteRunResponse says what was deleted.
 *
 * @generated from message agentd.v1.DeleteRunResponse
 */
export type DeleteRunResponse = Message<"agentd.v1.DeleteRunResponse"> & {
    /**
     * The ids of the deleted runs: the run, and then its sub-runs.
     *
     * @generated from field: repeated string run_ids = 1;
     */
    runIds: string[];
};
/**
 * Describes the message agentd.v1.DeleteRunResponse.
 * Use `create(DeleteRunResponseSchema)` to create a new message.
 */
export declare const DeleteRunResponseSchema: GenMessage<DeleteRunResponse>;
/**
 * GetRunRequest names a run.
 *
 * @generated from message agentd.v1.GetRunRequest
 */
export type GetRunRequest = Message<"agentd.v1.GetRunRequest"> & {
    /**
     * The id of the run.
     *
     * @generated from field: string run_id = 1;
     */
    runId: string;
};
/**
 * Describes the message agentd.v1.GetRunRequest.
 * Use `create(GetRunRequestSchema)` to create a new message.
 */
export declare const GetRunRequestSchema: GenMessage<GetRunRequest>;
/**
 * GetRunResponse returns a run.
 *
 * @generated from message agentd.v1.GetRunResponse
 */
export type GetRunResponse = Message<"agentd.v1.GetRunResponse"> & {
    /**
     * The run.
     *
     * @generated from field: agentd.v1.Run run = 1;
     */
    run?: Run | undefined;
};
/**
 * Describes the message agentd.v1.GetRunResponse.
 * Use `create(GetRunResponseSchema)` to create a new message.
 */
export declare const GetRunResponseSchema: GenMessage<GetRunResponse>;
/**
 * ListRunsRequest selects runs.
 *
 * @generated from message agentd.v1.ListRunsRequest
 */
export type ListRunsRequest = Message<"agentd.v1.ListRunsRequest"> & {
    /**
     * The maximum number of runs in the page. 0 means 50. Values over 500 mean 500. Must not be
     * negative.
     *
     * @generated from field: int32 page_size = 1;
     */
    pageSize: number;
    /**
     * The `next_page_token` of the previous page. Empty means the first page.
     *
     * @generated from field: string page_token = 2;
     */
    pageToken: string;
    /**
     * Matches runs in one of these states. Empty means all. With this filter, a page may contain
     * fewer runs than `page_size`, or none, although more pages follow.
     *
     * @generated from field: repeated agentd.v1.RunState states = 3;
     */
    states: RunState[];
    /**
     * Matches the sub-runs of this run. Empty means all runs.
     *
     * @generated from field: string parent_run_id = 4;
     */
    parentRunId: string;
    /**
     * Matches the runs of these tenants. Empty means all tenants whose runs the caller may see. The
     * runs of other tenants are left out.
     *
     * @generated from field: repeated string tenants = 5;
     */
    tenants: string[];
};
/**
 * Describes the message agentd.v1.ListRunsRequest.
 * Use `create(ListRunsRequestSchema)` to create a new message.
 */
export declare const ListRunsRequestSchema: GenMessage<ListRunsRequest>;
/**
 * ListRunsResponse is one page of runs.
 *
 * @generated from message agentd.v1.ListRunsResponse
 */
export type ListRunsResponse = Message<"agentd.v1.ListRunsResponse"> & {
    /**
     * The runs, newest first.
     *
     * @generated from field: repeated agentd.v1.Run runs = 1;
     */
    runs: Run[];
    /**
     * The token of the next page. Empty means that this is the last page.
     *
     * @generated from field: string next_page_token = 2;
     */
    nextPageToken: string;
};
/**
 * Describes the message agentd.v1.ListRunsResponse.
 * Use `create(ListRunsResponseSchema)` to create a new message.
 */
export declare const ListRunsResponseSchema: GenMessage<ListRunsResponse>;
/**
 * Run is the summary of a run.
 *
 * @generated from message agentd.v1.Run
 */
export type Run = Message<"agentd.v1.Run"> & {
    /**
     * The id of the run.
     *
     * @generated from field: string run_id = 1;
     */
    runId: string;
    /**
     * The first prompt of the user.
     *
     * @generated from field: string prompt = 2;
     */
    prompt: string;
    /**
     * The model, as `provider:name`.
     *
     * @generated from field: string model = 3;
     */
    model: string;
    /**
     * The state.
     *
     * @generated from field: agentd.v1.RunState state = 4;
     */
    state: RunState;
    /**
     * Why the run ended. UNSPECIFIED while it has not ended.
     *
     * @generated from field: agentd.v1.StopReason stop_reason = 5;
     */
    stopReason: StopReason;
    /**
     * When the run started.
     *
     * @generated from field: google.protobuf.Timestamp start_time = 6;
     */
    startTime?: Timestamp | undefined;
    /**
     * When the last event occurred.
     *
     * @generated from field: google.protobuf.Timestamp update_time = 7;
     */
    updateTime?: Timestamp | undefined;
    /**
     * The sequence number of the last event in the journal.
     *
     * @generated from field: uint64 last_seq = 8;
     */
    lastSeq: bigint;
    /**
     * The number of model responses.
     *
     * @generated from field: uint32 turns = 9;
     */
    turns: number;
    /**
     * The number of tool calls.
     *
     * @generated from field: uint32 calls = 10;
     */
    calls: number;
    /**
     * The tokens used.
     *
     * @generated from field: toolhost.tool.v1.Usage usage = 11;
     */
    usage?: Usage | undefined;
    /**
     * The cost, in the currency of agentd's price table.
     *
     * @generated from field: double cost = 12;
     */
    cost: number;
    /**
     * The pending decisions of the run and its sub-runs. Only GetRun sets them; in lists, the state
     * WAITING shows that there are some.
     *
     * @generated from field: repeated agentd.v1.PendingDecision pending_decisions = 13;
     */
    pendingDecisions: PendingDecision[];
    /**
     * The id of the run of which this is a sub-run. Empty if a client started the run.
     *
     * @generated from field: string parent_run_id = 14;
     */
    parentRunId: string;
    /**
     * Whether the run has not ended but no agentd is working on it. If the state is WAITING, agentd
     * accepts the pending decisions when it continues the run.
     *
     * @generated from field: bool interrupted = 15;
     */
    interrupted: boolean;
    /**
     * The key of the principal that the run belongs to. Empty for runs that earlier versions
     * recorded, which belong to the user of agentd.
     *
     * @generated from field: string principal = 16;
     */
    principal: string;
    /**
     * Whether the run belongs to the process that started it, such as `agentd run`. No server works on
     * such a run.
     *
     * @generated from field: bool foreground = 17;
     */
    foreground: boolean;
    /**
     * What became of the calls with an unknown outcome. Unset if no tool was asked about one.
     *
     * @generated from field: agentd.v1.Settlements settlements = 18;
     */
    settlements?: Settlements | undefined;
    /**
     * The id of the call that this sub-run carries out. Empty if a client started the run.
     *
     * @generated from field: string parent_call_id = 19;
     */
    parentCallId: string;
    /**
     * Why no agentd goes on with the interrupted run by itself, in English. A message, a decision or a
     * cancellation makes one go on. Empty if the run is not parked.
     *
     * @generated from field: string parked = 20;
     */
    parked: string;
};
/**
 * Describes the message agentd.v1.Run.
 * Use `create(RunSchema)` to create a new message.
 */
export declare const RunSchema: GenMessage<Run>;
/**
 * Settlements counts the calls of a run whose outcome was unknown, by what their tools said.
 *
 * @generated from message agentd.v1.Settlements
 */
export type Settlements = Message<"agentd.v1.Settlements"> & {
    /**
     * The calls that had happened.
     *
     * @generated from field: uint32 happened = 1;
     */
    happened: number;
    /**
     * The calls that had not happened, and that agentd made again.
     *
     * @generated from field: uint32 repeated = 2;
     */
    repeated: number;
    /**
     * The calls about which the tool does not know.
     *
     * @generated from field: uint32 unknown = 3;
     */
    unknown: number;
};
/**
 * Describes the message agentd.v1.Settlements.
 * Use `create(SettlementsSchema)` to create a new message.
 */
export declare const SettlementsSchema: GenMessage<Settlements>;
/**
 * PendingDecision is a decision that a run waits for.
 *
 * @generated from message agentd.v1.PendingDecision
 */
export type PendingDecision = Message<"agentd.v1.PendingDecision"> & {
    /**
     * The id of the decision. For a decision of a sub-run it has the form RUN/DECISION.
     *
     * @generated from field: string decision_id = 1;
     */
    decisionId: string;
    /**
     * The kind of decision.
     *
     * @generated from field: agentd.v1.DecisionKind kind = 2;
     */
    kind: DecisionKind;
    /**
     * The id of the call that waits. Empty for DECISION_KIND_PAUSE.
     *
     * @generated from field: string call_id = 3;
     */
    callId: string;
    /**
     * The name of the call's tool. Empty for DECISION_KIND_PAUSE.
     *
     * @generated from field: string tool = 4;
     */
    tool: string;
    /**
     * The arguments of the call. For DECISION_KIND_APPROVAL these are the final arguments, a JSON
     * object: after filters, repair and defaults. toolhost executes exactly these if they are
     * approved. For other kinds these are the arguments that the model generated, which may not be
     * valid JSON.
     *
     * @generated from field: bytes arguments = 5;
     */
    arguments: Uint8Array;
    /**
     * Why a decision is needed. For DECISION_KIND_QUESTION: the question.
     *
     * @generated from field: string reason = 6;
     */
    reason: string;
    /**
     * Answers that the model suggests. Other answers are allowed.
     *
     * @generated from field: repeated string options = 7;
     */
    options: string[];
    /**
     * The name of the policy rule that requires the approval. May be empty.
     *
     * @generated from field: string rule = 8;
     */
    rule: string;
    /**
     * When the run requested the decision.
     *
     * @generated from field: google.protobuf.Timestamp request_time = 9;
     */
    requestTime?: Timestamp | undefined;
    /**
     * When the decision counts as rejected. Unset means never.
     *
     * @generated from field: google.protobuf.Timestamp expire_time = 10;
     */
    expireTime?: Timestamp | undefined;
    /**
     * The id of the sub-run that waits, which may be a sub-run of a sub-run. Empty means the run
     * itself. Respond accepts the decision at the sub-run, and at each run that lists the decision.
     *
     * @generated from field: string run_id = 11;
     */
    runId: string;
    /**
     * The display name of the tool, as its plugin declares it. May be empty. Show it in addition to
     * `tool`, never instead of it, because plugins may choose any display name.
     *
     * @generated from field: string display_name = 12;
     */
    displayName: string;
    /**
     * Whether a principal other than the one that the run belongs to must approve.
     *
     * @generated from field: bool four_eyes = 13;
     */
    fourEyes: boolean;
    /**
     * For DECISION_KIND_TOOL: the name of the plugin that asks. Show it with the question, which is
     * text of that plugin.
     *
     * @generated from field: string plugin = 14;
     */
    plugin: string;
    /**
     * For DECISION_KIND_TOOL: the JSON Schema of the answer, of type `object`. For
     * DECISION_KIND_APPROVAL: the JSON Schema of the tool's arguments; empty if agentd does not know it
     * or if it is larger than 64 KiB.
     *
     * @generated from field: bytes schema = 15;
     */
    schema: Uint8Array;
    /**
     * For DECISION_KIND_APPROVAL: what the call would change, as a unified diff of at most 32 KiB.
     * Empty if the tool shows none. It is text of the plugin: escape it, and show the arguments with
     * it. The tool computed it when the decision was requested, and what it read may have changed.
     *
     * @generated from field: string diff = 16;
     */
    diff: string;
    /**
     * For DECISION_KIND_APPROVAL: suggestions for Approve.standing, without scope and expiry. Empty if
     * the decision takes no standing approval: toolhost has none, or another principal has to approve
     * each call.
     *
     * @generated from field: repeated agentd.v1.StandingChoice standing_offers = 17;
     */
    standingOffers: StandingChoice[];
    /**
     * For DECISION_KIND_APPROVAL: the groups of which the approver has to be in one. Empty means that
     * the rule names none.
     *
     * @generated from field: repeated string approver_groups = 18;
     */
    approverGroups: string[];
};
/**
 * Describes the message agentd.v1.PendingDecision.
 * Use `create(PendingDecisionSchema)` to create a new message.
 */
export declare const PendingDecisionSchema: GenMessage<PendingDecision>;
/**
 * RunEvent is an event of a run.
 *
 * Durable events are stored in the journal; each has its own `seq`. Transient events (`text_delta`,
 * `reasoning_delta`, `argument_delta`, `answer_delta`, `call_status`, `turn_reset`) are sent only
 * to clients that are watching when they occur. A transient event has the `seq` of the next durable
 * event, and an `index` from 1.
 *
 * @generated from message agentd.v1.RunEvent
 */
export type RunEvent = Message<"agentd.v1.RunEvent"> & {
    /**
     * The sequence number in the journal, from 1.
     *
     * @generated from field: uint64 seq = 1;
     */
    seq: bigint;
    /**
     * For a transient event: its number among the transient events with the same `seq`, from 1. 0 for
     * a durable event.
     *
     * @generated from field: uint64 index = 2;
     */
    index: bigint;
    /**
     * When the event occurred.
     *
     * @generated from field: google.protobuf.Timestamp time = 3;
     */
    time?: Timestamp | undefined;
    /**
     * The content of the event.
     *
     * @generated from oneof agentd.v1.RunEvent.event
     */
    event: {
        /**
         * Durable: the run started.
         *
         * @generated from field: agentd.v1.RunStarted run_started = 4;
         */
        value: RunStarted;
        case: "runStarted";
    } | {
        /**
         * Durable: the user sent a message.
         *
         * @generated from field: agentd.v1.UserMessage user_message = 5;
         */
        value: UserMessage;
        case: "userMessage";
    } | {
        /**
         * Transient: the model generated text.
         *
         * @generated from field: agentd.v1.TextDelta text_delta = 6;
         */
        value: TextDelta;
        case: "textDelta";
    } | {
        /**
         * Durable: the model completed a response. Its calls start after this event.
         *
         * @generated from field: agentd.v1.AssistantMessage assistant_message = 7;
         */
        value: AssistantMessage;
        case: "assistantMessage";
    } | {
        /**
         * Durable: a tool call started.
         *
         * @generated from field: agentd.v1.CallStarted call_started = 8;
         */
        value: CallStarted;
        case: "callStarted";
    } | {
        /**
         * Transient: a tool call reported its status.
         *
         * @generated from field: agentd.v1.CallStatus call_status = 9;
         */
        value: CallStatus;
        case: "callStatus";
    } | {
        /**
         * Durable: a tool call has its result.
         *
         * @generated from field: agentd.v1.CallResult call_result = 10;
         */
        value: CallResult;
        case: "callResult";
    } | {
        /**
         * Transient: the current model response is discarded, and agentd requests another one.
         *
         * @generated from field: agentd.v1.TurnReset turn_reset = 11;
         */
        value: TurnReset;
        case: "turnReset";
    } | {
        /**
         * Durable: the run was asked to stop.
         *
         * @generated from field: agentd.v1.CancelRequested cancel_requested = 12;
         */
        value: CancelRequested;
        case: "cancelRequested";
    } | {
        /**
         * Durable: the run ended.
         *
         * @generated from field: agentd.v1.RunFinished run_finished = 13;
         */
        value: RunFinished;
        case: "runFinished";
    } | {
        /**
         * Durable: the run needs a decision from a person.
         *
         * @generated from field: agentd.v1.DecisionRequested decision_requested = 14;
         */
        value: DecisionRequested;
        case: "decisionRequested";
    } | {
        /**
         * Durable: a decision was made.
         *
         * @generated from field: agentd.v1.DecisionMade decision_made = 15;
         */
        value: DecisionMade;
        case: "decisionMade";
    } | {
        /**
         * Durable: 80 % of a limit are used.
         *
         * @generated from field: agentd.v1.BudgetWarning budget_warning = 16;
         */
        value: BudgetWarning;
        case: "budgetWarning";
    } | {
        /**
         * Durable: the last calls changed the run's context.
         *
         * @generated from field: agentd.v1.ContextChange context_change = 17;
         */
        value: ContextChange;
        case: "contextChange";
    } | {
        /**
         * Durable: the todo list changed.
         *
         * @generated from field: agentd.v1.TodoChange todo_change = 18;
         */
        value: TodoChange;
        case: "todoChange";
    } | {
        /**
         * Durable: a sub-run started to carry out a call.
         *
         * @generated from field: agentd.v1.SubRunStarted sub_run_started = 19;
         */
        value: SubRunStarted;
        case: "subRunStarted";
    } | {
        /**
         * Durable: the conversation was compacted.
         *
         * @generated from field: agentd.v1.Compacted compacted = 20;
         */
        value: Compacted;
        case: "compacted";
    } | {
        /**
         * Durable: the decisions that a sub-run waits for changed.
         *
         * @generated from field: agentd.v1.SubRunWaiting sub_run_waiting = 21;
         */
        value: SubRunWaiting;
        case: "subRunWaiting";
    } | {
        /**
         * Durable: agentd continues a run that an earlier agentd process left unfinished.
         *
         * @generated from field: agentd.v1.RunResumed run_resumed = 22;
         */
        value: RunResumed;
        case: "runResumed";
    } | {
        /**
         * Durable: the model of the run replied to a question of a tool.
         *
         * @generated from field: agentd.v1.ModelReplied model_replied = 23;
         */
        value: ModelReplied;
        case: "modelReplied";
    } | {
        /**
         * Transient: the model generated reasoning.
         *
         * @generated from field: agentd.v1.ReasoningDelta reasoning_delta = 24;
         */
        value: ReasoningDelta;
        case: "reasoningDelta";
    } | {
        /**
         * Transient: the model generated arguments of a call.
         *
         * @generated from field: agentd.v1.ArgumentDelta argument_delta = 25;
         */
        value: ArgumentDelta;
        case: "argumentDelta";
    } | {
        /**
         * Transient: the answer of a run with a response schema, as far as the model has written it.
         *
         * @generated from field: agentd.v1.AnswerDelta answer_delta = 26;
         */
        value: AnswerDelta;
        case: "answerDelta";
    } | {
        /**
         * Durable: toolhost created a standing approval, or refused it.
         *
         * @generated from field: agentd.v1.StandingApproved standing_approved = 27;
         */
        value: StandingApproved;
        case: "standingApproved";
    } | {
        /**
         * Durable: the end of a decision moved.
         *
         * @generated from field: agentd.v1.DecisionExtended decision_extended = 28;
         */
        value: DecisionExtended;
        case: "decisionExtended";
    } | {
        case: undefined;
        value?: undefined;
    };
};
/**
 * Describes the message agentd.v1.RunEvent.
 * Use `create(RunEventSchema)` to create a new message.
 */
export declare const RunEventSchema: GenMessage<RunEvent>;
/**
 * RunStarted describes the start of a run.
 *
 * @generated from message agentd.v1.RunStarted
 */
export type RunStarted = Message<"agentd.v1.RunStarted"> & {
    /**
     * The id of the run.
     *
     * @generated from field: string run_id = 1;
     */
    runId: string;
    /**
     * The prompt of the user.
     *
     * @generated from field: string prompt = 2;
     */
    prompt: string;
    /**
     * The model, as `provider:name`.
     *
     * @generated from field: string model = 3;
     */
    model: string;
    /**
     * The toolhost session in which the run calls tools.
     *
     * @generated from field: string session = 4;
     */
    session: string;
    /**
     * The id of the run of which this is a sub-run. Empty if a client started the run.
     *
     * @generated from field: string parent_run_id = 5;
     */
    parentRunId: string;
    /**
     * The id of the call that this sub-run carries out. Empty if a client started the run.
     *
     * @generated from field: string parent_call_id = 6;
     */
    parentCallId: string;
    /**
     * The named agent, a name in `agents` of agentd.yaml. Empty means none.
     *
     * @generated from field: string agent = 7;
     */
    agent: string;
    /**
     * The W3C trace context of the run: the trace of all its calls, and the span of the run. Empty
     * for runs that earlier versions recorded.
     *
     * @generated from field: string traceparent = 8;
     */
    traceparent: string;
    /**
     * The key of the principal that the run belongs to. Empty for runs that earlier versions
     * recorded.
     *
     * @generated from field: string principal = 9;
     */
    principal: string;
    /**
     * The models that respond if `model` is overloaded or the conversation is too long for it, in
     * order, as `provider:name`.
     *
     * @generated from field: repeated string fallbacks = 10;
     */
    fallbacks: string[];
    /**
     * How the model chooses its words. Unset means the provider's defaults.
     *
     * @generated from field: agentd.v1.Sampling sampling = 11;
     */
    sampling?: Sampling | undefined;
    /**
     * The JSON Schema of the answer. Empty if the answer is text.
     *
     * @generated from field: bytes response_schema = 13;
     */
    responseSchema: Uint8Array;
    /**
     * The files that go with the prompt.
     *
     * @generated from field: repeated agentd.v1.AttachmentInfo attachments = 14;
     */
    attachments: AttachmentInfo[];
    /**
     * The memory files in the instructions, in order, without their texts.
     *
     * @generated from field: repeated agentd.v1.MemoryFile memory_files = 15;
     */
    memoryFiles: MemoryFile[];
};
/**
 * Describes the message agentd.v1.RunStarted.
 * Use `create(RunStartedSchema)` to create a new message.
 */
export declare const RunStartedSchema: GenMessage<RunStarted>;
/**
 * MemoryFile is a text such as AGENTS.md that a run has in its instructions from its start on.
 *
 * @generated from message agentd.v1.MemoryFile
 */
export type MemoryFile = Message<"agentd.v1.MemoryFile"> & {
    /**
     * The name of the file, without its folder for a file of the operator.
     *
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * Whether the file was in the workspace, where tools can write. Its text is then data for the
     * model, and no instruction.
     *
     * @generated from field: bool workspace = 2;
     */
    workspace: boolean;
    /**
     * The size of the text, in bytes.
     *
     * @generated from field: uint64 size = 3;
     */
    size: bigint;
    /**
     * Why a file of the workspace was not used. Empty means that it was.
     *
     * @generated from field: string problem = 4;
     */
    problem: string;
};
/**
 * Describes the message agentd.v1.MemoryFile.
 * Use `create(MemoryFileSchema)` to create a new message.
 */
export declare const MemoryFileSchema: GenMessage<MemoryFile>;
/**
 * UserMessage is a message from the user.
 *
 * @generated from message agentd.v1.UserMessage
 */
export type UserMessage = Message<"agentd.v1.UserMessage"> & {
    /**
     * The text.
     *
     * @generated from field: string text = 1;
     */
    text: string;
    /**
     * The files that go with the text.
     *
     * @generated from field: repeated agentd.v1.AttachmentInfo attachments = 2;
     */
    attachments: AttachmentInfo[];
};
/**
 * Describes the message agentd.v1.UserMessage.
 * Use `create(UserMessageSchema)` to create a new message.
 */
export declare const UserMessageSchema: GenMessage<UserMessage>;
/**
 * TextDelta is a piece of the text that the model generates.
 *
 * @generated from message agentd.v1.TextDelta
 */
export type TextDelta = Message<"agentd.v1.TextDelta"> & {
    /**
     * The piece.
     *
     * @generated from field: string text = 1;
     */
    text: string;
};
/**
 * Describes the message agentd.v1.TextDelta.
 * Use `create(TextDeltaSchema)` to create a new message.
 */
export declare const TextDeltaSchema: GenMessage<TextDelta>;
/**
 * A piece of the model's reasoning, as far as the provider shows it. The journal does not keep it.
 *
 * @generated from message agentd.v1.ReasoningDelta
 */
export type ReasoningDelta = Message<"agentd.v1.ReasoningDelta"> & {
    /**
     * The piece.
     *
     * @generated from field: string text = 1;
     */
    text: string;
};
/**
 * Describes the message agentd.v1.ReasoningDelta.
 * Use `create(ReasoningDeltaSchema)` to create a new message.
 */
export declare const ReasoningDeltaSchema: GenMessage<ReasoningDelta>;
/**
 * A piece of the arguments of a call that the model is writing. The call may never be made.
 *
 * @generated from message agentd.v1.ArgumentDelta
 */
export type ArgumentDelta = Message<"agentd.v1.ArgumentDelta"> & {
    /**
     * The id of the call.
     *
     * @generated from field: string call_id = 1;
     */
    callId: string;
    /**
     * The name of the tool, as the model wrote it, cut after 80 characters.
     *
     * @generated from field: string tool = 2;
     */
    tool: string;
    /**
     * The piece. The pieces of a call, in order, are the text of its arguments.
     *
     * @generated from field: string text = 3;
     */
    text: string;
};
/**
 * Describes the message agentd.v1.ArgumentDelta.
 * Use `create(ArgumentDeltaSchema)` to create a new message.
 */
export declare const ArgumentDeltaSchema: GenMessage<ArgumentDelta>;
/**
 * The answer of a run with a response schema, as far as the model has written it. Each event
 * replaces those before it. The object may not fit the schema yet.
 *
 * @generated from message agentd.v1.AnswerDelta
 */
export type AnswerDelta = Message<"agentd.v1.AnswerDelta"> & {
    /**
     * A JSON object: the text so far, without what is incomplete, and with all brackets closed.
     *
     * @generated from field: bytes answer = 1;
     */
    answer: Uint8Array;
};
/**
 * Describes the message agentd.v1.AnswerDelta.
 * Use `create(AnswerDeltaSchema)` to create a new message.
 */
export declare const AnswerDeltaSchema: GenMessage<AnswerDelta>;
/**
 * AssistantMessage is a complete response of the model.
 *
 * @generated from message agentd.v1.AssistantMessage
 */
export type AssistantMessage = Message<"agentd.v1.AssistantMessage"> & {
    /**
     * The text. May be empty.
     *
     * @generated from field: string text = 1;
     */
    text: string;
    /**
     * The calls that the model requests, in order.
     *
     * @generated from field: repeated agentd.v1.ToolCall calls = 2;
     */
    calls: ToolCall[];
    /**
     * Why the model stopped: `end_turn`, `tool_use`, `max_tokens`, `pause_turn`, `refusal`,
     * `content_filter` or `context_overflow`. The values are the same for all providers.
     *
     * @generated from field: string stop_reason = 3;
     */
    stopReason: string;
    /**
     * The tokens used.
     *
     * @generated from field: toolhost.tool.v1.Usage usage = 4;
     */
    usage?: Usage | undefined;
    /**
     * The cost, including that of `wasted_usage`, in the currency of agentd's price table. 0 if the
     * model has no price.
     *
     * @generated from field: double cost = 5;
     */
    cost: number;
    /**
     * The tokens used by failed attempts before this response, as far as the provider reported them.
     *
     * @generated from field: toolhost.tool.v1.Usage wasted_usage = 6;
     */
    wastedUsage?: Usage | undefined;
    /**
     * The model that responded, as `provider:name`. Empty for responses that earlier versions recorded.
     *
     * @generated from field: string model = 7;
     */
    model: string;
};
/**
 * Describes the message agentd.v1.AssistantMessage.
 * Use `create(AssistantMessageSchema)` to create a new message.
 */
export declare const AssistantMessageSchema: GenMessage<AssistantMessage>;
/**
 * ToolCall is a call that the model requests.
 *
 * @generated from message agentd.v1.ToolCall
 */
export type ToolCall = Message<"agentd.v1.ToolCall"> & {
    /**
     * The id of the call, generated by agentd and used as toolhost's call id.
     *
     * @generated from field: string call_id = 1;
     */
    callId: string;
    /**
     * The name of the tool, as the model wrote it.
     *
     * @generated from field: string tool = 2;
     */
    tool: string;
    /**
     * The arguments, as the model wrote them. They may not be valid JSON.
     *
     * @generated from field: bytes arguments = 3;
     */
    arguments: Uint8Array;
};
/**
 * Describes the message agentd.v1.ToolCall.
 * Use `create(ToolCallSchema)` to create a new message.
 */
export declare const ToolCallSchema: GenMessage<ToolCall>;
/**
 * CallStarted says that agentd sent a call to toolhost.
 *
 * @generated from message agentd.v1.CallStarted
 */
export type CallStarted = Message<"agentd.v1.CallStarted"> & {
    /**
     * The id of the call.
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
     * The number of times that the call was sent, from 1. A call is sent again after a person
     * approved it or decided to execute it again. toolhost's id for such an attempt is the call id
     * followed by `.a2`, `.a3`, and so on.
     *
     * @generated from field: uint32 attempt = 3;
     */
    attempt: number;
    /**
     * The W3C trace context of the call. Empty for runs that earlier versions recorded.
     *
     * @generated from field: string traceparent = 4;
     */
    traceparent: string;
    /**
     * For a call with side effects: the id of toolhost's ledger. A run that continues with another
     * ledger does not send the call again. Empty if the ledger is unknown, and for runs that earlier
     * versions recorded.
     *
     * @generated from field: string ledger_id = 5;
     */
    ledgerId: string;
};
/**
 * Describes the message agentd.v1.CallStarted.
 * Use `create(CallStartedSchema)` to create a new message.
 */
export declare const CallStartedSchema: GenMessage<CallStarted>;
/**
 * CallStatus is what a call shows to people while it runs.
 *
 * A tool with `partial_arguments` reports statuses while the model still generates the call, before
 * the AssistantMessage that contains it. Such a call may later have other arguments or not be
 * executed. A TurnReset discards it.
 *
 * @generated from message agentd.v1.CallStatus
 */
export type CallStatus = Message<"agentd.v1.CallStatus"> & {
    /**
     * The id of the call.
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
     * The status. Merge it into the earlier ones.
     *
     * @generated from field: toolhost.tool.v1.Status status = 3;
     */
    status?: Status | undefined;
};
/**
 * Describes the message agentd.v1.CallStatus.
 * Use `create(CallStatusSchema)` to create a new message.
 */
export declare const CallStatusSchema: GenMessage<CallStatus>;
/**
 * CallResult is the result of a call. Each call has exactly one.
 *
 * @generated from message agentd.v1.CallResult
 */
export type CallResult = Message<"agentd.v1.CallResult"> & {
    /**
     * The id of the call.
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
     * The content that the model reads. If an infrastructure error occurred, the content describes
     * the error.
     *
     * @generated from field: toolhost.tool.v1.Result result = 3;
     */
    result?: Result | undefined;
    /**
     * The infrastructure failure. Unset if none occurred.
     *
     * @generated from field: toolhost.tool.v1.Error error = 4;
     */
    error?: Error | undefined;
    /**
     * The name of the plugin that executed the call. Empty if none did.
     *
     * @generated from field: string plugin = 5;
     */
    plugin: string;
    /**
     * The id of the plugin process that executed the call. Empty if none did.
     *
     * @generated from field: string instance = 6;
     */
    instance: string;
    /**
     * What the user reads, if the result is returned to the user directly and differs from the text of
     * `result`. Empty otherwise.
     *
     * @generated from field: string answer = 7;
     */
    answer: string;
    /**
     * What the tool said when the outcome of the call was unknown. Unset if it was not asked.
     *
     * @generated from field: toolhost.v1.Settled settled = 8;
     */
    settled?: Settled | undefined;
};
/**
 * Describes the message agentd.v1.CallResult.
 * Use `create(CallResultSchema)` to create a new message.
 */
export declare const CallResultSchema: GenMessage<CallResult>;
/**
 * TurnReset discards all transient events since the last durable event.
 *
 * @generated from message agentd.v1.TurnReset
 */
export type TurnReset = Message<"agentd.v1.TurnReset"> & {
    /**
     * The reason, in English.
     *
     * @generated from field: string reason = 1;
     */
    reason: string;
    /**
     * The number of the attempt that follows, from 2.
     *
     * @generated from field: uint32 attempt = 2;
     */
    attempt: number;
    /**
     * The model that gets the request next, as `provider:name`, if it is another one than before. Empty
     * otherwise.
     *
     * @generated from field: string model = 3;
     */
    model: string;
};
/**
 * Describes the message agentd.v1.TurnReset.
 * Use `create(TurnResetSchema)` to create a new message.
 */
export declare const TurnResetSchema: GenMessage<TurnReset>;
/**
 * CancelRequested says that the run was asked to stop.
 *
 * @generated from message agentd.v1.CancelRequested
 */
export type CancelRequested = Message<"agentd.v1.CancelRequested"> & {
    /**
     * The reason, as text. May be empty.
     *
     * @generated from field: string reason = 1;
     */
    reason: string;
    /**
     * The stop reason with which the run ends. UNSPECIFIED means CANCELLED.
     *
     * @generated from field: agentd.v1.StopReason stop_reason = 2;
     */
    stopReason: StopReason;
};
/**
 * Describes the message agentd.v1.CancelRequested.
 * Use `create(CancelRequestedSchema)` to create a new message.
 */
export declare const CancelRequestedSchema: GenMessage<CancelRequested>;
/**
 * DecisionRequested says that the run needs a decision before a call, or the run, continues.
 *
 * @generated from message agentd.v1.DecisionRequested
 */
export type DecisionRequested = Message<"agentd.v1.DecisionRequested"> & {
    /**
     * The decision. `arguments` is set only for DECISION_KIND_APPROVAL; for other kinds see the call
     * in the AssistantMessage.
     *
     * @generated from field: agentd.v1.PendingDecision decision = 1;
     */
    decision?: PendingDecision | undefined;
};
/**
 * Describes the message agentd.v1.DecisionRequested.
 * Use `create(DecisionRequestedSchema)` to create a new message.
 */
export declare const DecisionRequestedSchema: GenMessage<DecisionRequested>;
/**
 * ModelReplied says that a tool has used the model of the run during its call.
 *
 * @generated from message agentd.v1.ModelReplied
 */
export type ModelReplied = Message<"agentd.v1.ModelReplied"> & {
    /**
     * The id of the call whose tool asked.
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
     * The name of the plugin.
     *
     * @generated from field: string plugin = 3;
     */
    plugin: string;
    /**
     * The tokens that the request used. They count toward the limits of the run.
     *
     * @generated from field: toolhost.tool.v1.Usage usage = 4;
     */
    usage?: Usage | undefined;
    /**
     * The cost of the request, which counts toward the limits of the run.
     *
     * @generated from field: double cost = 5;
     */
    cost: number;
    /**
     * Why the model did not reply. Unset if it replied.
     *
     * @generated from field: toolhost.tool.v1.Error error = 6;
     */
    error?: Error | undefined;
};
/**
 * Describes the message agentd.v1.ModelReplied.
 * Use `create(ModelRepliedSchema)` to create a new message.
 */
export declare const ModelRepliedSchema: GenMessage<ModelReplied>;
/**
 * DecisionMade is a decision.
 *
 * @generated from message agentd.v1.DecisionMade
 */
export type DecisionMade = Message<"agentd.v1.DecisionMade"> & {
    /**
     * The id of the decision.
     *
     * @generated from field: string decision_id = 1;
     */
    decisionId: string;
    /**
     * The verdict.
     *
     * @generated from field: agentd.v1.Verdict verdict = 2;
     */
    verdict: Verdict;
    /**
     * Other arguments with which a call was approved, as JSON. Empty means the arguments of the
     * DecisionRequested.
     *
     * @generated from field: bytes arguments = 3;
     */
    arguments: Uint8Array;
    /**
     * The reason or the answer. May be empty.
     *
     * @generated from field: string text = 4;
     */
    text: string;
    /**
     * The name of the person, as the caller of Respond gave it. It is not verified. May be empty.
     *
     * @generated from field: string decided_by = 5;
     */
    decidedBy: string;
    /**
     * The key of the principal that called Respond, such as `uid:1000`. Empty for a decision that
     * expired.
     *
     * @generated from field: string principal = 6;
     */
    principal: string;
    /**
     * The later calls that were approved together with the call. Unset means none.
     *
     * @generated from field: agentd.v1.StandingChoice standing = 7;
     */
    standing?: StandingChoice | undefined;
};
/**
 * Describes the message agentd.v1.DecisionMade.
 * Use `create(DecisionMadeSchema)` to create a new message.
 */
export declare const DecisionMadeSchema: GenMessage<DecisionMade>;
/**
 * DecisionExtended says that a decision waits longer. See ExtendDecision of DecisionService.
 *
 * @generated from message agentd.v1.DecisionExtended
 */
export type DecisionExtended = Message<"agentd.v1.DecisionExtended"> & {
    /**
     * The id of the decision.
     *
     * @generated from field: string decision_id = 1;
     */
    decisionId: string;
    /**
     * When the decision counts as rejected.
     *
     * @generated from field: google.protobuf.Timestamp expire_time = 2;
     */
    expireTime?: Timestamp | undefined;
    /**
     * The key of the principal that moved the end.
     *
     * @generated from field: string principal = 3;
     */
    principal: string;
};
/**
 * Describes the message agentd.v1.DecisionExtended.
 * Use `create(DecisionExtendedSchema)` to create a new message.
 */
export declare const DecisionExtendedSchema: GenMessage<DecisionExtended>;
/**
 * StandingApproved says that toolhost has created a standing approval that a person chose together
 * with an approval, or why it has not.
 *
 * @generated from message agentd.v1.StandingApproved
 */
export type StandingApproved = Message<"agentd.v1.StandingApproved"> & {
    /**
     * The id of the decision.
     *
     * @generated from field: string decision_id = 1;
     */
    decisionId: string;
    /**
     * The id of the approved call.
     *
     * @generated from field: string call_id = 2;
     */
    callId: string;
    /**
     * The name of the tool.
     *
     * @generated from field: string tool = 3;
     */
    tool: string;
    /**
     * The id of the standing approval at toolhost. Empty if there is none.
     *
     * @generated from field: string approval_id = 4;
     */
    approvalId: string;
    /**
     * The key of the principal that approved. Empty if there is no approval.
     *
     * @generated from field: string approver = 5;
     */
    approver: string;
    /**
     * When the approval ends. Unset if there is none.
     *
     * @generated from field: google.protobuf.Timestamp expire_time = 6;
     */
    expireTime?: Timestamp | undefined;
    /**
     * Why there is no approval. Unset if there is one. The call itself is approved all the same.
     *
     * @generated from field: toolhost.tool.v1.Error error = 7;
     */
    error?: Error | undefined;
};
/**
 * Describes the message agentd.v1.StandingApproved.
 * Use `create(StandingApprovedSchema)` to create a new message.
 */
export declare const StandingApprovedSchema: GenMessage<StandingApproved>;
/**
 * BudgetWarning says that the run has used 80 % of a limit. It occurs once for each limit.
 *
 * @generated from message agentd.v1.BudgetWarning
 */
export type BudgetWarning = Message<"agentd.v1.BudgetWarning"> & {
    /**
     * The limit: `turns`, `calls`, `tokens`, `cost`, `wall_time`, `output` or `failures`.
     *
     * @generated from field: string budget = 1;
     */
    budget: string;
    /**
     * The amount used. Seconds for `wall_time`, bytes for `output`.
     *
     * @generated from field: double used = 2;
     */
    used: number;
    /**
     * The limit, in the same unit.
     *
     * @generated from field: double limit = 3;
     */
    limit: number;
};
/**
 * Describes the message agentd.v1.BudgetWarning.
 * Use `create(BudgetWarningSchema)` to create a new message.
 */
export declare const BudgetWarningSchema: GenMessage<BudgetWarning>;
/**
 * ContextChange lists changes to the run's context. For a refused change, the model reads an
 * explanation below the result of the call.
 *
 * @generated from message agentd.v1.ContextChange
 */
export type ContextChange = Message<"agentd.v1.ContextChange"> & {
    /**
     * The keys that changed.
     *
     * @generated from field: repeated string keys = 1;
     */
    keys: string[];
    /**
     * The reasons for refused changes, by key.
     *
     * @generated from field: map<string, string> refused = 2;
     */
    refused: {
        [key: string]: string;
    };
};
/**
 * Describes the message agentd.v1.ContextChange.
 * Use `create(ContextChangeSchema)` to create a new message.
 */
export declare const ContextChangeSchema: GenMessage<ContextChange>;
/**
 * TodoChange contains the todo list: the key `todos` of the run's context.
 *
 * @generated from message agentd.v1.TodoChange
 */
export type TodoChange = Message<"agentd.v1.TodoChange"> & {
    /**
     * The new list, as JSON.
     *
     * @generated from field: bytes todos = 1;
     */
    todos: Uint8Array;
};
/**
 * Describes the message agentd.v1.TodoChange.
 * Use `create(TodoChangeSchema)` to create a new message.
 */
export declare const TodoChangeSchema: GenMessage<TodoChange>;
/**
 * SubRunStarted identifies a sub-run.
 *
 * @generated from message agentd.v1.SubRunStarted
 */
export type SubRunStarted = Message<"agentd.v1.SubRunStarted"> & {
    /**
     * The id of the call that the sub-run carries out.
     *
     * @generated from field: string call_id = 1;
     */
    callId: string;
    /**
     * The id of the sub-run. It can be watched like any run.
     *
     * @generated from field: string run_id = 2;
     */
    runId: string;
    /**
     * The task of the sub-run.
     *
     * @generated from field: string prompt = 3;
     */
    prompt: string;
    /**
     * The named agent of the sub-run, if the call named one. Empty otherwise.
     *
     * @generated from field: string agent = 4;
     */
    agent: string;
};
/**
 * Describes the message agentd.v1.SubRunStarted.
 * Use `create(SubRunStartedSchema)` to create a new message.
 */
export declare const SubRunStartedSchema: GenMessage<SubRunStarted>;
/**
 * RunResumed says that agentd continues a run whose agentd process had ended. The time between the
 * previous event and this one does not count against Limits.max_wall_time. The event occurs only in
 * runs with that limit.
 *
 * @generated from message agentd.v1.RunResumed
 */
export type RunResumed = Message<"agentd.v1.RunResumed"> & {
    /**
     * When the backup was made from which the run was restored. Unset if the run was not restored.
     *
     * @generated from field: google.protobuf.Timestamp backup_time = 1;
     */
    backupTime?: Timestamp | undefined;
};
/**
 * Describes the message agentd.v1.RunResumed.
 * Use `create(RunResumedSchema)` to create a new message.
 */
export declare const RunResumedSchema: GenMessage<RunResumed>;
/**
 * SubRunWaiting lists the decisions that a sub-run, or a sub-run below it, waits for. While the
 * list is not empty, the state of this run is WAITING, even if other calls are running.
 *
 * @generated from message agentd.v1.SubRunWaiting
 */
export type SubRunWaiting = Message<"agentd.v1.SubRunWaiting"> & {
    /**
     * The id of the call that the sub-run carries out.
     *
     * @generated from field: string call_id = 1;
     */
    callId: string;
    /**
     * The id of the sub-run.
     *
     * @generated from field: string run_id = 2;
     */
    runId: string;
    /**
     * The ids of the pending decisions, as RUN/DECISION. Empty means that the sub-run no longer
     * waits.
     *
     * @generated from field: repeated string decision_ids = 3;
     */
    decisionIds: string[];
};
/**
 * Describes the message agentd.v1.SubRunWaiting.
 * Use `create(SubRunWaitingSchema)` to create a new message.
 */
export declare const SubRunWaitingSchema: GenMessage<SubRunWaiting>;
/**
 * Compacted says that agentd shortened the conversation that the model reads. The journal keeps the
 * whole conversation.
 *
 * @generated from message agentd.v1.Compacted
 */
export type Compacted = Message<"agentd.v1.Compacted"> & {
    /**
     * The reason, in English. May be empty.
     *
     * @generated from field: string reason = 1;
     */
    reason: string;
    /**
     * The number of results that were replaced by notes.
     *
     * @generated from field: uint32 cleared_results = 2;
     */
    clearedResults: number;
    /**
     * The summary that replaces the oldest messages. Empty means that none were replaced.
     *
     * @generated from field: string summary = 3;
     */
    summary: string;
    /**
     * The number of messages that the summary replaces.
     *
     * @generated from field: uint32 replaced_messages = 4;
     */
    replacedMessages: number;
    /**
     * Whether the conversation exceeded the context window of the model.
     *
     * @generated from field: bool overflow = 5;
     */
    overflow: boolean;
    /**
     * Why the model did not produce a summary. Set only if agentd requested a summary and could not
     * shorten the conversation.
     *
     * @generated from field: string failure = 6;
     */
    failure: string;
    /**
     * The tokens used for the summary.
     *
     * @generated from field: toolhost.tool.v1.Usage usage = 7;
     */
    usage?: Usage | undefined;
    /**
     * The cost of the summary, in the currency of agentd's price table.
     *
     * @generated from field: double cost = 8;
     */
    cost: number;
};
/**
 * Describes the message agentd.v1.Compacted.
 * Use `create(CompactedSchema)` to create a new message.
 */
export declare const CompactedSchema: GenMessage<Compacted>;
/**
 * RunFinished describes the end of a run.
 *
 * @generated from message agentd.v1.RunFinished
 */
export type RunFinished = Message<"agentd.v1.RunFinished"> & {
    /**
     * Why the run ended.
     *
     * @generated from field: agentd.v1.StopReason stop_reason = 1;
     */
    stopReason: StopReason;
    /**
     * Details, in English. May be empty.
     *
     * @generated from field: string message = 2;
     */
    message: string;
    /**
     * The last text of the model, or the result of a tool with `return_direct`.
     *
     * @generated from field: string text = 3;
     */
    text: string;
    /**
     * The number of model responses.
     *
     * @generated from field: uint32 turns = 4;
     */
    turns: number;
    /**
     * The number of tool calls.
     *
     * @generated from field: uint32 calls = 5;
     */
    calls: number;
    /**
     * The tokens used.
     *
     * @generated from field: toolhost.tool.v1.Usage usage = 6;
     */
    usage?: Usage | undefined;
    /**
     * The cost, in the currency of agentd's price table.
     *
     * @generated from field: double cost = 7;
     */
    cost: number;
    /**
     * The answer of a run with a response schema: a JSON object that fits the schema, as the model
     * wrote it, without white space. Set if and only if such a run succeeded.
     *
     * @generated from field: bytes result = 8;
     */
    result: Uint8Array;
};
/**
 * Describes the message agentd.v1.RunFinished.
 * Use `create(RunFinishedSchema)` to create a new message.
 */
export declare const RunFinishedSchema: GenMessage<RunFinished>;
/**
 * Completion says when a run has succeeded.
 *
 * @generated from enum agentd.v1.Completion
 */
export declare enum Completion {
    /**
     * Not set.
     *
     * @generated from enum value: COMPLETION_UNSPECIFIED = 0;
     */
    UNSPECIFIED = 0,
    /**
     * When the model calls `attempt_completion`. If the model responds without a call, agentd reminds
     * it; after three such responses the run pauses.
     *
     * @generated from enum value: COMPLETION_EXPLICIT = 1;
     */
    EXPLICIT = 1,
    /**
     * When the model responds without a call.
     *
     * @generated from enum value: COMPLETION_END_TURN = 2;
     */
    END_TURN = 2
}
/**
 * Describes the enum agentd.v1.Completion.
 */
export declare const CompletionSchema: GenEnum<Completion>;
/**
 * StandingScope says for which calls a standing approval is valid.
 *
 * @generated from enum agentd.v1.StandingScope
 */
export declare enum StandingScope {
    /**
     * Not set.
     *
     * @generated from enum value: STANDING_SCOPE_UNSPECIFIED = 0;
     */
    UNSPECIFIED = 0,
    /**
     * The calls of this run, without its sub-runs.
     *
     * @generated from enum value: STANDING_SCOPE_RUN = 1;
     */
    RUN = 1,
    /**
     * The calls of the run's session.
     *
     * @generated from enum value: STANDING_SCOPE_SESSION = 2;
     */
    SESSION = 2,
    /**
     * All calls of the principal until `expire_time`.
     *
     * @generated from enum value: STANDING_SCOPE_PRINCIPAL = 3;
     */
    PRINCIPAL = 3
}
/**
 * Describes the enum agentd.v1.StandingScope.
 */
export declare const StandingScopeSchema: GenEnum<StandingScope>;
/**
 * DecisionKind says what a person has to decide, and which verdicts fit.
 *
 * @generated from enum agentd.v1.DecisionKind
 */
export declare enum DecisionKind {
    /**
     * Not set.
     *
     * @generated from enum value: DECISION_KIND_UNSPECIFIED = 0;
     */
    UNSPECIFIED = 0,
    /**
     * Whether a call may be executed: approve, optionally with other arguments, or reject.
     *
     * @generated from enum value: DECISION_KIND_APPROVAL = 1;
     */
    APPROVAL = 1,
    /**
     * A question from the model: answer, or reject to leave it unanswered.
     *
     * @generated from enum value: DECISION_KIND_QUESTION = 2;
     */
    QUESTION = 2,
    /**
     * How to continue after a call with an unknown outcome: approve to execute it again, answer to
     * tell the model how it ended, or reject to leave the outcome unknown.
     *
     * @generated from enum value: DECISION_KIND_OUTCOME = 3;
     */
    OUTCOME = 3,
    /**
     * Whether a paused run continues: approve, or reject to end it. A user message also makes it
     * continue.
     *
     * @generated from enum value: DECISION_KIND_PAUSE = 4;
     */
    PAUSE = 4,
    /**
     * A question of the tool of a running call: answer, or reject to decline. The text of the answer
     * is a JSON object that fits `schema`. If the schema has only one property, a text, the answer may
     * be that text. If toolhost refuses the answer, the run asks again.
     *
     * @generated from enum value: DECISION_KIND_TOOL = 5;
     */
    TOOL = 5
}
/**
 * Describes the enum agentd.v1.DecisionKind.
 */
export declare const DecisionKindSchema: GenEnum<DecisionKind>;
/**
 * Verdict is the content of a decision.
 *
 * @generated from enum agentd.v1.Verdict
 */
export declare enum Verdict {
    /**
     * Not set.
     *
     * @generated from enum value: VERDICT_UNSPECIFIED = 0;
     */
    UNSPECIFIED = 0,
    /**
     * Approved.
     *
     * @generated from enum value: VERDICT_APPROVE = 1;
     */
    APPROVE = 1,
    /**
     * Rejected.
     *
     * @generated from enum value: VERDICT_REJECT = 2;
     */
    REJECT = 2,
    /**
     * Answered.
     *
     * @generated from enum value: VERDICT_ANSWER = 3;
     */
    ANSWER = 3,
    /**
     * The decision expired, which counts as rejected.
     *
     * @generated from enum value: VERDICT_EXPIRED = 4;
     */
    EXPIRED = 4
}
/**
 * Describes the enum agentd.v1.Verdict.
 */
export declare const VerdictSchema: GenEnum<Verdict>;
/**
 * RunState is the state of a run.
 *
 * @generated from enum agentd.v1.RunState
 */
export declare enum RunState {
    /**
     * Not set, or the journal of the run cannot be read.
     *
     * @generated from enum value: RUN_STATE_UNSPECIFIED = 0;
     */
    UNSPECIFIED = 0,
    /**
     * An agentd is working on the run. The run may be waiting for a model or a tool.
     *
     * @generated from enum value: RUN_STATE_RUNNING = 1;
     */
    RUNNING = 1,
    /**
     * The run has ended. A user message makes it continue.
     *
     * @generated from enum value: RUN_STATE_FINISHED = 2;
     */
    FINISHED = 2,
    /**
     * The run waits for a person. Calls that need no decision may still be running.
     *
     * @generated from enum value: RUN_STATE_WAITING = 3;
     */
    WAITING = 3,
    /**
     * The run has not ended, no agentd is working on it, and no decision is pending. `agentd serve`
     * continues such a run when it starts. `agentd resume` continues a run that `agentd run` or
     * `agentd chat` started.
     *
     * @generated from enum value: RUN_STATE_INTERRUPTED = 4;
     */
    INTERRUPTED = 4
}
/**
 * Describes the enum agentd.v1.RunState.
 */
export declare const RunStateSchema: GenEnum<RunState>;
/**
 * StopReason says why a run ended.
 *
 * @generated from enum agentd.v1.StopReason
 */
export declare enum StopReason {
    /**
     * Not set.
     *
     * @generated from enum value: STOP_REASON_UNSPECIFIED = 0;
     */
    UNSPECIFIED = 0,
    /**
     * The model responded without a call.
     *
     * @generated from enum value: STOP_REASON_END_TURN = 1;
     */
    END_TURN = 1,
    /**
     * The model's response was truncated at its token limit twice.
     *
     * @generated from enum value: STOP_REASON_MAX_TOKENS = 2;
     */
    MAX_TOKENS = 2,
    /**
     * The model refused to respond.
     *
     * @generated from enum value: STOP_REASON_REFUSAL = 3;
     */
    REFUSAL = 3,
    /**
     * The provider blocked the response.
     *
     * @generated from enum value: STOP_REASON_CONTENT_FILTER = 4;
     */
    CONTENT_FILTER = 4,
    /**
     * The conversation no longer fits into the context window.
     *
     * @generated from enum value: STOP_REASON_CONTEXT_OVERFLOW = 5;
     */
    CONTEXT_OVERFLOW = 5,
    /**
     * Limits.max_turns was reached.
     *
     * @generated from enum value: STOP_REASON_MAX_TURNS = 6;
     */
    MAX_TURNS = 6,
    /**
     * Limits.max_calls was reached.
     *
     * @generated from enum value: STOP_REASON_MAX_CALLS = 7;
     */
    MAX_CALLS = 7,
    /**
     * A client canceled the run.
     *
     * @generated from enum value: STOP_REASON_CANCELLED = 8;
     */
    CANCELLED = 8,
    /**
     * The model request failed, or its response was unusable.
     *
     * @generated from enum value: STOP_REASON_MODEL_ERROR = 9;
     */
    MODEL_ERROR = 9,
    /**
     * A tool with `return_direct` returned the final answer.
     *
     * @generated from enum value: STOP_REASON_RETURN_DIRECT = 10;
     */
    RETURN_DIRECT = 10,
    /**
     * A bug in agentd, or a journal that agentd cannot write.
     *
     * @generated from enum value: STOP_REASON_INTERNAL_ERROR = 11;
     */
    INTERNAL_ERROR = 11,
    /**
     * The model called `attempt_completion`, or its answer fits `StartRunRequest.response_schema`.
     *
     * @generated from enum value: STOP_REASON_COMPLETED = 12;
     */
    COMPLETED = 12,
    /**
     * Limits.max_tokens was reached.
     *
     * @generated from enum value: STOP_REASON_TOKEN_BUDGET = 13;
     */
    TOKEN_BUDGET = 13,
    /**
     * Limits.max_cost was reached.
     *
     * @generated from enum value: STOP_REASON_COST_BUDGET = 14;
     */
    COST_BUDGET = 14,
    /**
     * Limits.max_wall_time was reached.
     *
     * @generated from enum value: STOP_REASON_WALL_TIME = 15;
     */
    WALL_TIME = 15,
    /**
     * Limits.max_output was reached.
     *
     * @generated from enum value: STOP_REASON_OUTPUT_SIZE = 16;
     */
    OUTPUT_SIZE = 16,
    /**
     * Limits.max_failures was reached.
     *
     * @generated from enum value: STOP_REASON_FAILURES = 17;
     */
    FAILURES = 17,
    /**
     * Limits.max_timeouts was reached.
     *
     * @generated from enum value: STOP_REASON_TIMEOUTS = 18;
     */
    TIMEOUTS = 18,
    /**
     * Limits.max_repeats was reached.
     *
     * @generated from enum value: STOP_REASON_REPETITION = 19;
     */
    REPETITION = 19,
    /**
     * The run requires explicit completion, but the model repeatedly responded without a call.
     *
     * @generated from enum value: STOP_REASON_NO_TOOL_CALLS = 20;
     */
    NO_TOOL_CALLS = 20,
    /**
     * The answer did not fit `StartRunRequest.response_schema`, also after two repairs.
     *
     * @generated from enum value: STOP_REASON_INVALID_ANSWER = 21;
     */
    INVALID_ANSWER = 21,
    /**
     * Two responses in a row had neither text nor a call.
     *
     * @generated from enum value: STOP_REASON_EMPTY_RESPONSE = 22;
     */
    EMPTY_RESPONSE = 22,
    /**
     * Two responses in a row were a tool call as text, in the markup of a model. Nothing was called.
     *
     * @generated from enum value: STOP_REASON_CALL_AS_TEXT = 23;
     */
    CALL_AS_TEXT = 23
}
/**
 * Describes the enum agentd.v1.StopReason.
 */
export declare const StopReasonSchema: GenEnum<StopReason>;
/**
 * AgentService starts, watches and controls agent runs. A run is one task for an agent: a
 * conversation between a user, a model and tools, recorded in a journal of events.
 *
 * A run belongs to the principal that started it, and agentd calls tools for that principal. For a
 * principal that may not see a run, the run does not exist: the RPC fails with NOT_FOUND. A
 * principal sees its own runs. With the right `runs.list` it sees all runs of a tenant.
 *
 * Errors are toolhost.tool.v1.Error as a detail of the gRPC status.
 *
 * @generated from service agentd.v1.AgentService
 */
export declare const AgentService: GenService<{
    /**
     * StartRun starts a run and returns at once. If a run with the same id exists that began with the
     * same request, StartRun returns it. `traceparent` may differ. Errors: CONFLICT if a run with the
     * same id exists that began with another request; INVALID_ARGUMENT, also if the model of the run does not read an
     * attachment; NOT_FOUND if the principal may not read the artifact of an attachment.
     *
     * @generated from rpc agentd.v1.AgentService.StartRun
     */
    startRun: {
        methodKind: "unary";
        input: typeof StartRunRequestSchema;
        output: typeof StartRunResponseSchema;
    };
    /**
     * SendMessage adds a user message to a run. A running run reads it before the next model turn. A
     * finished run continues with it. Errors: NOT_FOUND, and those of StartRun for attachments.
     *
     * @generated from rpc agentd.v1.AgentService.SendMessage
     */
    sendMessage: {
        methodKind: "unary";
        input: typeof SendMessageRequestSchema;
        output: typeof SendMessageResponseSchema;
    };
    /**
     * WatchRun streams the events of a run: first those in the journal after `after_seq`, then new
     * ones. The stream ends when the run has finished. Errors: NOT_FOUND.
     *
     * @generated from rpc agentd.v1.AgentService.WatchRun
     */
    watchRun: {
        methodKind: "server_streaming";
        input: typeof WatchRunRequestSchema;
        output: typeof WatchRunResponseSchema;
    };
    /**
     * Respond makes decisions that a run waits for: it approves calls, optionally with other
     * arguments, rejects them with a reason, or answers questions. GetRun and the event
     * `decision_requested` list the pending decisions. Respond makes either all decisions of a
     * request or none.
     *
     * The id of a decision that a sub-run waits for has the form RUN/DECISION; agentd passes the
     * decision to that run. All decisions of one request must belong to the same run.
     *
     * The principal of the caller is the approver. Decisions of the kind APPROVAL need the right
     * `runs.approve`; other decisions need it only for runs of other principals. Errors: NOT_FOUND if
     * the run does not exist or a decision is not pending; INVALID_ARGUMENT if a verdict does not fit
     * the kind of decision; DENIED if the caller may not make a decision, also because it is the
     * principal of the run and the decision has `four_eyes`.
     *
     * @generated from rpc agentd.v1.AgentService.Respond
     */
    respond: {
        methodKind: "unary";
        input: typeof RespondRequestSchema;
        output: typeof RespondResponseSchema;
    };
    /**
     * CancelRun stops a run. agentd cancels its calls and records a result for each; the run finishes
     * with the stop reason CANCELLED. A finished run does not change. Errors: NOT_FOUND.
     *
     * @generated from rpc agentd.v1.AgentService.CancelRun
     */
    cancelRun: {
        methodKind: "unary";
        input: typeof CancelRunRequestSchema;
        output: typeof CancelRunResponseSchema;
    };
    /**
     * DeleteRun deletes a finished run with its sub-runs: their events, their attachments, and what agentd
     * keeps to continue them. No run can have their ids again: StartRun with one of them fails with
     * CONFLICT. Errors: NOT_FOUND; CONFLICT if one of them has not finished, or a run of which the run is a
     * sub-run, or if another process works on one; UNAVAILABLE if the audit log cannot be written.
     *
     * @generated from rpc agentd.v1.AgentService.DeleteRun
     */
    deleteRun: {
        methodKind: "unary";
        input: typeof DeleteRunRequestSchema;
        output: typeof DeleteRunResponseSchema;
    };
    /**
     * GetRun returns the summary of a run and the pending decisions of the run and its sub-runs.
     * Errors: NOT_FOUND.
     *
     * @generated from rpc agentd.v1.AgentService.GetRun
     */
    getRun: {
        methodKind: "unary";
        input: typeof GetRunRequestSchema;
        output: typeof GetRunResponseSchema;
    };
    /**
     * ListRuns lists runs, newest first, in pages.
     *
     * @generated from rpc agentd.v1.AgentService.ListRuns
     */
    listRuns: {
        methodKind: "unary";
        input: typeof ListRunsRequestSchema;
        output: typeof ListRunsResponseSchema;
    };
    /**
     * GetVersion returns the version, the commit and the contracts of the running agentd.
     *
     * @generated from rpc agentd.v1.AgentService.GetVersion
     */
    getVersion: {
        methodKind: "unary";
        input: typeof GetVersionRequestSchema;
        output: typeof GetVersionResponseSchema;
    };
    /**
     * WhoAmI returns how agentd identified the caller, and what the caller may do. Every caller that
     * agentd has identified may ask.
     *
     * @generated from rpc agentd.v1.AgentService.WhoAmI
     */
    whoAmI: {
        methodKind: "unary";
        input: typeof WhoAmIRequestSchema;
        output: typeof WhoAmIResponseSchema;
    };
    /**
     * Reload applies the changes of the configuration file to runs that start from now on. Runs that
     * work keep the configuration that they began with. Errors: UNAVAILABLE if agentd has no
     * configuration file.
     *
     * @generated from rpc agentd.v1.AgentService.Reload
     */
    reload: {
        methodKind: "unary";
        input: typeof ReloadRequestSchema;
        output: typeof ReloadResponseSchema;
    };
    /**
     * DiffConfiguration returns what Reload would change. It changes nothing. Errors: as Reload.
     *
     * @generated from rpc agentd.v1.AgentService.DiffConfiguration
     */
    diffConfiguration: {
        methodKind: "unary";
        input: typeof DiffConfigurationRequestSchema;
        output: typeof DiffConfigurationResponseSchema;
    };
    /**
     * CreateConsoleCode returns a one-time code with which the caller logs in at agentd's pages in a
     * browser. Only the user at the other end of a unix socket gets one. Errors: UNAVAILABLE if agentd
     * serves no pages; DENIED for other callers; RATE_LIMITED if too many codes wait to be used.
     *
     * @generated from rpc agentd.v1.AgentService.CreateConsoleCode
     */
    createConsoleCode: {
        methodKind: "unary";
        input: typeof CreateConsoleCodeRequestSchema;
        output: typeof CreateConsoleCodeResponseSchema;
    };
}>;
