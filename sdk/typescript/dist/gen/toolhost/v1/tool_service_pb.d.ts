import type { GenEnum, GenFile, GenMessage, GenService } from "@bufbuild/protobuf/codegenv2";
import type { Duration, Timestamp } from "@bufbuild/protobuf/wkt";
import type { CallerInfo } from "../tool/v1/caller_pb.js";
import type { Error } from "../tool/v1/error_pb.js";
import type { Principal } from "../tool/v1/principal_pb.js";
import type { Answer, ModelQuestion, PersonQuestion, QuestionKinds, RootsQuestion } from "../tool/v1/question_pb.js";
import type { Result } from "../tool/v1/result_pb.js";
import type { ToolSpec } from "../tool/v1/spec_pb.js";
import type { LogRecord, Status } from "../tool/v1/status_pb.js";
import type { VersionInfo } from "../tool/v1/version_pb.js";
import type { CompleteArgumentRequestSchema, CompleteArgumentResponseSchema, GetPromptRequestSchema, GetPromptResponseSchema, ListPromptsRequestSchema, ListPromptsResponseSchema, ListResourcesRequestSchema, ListResourcesResponseSchema, ListResourceTemplatesRequestSchema, ListResourceTemplatesResponseSchema, ReadResourceRequestSchema, ReadResourceResponseSchema, WatchResourcesRequestSchema, WatchResourcesResponseSchema } from "./resources_pb.js";
import type { Settled } from "./settled_pb.js";
import type { Message } from "@bufbuild/protobuf";
/**
 * Describes the file toolhost/v1/tool_service.proto.
 */
export declare const file_toolhost_v1_tool_service: GenFile;
/**
 * GetVersionRequest has no fields.
 *
 * @generated from message toolhost.v1.GetVersionRequest
 */
export type GetVersionRequest = Message<"toolhost.v1.GetVersionRequest"> & {};
/**
 * Describes the message toolhost.v1.GetVersionRequest.
 * Use `create(GetVersionRequestSchema)` to create a new message.
 */
export declare const GetVersionRequestSchema: GenMessage<GetVersionRequest>;
/**
 * GetVersionResponse contains the version of toolhost.
 *
 * @generated from message toolhost.v1.GetVersionResponse
 */
export type GetVersionResponse = Message<"toolhost.v1.GetVersionResponse"> & {
    /**
     * The version of the program that answers.
     *
     * @generated from field: toolhost.tool.v1.VersionInfo version = 1;
     */
    version?: VersionInfo | undefined;
};
/**
 * Describes the message toolhost.v1.GetVersionResponse.
 * Use `create(GetVersionResponseSchema)` to create a new message.
 */
export declare const GetVersionResponseSchema: GenMessage<GetVersionResponse>;
/**
 * WhoAmIRequest has no fields.
 *
 * @generated from message toolhost.v1.WhoAmIRequest
 */
export type WhoAmIRequest = Message<"toolhost.v1.WhoAmIRequest"> & {};
/**
 * Describes the message toolhost.v1.WhoAmIRequest.
 * Use `create(WhoAmIRequestSchema)` to create a new message.
 */
export declare const WhoAmIRequestSchema: GenMessage<WhoAmIRequest>;
/**
 * WhoAmIResponse describes the caller.
 *
 * @generated from message toolhost.v1.WhoAmIResponse
 */
export type WhoAmIResponse = Message<"toolhost.v1.WhoAmIResponse"> & {
    /**
     * The caller.
     *
     * @generated from field: toolhost.tool.v1.CallerInfo caller = 1;
     */
    caller?: CallerInfo | undefined;
};
/**
 * Describes the message toolhost.v1.WhoAmIResponse.
 * Use `create(WhoAmIResponseSchema)` to create a new message.
 */
export declare const WhoAmIResponseSchema: GenMessage<WhoAmIResponse>;
/**
 * Tool is a tool that toolhost offers.
 *
 * @generated from message toolhost.v1.Tool
 */
export type Tool = Message<"toolhost.v1.Tool"> & {
    /**
     * What the tool declares, with the operator's changes applied.
     *
     * @generated from field: toolhost.tool.v1.ToolSpec spec = 1;
     */
    spec?: ToolSpec | undefined;
    /**
     * The name of the plugin that contains the tool.
     *
     * @generated from field: string plugin = 2;
     */
    plugin: string;
    /**
     * The version of the plugin.
     *
     * @generated from field: string plugin_version = 3;
     */
    pluginVersion: string;
    /**
     * Why the tool cannot be called at the moment, in English. Empty means that it can be called.
     *
     * @generated from field: string unavailable_reason = 4;
     */
    unavailableReason: string;
    /**
     * The filters of the tool's own plugin that its calls always pass, because the plugin declares so.
     *
     * @generated from field: repeated string filters = 5;
     */
    filters: string[];
};
/**
 * Describes the message toolhost.v1.Tool.
 * Use `create(ToolSchema)` to create a new message.
 */
export declare const ToolSchema: GenMessage<Tool>;
/**
 * ToolSelection selects tools. A tool is selected if it matches every field that is set.
 *
 * @generated from message toolhost.v1.ToolSelection
 */
export type ToolSelection = Message<"toolhost.v1.ToolSelection"> & {
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
     * The maximum number of tools, over all pages of a list. 0 means no limit; for SearchTools it
     * means 10. Must not be negative.
     *
     * @generated from field: int32 max_tools = 6;
     */
    maxTools: number;
    /**
     * The session for which dynamic tools are described. Empty means no session.
     *
     * @generated from field: string session = 7;
     */
    session: string;
    /**
     * The context for which dynamic tools are described, as JSON values by key. Each tool receives
     * only the keys that it declares in ToolSpec.context_keys.
     *
     * @generated from field: map<string, bytes> context = 8;
     */
    context: {
        [key: string]: Uint8Array;
    };
    /**
     * Matches the tools of one of these plugins. Empty means any.
     *
     * @generated from field: repeated string plugins = 9;
     */
    plugins: string[];
    /**
     * The names of tools that are never selected. Names without a tool have no effect.
     *
     * @generated from field: repeated string excluded = 10;
     */
    excluded: string[];
};
/**
 * Describes the message toolhost.v1.ToolSelection.
 * Use `create(ToolSelectionSchema)` to create a new message.
 */
export declare const ToolSelectionSchema: GenMessage<ToolSelection>;
/**
 * ListToolsRequest requests one page of tools.
 *
 * @generated from message toolhost.v1.ListToolsRequest
 */
export type ListToolsRequest = Message<"toolhost.v1.ListToolsRequest"> & {
    /**
     * The maximum number of tools in the page. 0 means 100. Values over 1000 mean 1000. Must not be
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
     * Which tools to list. Unset means all.
     *
     * @generated from field: toolhost.v1.ToolSelection selection = 3;
     */
    selection?: ToolSelection | undefined;
    /**
     * The principal that the request is for. Unset means the caller itself. See "Delegation" at
     * ToolService.
     *
     * @generated from field: toolhost.tool.v1.Principal on_behalf_of = 4;
     */
    onBehalfOf?: Principal | undefined;
    /**
     * The revision of the list that the caller has, from an earlier response. Set, even if empty, asks
     * for `revision` in the response. If the list still has the revision given, the response has it and
     * no tools. Used on the first page only.
     *
     * @generated from field: optional string known_revision = 5;
     */
    knownRevision?: string | undefined;
};
/**
 * Describes the message toolhost.v1.ListToolsRequest.
 * Use `create(ListToolsRequestSchema)` to create a new message.
 */
export declare const ListToolsRequestSchema: GenMessage<ListToolsRequest>;
/**
 * ListToolsResponse is one page of tools.
 *
 * @generated from message toolhost.v1.ListToolsResponse
 */
export type ListToolsResponse = Message<"toolhost.v1.ListToolsResponse"> & {
    /**
     * The tools, ordered by name.
     *
     * @generated from field: repeated toolhost.v1.Tool tools = 1;
     */
    tools: Tool[];
    /**
     * The token of the next page. Empty means that this is the last page.
     *
     * @generated from field: string next_page_token = 2;
     */
    nextPageToken: string;
    /**
     * The id of the ledger in which this toolhost records call ids. It stays the same across restarts
     * as long as the ledger file exists. See CallOptions.ledger_id.
     *
     * @generated from field: string ledger_id = 3;
     */
    ledgerId: string;
    /**
     * The absolute path of the workspace on toolhost's machine. Empty means that there is none.
     *
     * @generated from field: string workspace = 4;
     */
    workspace: string;
    /**
     * The absolute paths of the folders on toolhost's machine that at least one plugin may write. A
     * caller must not read configuration from them, because a tool may have written it.
     *
     * @generated from field: repeated string writable_folders = 5;
     */
    writableFolders: string[];
    /**
     * The absolute paths of folders on toolhost's machine that no sandboxed plugin may access, even if
     * they are in one of `writable_folders`: toolhost's state and the trust records of its user.
     *
     * @generated from field: repeated string hidden_folders = 6;
     */
    hiddenFolders: string[];
    /**
     * What identifies the list of all pages, on the first page of a request with `known_revision`. As
     * long as a selection gives a principal an equal revision, it gives the same tools. A revision
     * depends on the session and the context only as far as tools are dynamic. It has no meaning for
     * another toolhost, or after a restart. Empty means that toolhost does not know it.
     *
     * @generated from field: string revision = 7;
     */
    revision: string;
};
/**
 * Describes the message toolhost.v1.ListToolsResponse.
 * Use `create(ListToolsResponseSchema)` to create a new message.
 */
export declare const ListToolsResponseSchema: GenMessage<ListToolsResponse>;
/**
 * GetToolRequest names a tool.
 *
 * @generated from message toolhost.v1.GetToolRequest
 */
export type GetToolRequest = Message<"toolhost.v1.GetToolRequest"> & {
    /**
     * The name of the tool.
     *
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * The session for which a dynamic tool is described. Empty means no session.
     *
     * @generated from field: string session = 2;
     */
    session: string;
    /**
     * The context for which a dynamic tool is described, as JSON values by key.
     *
     * @generated from field: map<string, bytes> context = 3;
     */
    context: {
        [key: string]: Uint8Array;
    };
    /**
     * The principal that the request is for. Unset means the caller itself. See "Delegation" at
     * ToolService.
     *
     * @generated from field: toolhost.tool.v1.Principal on_behalf_of = 4;
     */
    onBehalfOf?: Principal | undefined;
};
/**
 * Describes the message toolhost.v1.GetToolRequest.
 * Use `create(GetToolRequestSchema)` to create a new message.
 */
export declare const GetToolRequestSchema: GenMessage<GetToolRequest>;
/**
 * GetToolResponse returns a tool.
 *
 * @generated from message toolhost.v1.GetToolResponse
 */
export type GetToolResponse = Message<"toolhost.v1.GetToolResponse"> & {
    /**
     * The tool.
     *
     * @generated from field: toolhost.v1.Tool tool = 1;
     */
    tool?: Tool | undefined;
};
/**
 * Describes the message toolhost.v1.GetToolResponse.
 * Use `create(GetToolResponseSchema)` to create a new message.
 */
export declare const GetToolResponseSchema: GenMessage<GetToolResponse>;
/**
 * SearchToolsRequest searches for tools.
 *
 * @generated from message toolhost.v1.SearchToolsRequest
 */
export type SearchToolsRequest = Message<"toolhost.v1.SearchToolsRequest"> & {
    /**
     * The words to search for, in any order and inflection, such as `read a file`. A tool matches if
     * it contains at least one of them. Rare words count more than frequent ones, and the name of a
     * tool counts more than its description. Words such as `a` count only if the query has no other
     * words. toolhost reads only the beginning of a very long query. Must not be empty.
     *
     * @generated from field: string query = 1;
     */
    query: string;
    /**
     * The tools to search. Unset means all.
     *
     * @generated from field: toolhost.v1.ToolSelection selection = 2;
     */
    selection?: ToolSelection | undefined;
    /**
     * The principal that the request is for. Unset means the caller itself. See "Delegation" at
     * ToolService.
     *
     * @generated from field: toolhost.tool.v1.Principal on_behalf_of = 3;
     */
    onBehalfOf?: Principal | undefined;
};
/**
 * Describes the message toolhost.v1.SearchToolsRequest.
 * Use `create(SearchToolsRequestSchema)` to create a new message.
 */
export declare const SearchToolsRequestSchema: GenMessage<SearchToolsRequest>;
/**
 * SearchToolsResponse returns the tools that match a search.
 *
 * @generated from message toolhost.v1.SearchToolsResponse
 */
export type SearchToolsResponse = Message<"toolhost.v1.SearchToolsResponse"> & {
    /**
     * The matches, best first.
     *
     * @generated from field: repeated toolhost.v1.ToolMatch matches = 1;
     */
    matches: ToolMatch[];
};
/**
 * Describes the message toolhost.v1.SearchToolsResponse.
 * Use `create(SearchToolsResponseSchema)` to create a new message.
 */
export declare const SearchToolsResponseSchema: GenMessage<SearchToolsResponse>;
/**
 * ToolMatch is a tool that matches a search.
 *
 * @generated from message toolhost.v1.ToolMatch
 */
export type ToolMatch = Message<"toolhost.v1.ToolMatch"> & {
    /**
     * The tool.
     *
     * @generated from field: toolhost.v1.Tool tool = 1;
     */
    tool?: Tool | undefined;
    /**
     * How well the tool matches; greater is better. Scores of different responses are not comparable.
     *
     * @generated from field: double score = 2;
     */
    score: number;
};
/**
 * Describes the message toolhost.v1.ToolMatch.
 * Use `create(ToolMatchSchema)` to create a new message.
 */
export declare const ToolMatchSchema: GenMessage<ToolMatch>;
/**
 * RenderToolsRequest requests tools in a format.
 *
 * @generated from message toolhost.v1.RenderToolsRequest
 */
export type RenderToolsRequest = Message<"toolhost.v1.RenderToolsRequest"> & {
    /**
     * The format. Must be set.
     *
     * @generated from field: toolhost.v1.ToolFormat format = 1;
     */
    format: ToolFormat;
    /**
     * The tools to render. Unset means all.
     *
     * @generated from field: toolhost.v1.ToolSelection selection = 2;
     */
    selection?: ToolSelection | undefined;
    /**
     * The principal that the request is for. Unset means the caller itself. See "Delegation" at
     * ToolService.
     *
     * @generated from field: toolhost.tool.v1.Principal on_behalf_of = 3;
     */
    onBehalfOf?: Principal | undefined;
};
/**
 * Describes the message toolhost.v1.RenderToolsRequest.
 * Use `create(RenderToolsRequestSchema)` to create a new message.
 */
export declare const RenderToolsRequestSchema: GenMessage<RenderToolsRequest>;
/**
 * RenderToolsResponse returns the rendered tools, ordered by name.
 *
 * @generated from message toolhost.v1.RenderToolsResponse
 */
export type RenderToolsResponse = Message<"toolhost.v1.RenderToolsResponse"> & {
    /**
     * The rendered tools, as JSON or Markdown.
     *
     * @generated from field: bytes content = 1;
     */
    content: Uint8Array;
    /**
     * The media type of the content: `application/json` or `text/markdown`.
     *
     * @generated from field: string media_type = 2;
     */
    mediaType: string;
    /**
     * The names of the rendered tools, in order.
     *
     * @generated from field: repeated string tools = 3;
     */
    tools: string[];
    /**
     * The tools that match the selection but are not in `content`, ordered by name. Tools over the
     * limit `max_tools` are not listed.
     *
     * @generated from field: repeated toolhost.v1.OmittedTool omitted = 4;
     */
    omitted: OmittedTool[];
};
/**
 * Describes the message toolhost.v1.RenderToolsResponse.
 * Use `create(RenderToolsResponseSchema)` to create a new message.
 */
export declare const RenderToolsResponseSchema: GenMessage<RenderToolsResponse>;
/**
 * OmittedTool is a tool that matches a selection but is not rendered.
 *
 * @generated from message toolhost.v1.OmittedTool
 */
export type OmittedTool = Message<"toolhost.v1.OmittedTool"> & {
    /**
     * The name of the tool.
     *
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * The reason, in English: the tool is unavailable, or the API would reject a request that
     * contains it.
     *
     * @generated from field: string reason = 2;
     */
    reason: string;
};
/**
 * Describes the message toolhost.v1.OmittedTool.
 * Use `create(OmittedToolSchema)` to create a new message.
 */
export declare const OmittedToolSchema: GenMessage<OmittedTool>;
/**
 * WatchCallRequest names a call to watch.
 *
 * @generated from message toolhost.v1.WatchCallRequest
 */
export type WatchCallRequest = Message<"toolhost.v1.WatchCallRequest"> & {
    /**
     * The id of the call. Must not be empty.
     *
     * @generated from field: string call_id = 1;
     */
    callId: string;
    /**
     * The session of the call. Empty means the principal's default session.
     *
     * @generated from field: string session = 2;
     */
    session: string;
    /**
     * The `seq` of the last event that the caller has seen; the stream continues after it. 0 means
     * all events. If the call has more events than toolhost stores, toolhost merges the oldest
     * statuses into one, with the `seq` of the last merged status.
     *
     * @generated from field: uint64 after_seq = 3;
     */
    afterSeq: bigint;
    /**
     * The principal that the request is for. Unset means the caller itself. See "Delegation" at
     * ToolService.
     *
     * @generated from field: toolhost.tool.v1.Principal on_behalf_of = 4;
     */
    onBehalfOf?: Principal | undefined;
};
/**
 * Describes the message toolhost.v1.WatchCallRequest.
 * Use `create(WatchCallRequestSchema)` to create a new message.
 */
export declare const WatchCallRequestSchema: GenMessage<WatchCallRequest>;
/**
 * WatchCallResponse returns one event of a call.
 *
 * @generated from message toolhost.v1.WatchCallResponse
 */
export type WatchCallResponse = Message<"toolhost.v1.WatchCallResponse"> & {
    /**
     * The event.
     *
     * @generated from field: toolhost.v1.CallEvent event = 1;
     */
    event?: CallEvent | undefined;
};
/**
 * Describes the message toolhost.v1.WatchCallResponse.
 * Use `create(WatchCallResponseSchema)` to create a new message.
 */
export declare const WatchCallResponseSchema: GenMessage<WatchCallResponse>;
/**
 * CancelCallRequest names a call to cancel.
 *
 * @generated from message toolhost.v1.CancelCallRequest
 */
export type CancelCallRequest = Message<"toolhost.v1.CancelCallRequest"> & {
    /**
     * The id of the call. Must not be empty.
     *
     * @generated from field: string call_id = 1;
     */
    callId: string;
    /**
     * The session of the call. Empty means the principal's default session.
     *
     * @generated from field: string session = 2;
     */
    session: string;
    /**
     * The reason, as text. May be empty.
     *
     * @generated from field: string reason = 3;
     */
    reason: string;
    /**
     * The principal that the request is for. Unset means the caller itself. See "Delegation" at
     * ToolService.
     *
     * @generated from field: toolhost.tool.v1.Principal on_behalf_of = 4;
     */
    onBehalfOf?: Principal | undefined;
};
/**
 * Describes the message toolhost.v1.CancelCallRequest.
 * Use `create(CancelCallRequestSchema)` to create a new message.
 */
export declare const CancelCallRequestSchema: GenMessage<CancelCallRequest>;
/**
 * CancelCallResponse confirms that toolhost has requested the cancellation.
 *
 * @generated from message toolhost.v1.CancelCallResponse
 */
export type CancelCallResponse = Message<"toolhost.v1.CancelCallResponse"> & {};
/**
 * Describes the message toolhost.v1.CancelCallResponse.
 * Use `create(CancelCallResponseSchema)` to create a new message.
 */
export declare const CancelCallResponseSchema: GenMessage<CancelCallResponse>;
/**
 * AnswerQuestionRequest answers a question of a call.
 *
 * @generated from message toolhost.v1.AnswerQuestionRequest
 */
export type AnswerQuestionRequest = Message<"toolhost.v1.AnswerQuestionRequest"> & {
    /**
     * The id of the call. Must not be empty.
     *
     * @generated from field: string call_id = 1;
     */
    callId: string;
    /**
     * The session of the call. Empty means the principal's default session.
     *
     * @generated from field: string session = 2;
     */
    session: string;
    /**
     * The `id` of the question.
     *
     * @generated from field: uint32 question = 3;
     */
    question: number;
    /**
     * The answer.
     *
     * @generated from field: toolhost.tool.v1.Answer answer = 4;
     */
    answer?: Answer | undefined;
    /**
     * The principal that the request is for. Unset means the caller itself. See "Delegation" at
     * ToolService.
     *
     * @generated from field: toolhost.tool.v1.Principal on_behalf_of = 5;
     */
    onBehalfOf?: Principal | undefined;
};
/**
 * Describes the message toolhost.v1.AnswerQuestionRequest.
 * Use `create(AnswerQuestionRequestSchema)` to create a new message.
 */
export declare const AnswerQuestionRequestSchema: GenMessage<AnswerQuestionRequest>;
/**
 * AnswerQuestionResponse confirms that toolhost has taken the answer.
 *
 * @generated from message toolhost.v1.AnswerQuestionResponse
 */
export type AnswerQuestionResponse = Message<"toolhost.v1.AnswerQuestionResponse"> & {};
/**
 * Describes the message toolhost.v1.AnswerQuestionResponse.
 * Use `create(AnswerQuestionResponseSchema)` to create a new message.
 */
export declare const AnswerQuestionResponseSchema: GenMessage<AnswerQuestionResponse>;
/**
 * ReadArtifactRequest names a part of an artifact.
 *
 * @generated from message toolhost.v1.ReadArtifactRequest
 */
export type ReadArtifactRequest = Message<"toolhost.v1.ReadArtifactRequest"> & {
    /**
     * The handle of the artifact.
     *
     * @generated from field: string handle = 1;
     */
    handle: string;
    /**
     * The session of the call that created the artifact. Empty means the principal's default session.
     *
     * @generated from field: string session = 2;
     */
    session: string;
    /**
     * The position of the first byte. At or after the end of the artifact, the response has no data.
     *
     * @generated from field: uint64 offset = 3;
     */
    offset: bigint;
    /**
     * The maximum number of bytes. 0 means 64 KiB. Values over 1 MiB mean 1 MiB.
     *
     * @generated from field: uint32 limit = 4;
     */
    limit: number;
    /**
     * The principal that the request is for. Unset means the caller itself. See "Delegation" at
     * ToolService.
     *
     * @generated from field: toolhost.tool.v1.Principal on_behalf_of = 5;
     */
    onBehalfOf?: Principal | undefined;
};
/**
 * Describes the message toolhost.v1.ReadArtifactRequest.
 * Use `create(ReadArtifactRequestSchema)` to create a new message.
 */
export declare const ReadArtifactRequestSchema: GenMessage<ReadArtifactRequest>;
/**
 * ReadArtifactResponse returns a part of an artifact.
 *
 * @generated from message toolhost.v1.ReadArtifactResponse
 */
export type ReadArtifactResponse = Message<"toolhost.v1.ReadArtifactResponse"> & {
    /**
     * The bytes. A part of a text may end inside a UTF-8 sequence.
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
     * A file name without folders. May be empty.
     *
     * @generated from field: string name = 4;
     */
    name: string;
};
/**
 * Describes the message toolhost.v1.ReadArtifactResponse.
 * Use `create(ReadArtifactResponseSchema)` to create a new message.
 */
export declare const ReadArtifactResponseSchema: GenMessage<ReadArtifactResponse>;
/**
 * CallOptions holds the optional parameters of a call.
 *
 * @generated from message toolhost.v1.CallOptions
 */
export type CallOptions = Message<"toolhost.v1.CallOptions"> & {
    /**
     * The id of the call, which is also its idempotency key: 1 to 128 printable ASCII characters
     * without spaces. Empty means that toolhost generates an id.
     *
     * @generated from field: string call_id = 1;
     */
    callId: string;
    /**
     * A scope for call ids, artifacts and rate limits that the caller chooses: 1 to 128 printable
     * ASCII characters without spaces. Empty means the principal's default session.
     *
     * @generated from field: string session = 2;
     */
    session: string;
    /**
     * The time limit of the call. Unset means the tool's own timeout. The tool's timeout, toolhost's
     * cap and the deadline of the RPC are upper bounds. Must be positive if set.
     *
     * @generated from field: google.protobuf.Duration timeout = 3;
     */
    timeout?: Duration | undefined;
    /**
     * A person's approval of this call. Unset means that the call is not approved.
     *
     * @generated from field: toolhost.v1.Approval approval = 4;
     */
    approval?: Approval | undefined;
    /**
     * The context of the agent run, as JSON values by key. A tool receives only the keys that it
     * declares in ToolSpec.context_keys. The caller may choose other keys; these are predefined:
     *
     *   - `run`: the id of the agent run, a string.
     *   - `turn`: the number of the model response that requested the call, a number from 1.
     *   - `session`: the session, a string.
     *   - `agent`: the name of the agent of the run, a string. Missing if the run has none.
     *   - `model`: the full name of the model of the run, a string.
     *   - `usage`: what the run had used before the response with the call, an object with the members
     *     `input_tokens`, `output_tokens`, `cache_read_tokens` and `cache_write_tokens`, each missing if
     *     it is 0, and `cost`.
     *   - `tenant`: the tenant whose data the call may access, a string.
     *   - `user`: the person that the work is done for, a string or an object.
     *   - `todos`: the list of open tasks. Of the predefined keys, effects may change only this one.
     *
     * toolhost does not verify these values: it authorizes calls by the principal, which it derives
     * from the connection or takes from a delegate. Keys that begin with `toolhost.` are reserved: a
     * call with such a key fails with INVALID_ARGUMENT. toolhost itself sets the following keys, so a
     * tool can rely on them:
     *
     *   - `toolhost.principal`: the principal that the call is for, as an object with the members
     *     `key`, `tenant`, `name`, `groups` and, if a delegate made the call, `via`: the delegate's key.
     *   - `toolhost.working_directory`: the absolute path of the workspace of the call, a string.
     *     Missing if there is none.
     *
     * The workspace, the deadline and the trace context reach tools in other fields. Do not put
     * secrets here; use ToolSpec.requires_auth.
     *
     * @generated from field: map<string, bytes> context = 5;
     */
    context: {
        [key: string]: Uint8Array;
    };
    /**
     * The W3C trace context of the caller. Empty means the `traceparent` of the RPC's metadata.
     *
     * @generated from field: string traceparent = 6;
     */
    traceparent: string;
    /**
     * The maximum number of bytes of text and JSON in the result. toolhost stores a longer block as
     * an artifact; the result then contains its beginning, its end, its size and a handle. Unset
     * means the operator's default (4 KiB). 0 shows nothing. Files become artifacts if they are
     * larger than this value or 64 KiB, images if they are larger than 5 MiB. toolhost applies the
     * limit once, for the request that starts the call; requests that join the call receive the same
     * result.
     *
     * @generated from field: optional uint64 max_shown_bytes = 7;
     */
    maxShownBytes?: bigint | undefined;
    /**
     * Whether a stream sends only the outcome, without `started`, statuses and log records. WatchCall
     * still returns all events.
     *
     * @generated from field: bool outcome_only = 8;
     */
    outcomeOnly: boolean;
    /**
     * The `ledger_id` of the toolhost that first received this call, from ListToolsResponse. Set it
     * when you repeat a call id that may have been sent before. A toolhost with another ledger cannot
     * know whether the call was executed: it does not execute it and returns OUTCOME_UNKNOWN. Empty
     * means that any toolhost may execute the call.
     *
     * @generated from field: string ledger_id = 9;
     */
    ledgerId: string;
    /**
     * When the caller first sent the call, or may have sent it. toolhost deletes the records of old
     * calls (`ledger.keep_ids` in toolhost.yaml). If toolhost does not know the id, and this time is
     * before its oldest records, it does not execute the call and returns OUTCOME_UNKNOWN. Unset
     * means now, except for a toolhost whose ledger was restored from a backup. A restored toolhost
     * executes a call with side effects and an unknown id only if this time is after the restore, or
     * if `ledger_id` is the id of the restored ledger.
     *
     * @generated from field: google.protobuf.Timestamp first_sent_time = 10;
     */
    firstSentTime?: Timestamp | undefined;
    /**
     * The principal that the request is for. Unset means the caller itself. See "Delegation" at
     * ToolService.
     *
     * @generated from field: toolhost.tool.v1.Principal on_behalf_of = 11;
     */
    onBehalfOf?: Principal | undefined;
    /**
     * What the caller answers if the tool asks: it watches the events of the call, and calls
     * AnswerQuestion. Unset means that the caller answers nothing, and a tool that asks gets the error
     * UNSUPPORTED. The request that starts the call decides; later requests with the same call id do
     * not change it.
     *
     * @generated from field: toolhost.tool.v1.QuestionKinds answers = 12;
     */
    answers?: QuestionKinds | undefined;
    /**
     * The name of the agent that makes the call, with the rules of call ids. Empty means none. toolhost
     * ignores the name unless the caller has the right `delegate` or `calls.approve` in the tenant of
     * the call. Other callers cannot act under the name of an agent.
     *
     * @generated from field: string agent = 13;
     */
    agent: string;
    /**
     * The id of the run that makes the call, with the rules of call ids. Empty means none. toolhost
     * ignores the id from the same callers as `agent`.
     *
     * @generated from field: string run = 14;
     */
    run: string;
    /**
     * Whether toolhost holds the call if a person has to approve it, and how long this request waits
     * for the verdict. Set, such a call becomes a decision of toolhost.decision.v1.DecisionService. If
     * a person approves it meanwhile, the call is executed. If the time ends first, the request fails
     * with APPROVAL_REQUIRED and Error.decision; 0 asks for that at once. After the approval, the same
     * call passes once, also with another call id: the same principal, session, agent, run, tool, sent
     * and final arguments, definition of the tool and rule, and the same context, as far as the tool
     * gets it or rules read it, within 15 minutes. Unset refuses the call as before. The time limit of the call does not run while it waits; the deadline
     * of the RPC does. A call that its tool previews is held and does not wait. A delegate asks people
     * itself, so toolhost ignores this for its calls.
     *
     * @generated from field: google.protobuf.Duration approval_wait = 15;
     */
    approvalWait?: Duration | undefined;
    /**
     * The ids of earlier calls of the session whose outcomes are unknown, and which this call repeats
     * after a person has decided so. From the begin of this call on, they are not executed any more,
     * also if their tool says later that they did not happen. If one of them has succeeded or is executed
     * again by then, toolhost does not execute this call and returns CONFLICT. Only calls with
     * side effects have it. At most 16 ids, and `call_id` must be set.
     *
     * @generated from field: repeated string supersedes = 16;
     */
    supersedes: string[];
};
/**
 * Describes the message toolhost.v1.CallOptions.
 * Use `create(CallOptionsSchema)` to create a new message.
 */
export declare const CallOptionsSchema: GenMessage<CallOptions>;
/**
 * Approval records that a person approved a call with specific arguments. It applies only to the
 * call that it is sent with. The audit log contains it.
 *
 * A person approves the final arguments: those that the tool receives after filters, repair and
 * defaults. The flow is:
 *
 *  1. toolhost refuses a call with APPROVAL_REQUIRED. The Error carries the final arguments and
 *     their digest.
 *  2. The caller shows the final arguments to a person.
 *  3. The caller repeats the call with the arguments that it sent before, and with the digest in
 *     `arguments_sha256`.
 *  4. toolhost executes exactly the approved arguments, which it has stored. If it no longer has
 *     them, it computes them again. If the digest then differs, it executes nothing and returns
 *     APPROVAL_REQUIRED with the new arguments.
 *
 * toolhost also refuses an approval of other arguments if no rule requires an approval. A rule with
 * the verdict `four_eyes` needs an approver other than the principal that the call is for.
 *
 * @generated from message toolhost.v1.Approval
 */
export type Approval = Message<"toolhost.v1.Approval"> & {
    /**
     * A name for the person, as text. May be empty. The audit log contains it in quotes, beside the
     * principal of the approver, because toolhost cannot verify it.
     *
     * @generated from field: string approved_by = 1;
     */
    approvedBy: string;
    /**
     * The reason, as text. May be empty.
     *
     * @generated from field: string reason = 2;
     */
    reason: string;
    /**
     * When the person approved. Unset means now.
     *
     * @generated from field: google.protobuf.Timestamp time = 3;
     */
    time?: Timestamp | undefined;
    /**
     * The approved final arguments, a JSON object, as an alternative to `arguments_sha256`. If both
     * are set, the digest must be that of these arguments in canonical form. If neither is set, the
     * approval covers the arguments exactly as sent: toolhost refuses the call if filters, repair or
     * defaults change them. On a stream whose first frame is not complete, one of the two must be
     * set.
     *
     * @generated from field: bytes arguments = 4;
     */
    arguments: Uint8Array;
    /**
     * The digest of the approved final arguments, from Error.arguments_sha256: 64 lower-case
     * hexadecimal digits.
     *
     * @generated from field: string arguments_sha256 = 5;
     */
    argumentsSha256: string;
    /**
     * The principal that approved, as a delegate has verified it. toolhost refuses the call with
     * DENIED if the caller is not a delegate. Unset means that the caller approves the call itself,
     * which needs the right `calls.approve`.
     *
     * @generated from field: toolhost.tool.v1.Principal approver = 6;
     */
    approver?: Principal | undefined;
    /**
     * Error.session_move of the answer that requested this approval: the person has read that the
     * files of the session stay behind. Empty means that the approval does not move the session.
     *
     * @generated from field: string session_move = 7;
     */
    sessionMove: string;
};
/**
 * Describes the message toolhost.v1.Approval.
 * Use `create(ApprovalSchema)` to create a new message.
 */
export declare const ApprovalSchema: GenMessage<Approval>;
/**
 * CallRequest is one complete call.
 *
 * @generated from message toolhost.v1.CallRequest
 */
export type CallRequest = Message<"toolhost.v1.CallRequest"> & {
    /**
     * The name of the tool.
     *
     * @generated from field: string tool = 1;
     */
    tool: string;
    /**
     * The arguments, a JSON object. Empty means `{}`.
     *
     * @generated from field: bytes arguments = 2;
     */
    arguments: Uint8Array;
    /**
     * The optional parameters. Unset means the default of each.
     *
     * @generated from field: toolhost.v1.CallOptions options = 3;
     */
    options?: CallOptions | undefined;
};
/**
 * Describes the message toolhost.v1.CallRequest.
 * Use `create(CallRequestSchema)` to create a new message.
 */
export declare const CallRequestSchema: GenMessage<CallRequest>;
/**
 * CallResponse returns the outcome of an executed call.
 *
 * @generated from message toolhost.v1.CallResponse
 */
export type CallResponse = Message<"toolhost.v1.CallResponse"> & {
    /**
     * The id of the call.
     *
     * @generated from field: string call_id = 1;
     */
    callId: string;
    /**
     * The name of the plugin that executed the call.
     *
     * @generated from field: string plugin = 2;
     */
    plugin: string;
    /**
     * The id of the plugin process that executed the call.
     *
     * @generated from field: string instance = 3;
     */
    instance: string;
    /**
     * The result of the tool.
     *
     * @generated from field: toolhost.tool.v1.Result result = 4;
     */
    result?: Result | undefined;
    /**
     * Whether the result is the stored outcome of an earlier request with the same call id.
     *
     * @generated from field: bool replayed = 5;
     */
    replayed: boolean;
};
/**
 * Describes the message toolhost.v1.CallResponse.
 * Use `create(CallResponseSchema)` to create a new message.
 */
export declare const CallResponseSchema: GenMessage<CallResponse>;
/**
 * ReviewCallRequest names a call that is not made yet.
 *
 * @generated from message toolhost.v1.ReviewCallRequest
 */
export type ReviewCallRequest = Message<"toolhost.v1.ReviewCallRequest"> & {
    /**
     * The name of the tool.
     *
     * @generated from field: string tool = 1;
     */
    tool: string;
    /**
     * The arguments, a JSON object. Empty means `{}`.
     *
     * @generated from field: bytes arguments = 2;
     */
    arguments: Uint8Array;
    /**
     * The optional parameters of the call. Unset means the default of each.
     *
     * @generated from field: toolhost.v1.CallOptions options = 3;
     */
    options?: CallOptions | undefined;
};
/**
 * Describes the message toolhost.v1.ReviewCallRequest.
 * Use `create(ReviewCallRequestSchema)` to create a new message.
 */
export declare const ReviewCallRequestSchema: GenMessage<ReviewCallRequest>;
/**
 * ReviewCallResponse says how a call would end unexecuted.
 *
 * @generated from message toolhost.v1.ReviewCallResponse
 */
export type ReviewCallResponse = Message<"toolhost.v1.ReviewCallResponse"> & {
    /**
     * The result for the model with which the call would end, such as one that says which argument does
     * not fit. Unset: the tool would be executed.
     *
     * @generated from field: toolhost.tool.v1.Result result = 1;
     */
    result?: Result | undefined;
};
/**
 * Describes the message toolhost.v1.ReviewCallResponse.
 * Use `create(ReviewCallResponseSchema)` to create a new message.
 */
export declare const ReviewCallResponseSchema: GenMessage<ReviewCallResponse>;
/**
 * StartCall starts a call on a stream.
 *
 * @generated from message toolhost.v1.StartCall
 */
export type StartCall = Message<"toolhost.v1.StartCall"> & {
    /**
     * The name of the tool.
     *
     * @generated from field: string tool = 1;
     */
    tool: string;
    /**
     * JSON text: the whole arguments if `complete` is set, otherwise their beginning.
     *
     * @generated from field: bytes arguments = 2;
     */
    arguments: Uint8Array;
    /**
     * Whether `arguments` is complete.
     *
     * @generated from field: bool complete = 3;
     */
    complete: boolean;
    /**
     * The optional parameters. Unset means the default of each.
     *
     * @generated from field: toolhost.v1.CallOptions options = 4;
     */
    options?: CallOptions | undefined;
};
/**
 * Describes the message toolhost.v1.StartCall.
 * Use `create(StartCallSchema)` to create a new message.
 */
export declare const StartCallSchema: GenMessage<StartCall>;
/**
 * AppendArguments appends to the argument text of a call whose arguments are not complete.
 *
 * @generated from message toolhost.v1.AppendArguments
 */
export type AppendArguments = Message<"toolhost.v1.AppendArguments"> & {
    /**
     * The next piece of the text. It may end anywhere, even inside a UTF-8 sequence.
     *
     * @generated from field: bytes text = 1;
     */
    text: Uint8Array;
};
/**
 * Describes the message toolhost.v1.AppendArguments.
 * Use `create(AppendArgumentsSchema)` to create a new message.
 */
export declare const AppendArgumentsSchema: GenMessage<AppendArguments>;
/**
 * CompleteArguments marks the argument text as complete. toolhost then validates it and executes
 * the call.
 *
 * @generated from message toolhost.v1.CompleteArguments
 */
export type CompleteArguments = Message<"toolhost.v1.CompleteArguments"> & {};
/**
 * Describes the message toolhost.v1.CompleteArguments.
 * Use `create(CompleteArgumentsSchema)` to create a new message.
 */
export declare const CompleteArgumentsSchema: GenMessage<CompleteArguments>;
/**
 * CancelCall requests the cancellation of a call. The call still ends with `ended`.
 *
 * @generated from message toolhost.v1.CancelCall
 */
export type CancelCall = Message<"toolhost.v1.CancelCall"> & {
    /**
     * The reason, as text. May be empty.
     *
     * @generated from field: string reason = 1;
     */
    reason: string;
};
/**
 * Describes the message toolhost.v1.CancelCall.
 * Use `create(CancelCallSchema)` to create a new message.
 */
export declare const CancelCallSchema: GenMessage<CancelCall>;
/**
 * ExecuteRequest is one frame from the caller.
 *
 * @generated from message toolhost.v1.ExecuteRequest
 */
export type ExecuteRequest = Message<"toolhost.v1.ExecuteRequest"> & {
    /**
     * The content of the frame.
     *
     * @generated from oneof toolhost.v1.ExecuteRequest.frame
     */
    frame: {
        /**
         * Starts the call. Must be the first frame, exactly once.
         *
         * @generated from field: toolhost.v1.StartCall start = 1;
         */
        value: StartCall;
        case: "start";
    } | {
        /**
         * Appends argument text.
         *
         * @generated from field: toolhost.v1.AppendArguments append = 2;
         */
        value: AppendArguments;
        case: "append";
    } | {
        /**
         * Completes the arguments.
         *
         * @generated from field: toolhost.v1.CompleteArguments complete = 3;
         */
        value: CompleteArguments;
        case: "complete";
    } | {
        /**
         * Requests cancellation.
         *
         * @generated from field: toolhost.v1.CancelCall cancel = 4;
         */
        value: CancelCall;
        case: "cancel";
    } | {
        case: undefined;
        value?: undefined;
    };
};
/**
 * Describes the message toolhost.v1.ExecuteRequest.
 * Use `create(ExecuteRequestSchema)` to create a new message.
 */
export declare const ExecuteRequestSchema: GenMessage<ExecuteRequest>;
/**
 * ExecuteResponse returns one event of the call.
 *
 * @generated from message toolhost.v1.ExecuteResponse
 */
export type ExecuteResponse = Message<"toolhost.v1.ExecuteResponse"> & {
    /**
     * The event.
     *
     * @generated from field: toolhost.v1.CallEvent event = 1;
     */
    event?: CallEvent | undefined;
};
/**
 * Describes the message toolhost.v1.ExecuteResponse.
 * Use `create(ExecuteResponseSchema)` to create a new message.
 */
export declare const ExecuteResponseSchema: GenMessage<ExecuteResponse>;
/**
 * ConnectRequest is one frame from the caller, for one of its calls.
 *
 * @generated from message toolhost.v1.ConnectRequest
 */
export type ConnectRequest = Message<"toolhost.v1.ConnectRequest"> & {
    /**
     * The number of the call on this stream, chosen by the caller, from 1.
     *
     * @generated from field: uint32 call = 1;
     */
    call: number;
    /**
     * The content of the frame.
     *
     * @generated from oneof toolhost.v1.ConnectRequest.frame
     */
    frame: {
        /**
         * Starts a call.
         *
         * @generated from field: toolhost.v1.StartCall start = 2;
         */
        value: StartCall;
        case: "start";
    } | {
        /**
         * Appends argument text.
         *
         * @generated from field: toolhost.v1.AppendArguments append = 3;
         */
        value: AppendArguments;
        case: "append";
    } | {
        /**
         * Completes the arguments.
         *
         * @generated from field: toolhost.v1.CompleteArguments complete = 4;
         */
        value: CompleteArguments;
        case: "complete";
    } | {
        /**
         * Requests cancellation.
         *
         * @generated from field: toolhost.v1.CancelCall cancel = 5;
         */
        value: CancelCall;
        case: "cancel";
    } | {
        /**
         * Allows toolhost to send more events of the call.
         *
         * @generated from field: toolhost.v1.GrantCredit credit = 6;
         */
        value: GrantCredit;
        case: "credit";
    } | {
        case: undefined;
        value?: undefined;
    };
    /**
     * Frames that follow this one, in order; see Connect. They have no `batch`, `ack_token` or `ack`.
     *
     * @generated from field: repeated toolhost.v1.ConnectRequest batch = 7;
     */
    batch: ConnectRequest[];
    /**
     * A random number that toolhost returns in `ack` after it has read this message; see Connect. 0
     * means that no ack is requested.
     *
     * @generated from field: fixed64 ack_token = 8;
     */
    ackToken: bigint;
    /**
     * The `ack_token` of the last message that the caller has read. 0 means none.
     *
     * @generated from field: fixed64 ack = 9;
     */
    ack: bigint;
};
/**
 * Describes the message toolhost.v1.ConnectRequest.
 * Use `create(ConnectRequestSchema)` to create a new message.
 */
export declare const ConnectRequestSchema: GenMessage<ConnectRequest>;
/**
 * GrantCredit allows toolhost to send more events of one call, so that a call whose events are not
 * read does not block the others. Each event except `ended` costs its encoded size in bytes. A call
 * starts with a credit of 256 KiB. toolhost sends an event only if the credit is positive; the
 * event may make it negative.
 *
 * @generated from message toolhost.v1.GrantCredit
 */
export type GrantCredit = Message<"toolhost.v1.GrantCredit"> & {
    /**
     * The number of bytes to add to the credit.
     *
     * @generated from field: uint32 bytes = 1;
     */
    bytes: number;
};
/**
 * Describes the message toolhost.v1.GrantCredit.
 * Use `create(GrantCreditSchema)` to create a new message.
 */
export declare const GrantCreditSchema: GenMessage<GrantCredit>;
/**
 * ConnectResponse is one event of one of the caller's calls.
 *
 * @generated from message toolhost.v1.ConnectResponse
 */
export type ConnectResponse = Message<"toolhost.v1.ConnectResponse"> & {
    /**
     * The number of the call on this stream, as the caller chose it.
     *
     * @generated from field: uint32 call = 1;
     */
    call: number;
    /**
     * The event.
     *
     * @generated from field: toolhost.v1.CallEvent event = 2;
     */
    event?: CallEvent | undefined;
    /**
     * Frames that follow this one, in order; see Connect. They have no `batch`, `ack_token` or `ack`.
     *
     * @generated from field: repeated toolhost.v1.ConnectResponse batch = 3;
     */
    batch: ConnectResponse[];
    /**
     * A random number that the caller returns in `ack` after it has read this message; see Connect. 0
     * means that no ack is requested.
     *
     * @generated from field: fixed64 ack_token = 4;
     */
    ackToken: bigint;
    /**
     * The `ack_token` of the last message that toolhost has read. 0 means none.
     *
     * @generated from field: fixed64 ack = 5;
     */
    ack: bigint;
};
/**
 * Describes the message toolhost.v1.ConnectResponse.
 * Use `create(ConnectResponseSchema)` to create a new message.
 */
export declare const ConnectResponseSchema: GenMessage<ConnectResponse>;
/**
 * CallEvent is an event of a call. The first event is `started`, unless the call failed before it
 * started. The last event is `ended`, which occurs exactly once.
 *
 * @generated from message toolhost.v1.CallEvent
 */
export type CallEvent = Message<"toolhost.v1.CallEvent"> & {
    /**
     * The sequence number of the event within the call, from 1.
     *
     * @generated from field: uint64 seq = 1;
     */
    seq: bigint;
    /**
     * When the event occurred.
     *
     * @generated from field: google.protobuf.Timestamp time = 2;
     */
    time?: Timestamp | undefined;
    /**
     * The content of the event.
     *
     * @generated from oneof toolhost.v1.CallEvent.event
     */
    event: {
        /**
         * A plugin process has received the call.
         *
         * @generated from field: toolhost.v1.CallStarted started = 3;
         */
        value: CallStarted;
        case: "started";
    } | {
        /**
         * A status for people.
         *
         * @generated from field: toolhost.tool.v1.Status status = 4;
         */
        value: Status;
        case: "status";
    } | {
        /**
         * A record of the tool's log.
         *
         * @generated from field: toolhost.tool.v1.LogRecord log = 5;
         */
        value: LogRecord;
        case: "log";
    } | {
        /**
         * A part of a large result.
         *
         * @generated from field: toolhost.v1.ContentChunk chunk = 6;
         */
        value: ContentChunk;
        case: "chunk";
    } | {
        /**
         * The outcome.
         *
         * @generated from field: toolhost.v1.CallEnded ended = 7;
         */
        value: CallEnded;
        case: "ended";
    } | {
        /**
         * A question of the tool.
         *
         * @generated from field: toolhost.v1.CallQuestion question = 8;
         */
        value: CallQuestion;
        case: "question";
    } | {
        /**
         * The end of a question.
         *
         * @generated from field: toolhost.v1.QuestionClosed question_closed = 9;
         */
        value: QuestionClosed;
        case: "questionClosed";
    } | {
        case: undefined;
        value?: undefined;
    };
};
/**
 * Describes the message toolhost.v1.CallEvent.
 * Use `create(CallEventSchema)` to create a new message.
 */
export declare const CallEventSchema: GenMessage<CallEvent>;
/**
 * CallStarted says which plugin process executes a call.
 *
 * @generated from message toolhost.v1.CallStarted
 */
export type CallStarted = Message<"toolhost.v1.CallStarted"> & {
    /**
     * The id of the call.
     *
     * @generated from field: string call_id = 1;
     */
    callId: string;
    /**
     * The name of the plugin.
     *
     * @generated from field: string plugin = 2;
     */
    plugin: string;
    /**
     * The id of the plugin process.
     *
     * @generated from field: string instance = 3;
     */
    instance: string;
    /**
     * The number of the attempt, from 1.
     *
     * @generated from field: uint32 attempt = 4;
     */
    attempt: number;
    /**
     * What the operator permits the plugin to ask. Unset means nothing. A kind that is not in CallOptions.answers is
     * refused if the tool asks it, with the error UNSUPPORTED.
     *
     * @generated from field: toolhost.tool.v1.QuestionKinds asks = 5;
     */
    asks?: QuestionKinds | undefined;
};
/**
 * Describes the message toolhost.v1.CallStarted.
 * Use `create(CallStartedSchema)` to create a new message.
 */
export declare const CallStartedSchema: GenMessage<CallStarted>;
/**
 * CallQuestion is a question that the tool of a call asks. It is open until its QuestionClosed or the
 * end of the call. The text is that of the plugin: show the name of the plugin with it, and escape
 * control characters.
 *
 * @generated from message toolhost.v1.CallQuestion
 */
export type CallQuestion = Message<"toolhost.v1.CallQuestion"> & {
    /**
     * The id of the question within the call, from 1.
     *
     * @generated from field: uint32 id = 1;
     */
    id: number;
    /**
     * The id of the call, for AnswerQuestion.
     *
     * @generated from field: string call_id = 2;
     */
    callId: string;
    /**
     * The name of the plugin that asks.
     *
     * @generated from field: string plugin = 3;
     */
    plugin: string;
    /**
     * The name of the tool that asks.
     *
     * @generated from field: string tool = 4;
     */
    tool: string;
    /**
     * When toolhost closes the question if no answer has come.
     *
     * @generated from field: google.protobuf.Timestamp expire_time = 5;
     */
    expireTime?: Timestamp | undefined;
    /**
     * The question. Exactly one is set.
     *
     * @generated from oneof toolhost.v1.CallQuestion.question
     */
    question: {
        /**
         * For a person.
         *
         * @generated from field: toolhost.tool.v1.PersonQuestion person = 6;
         */
        value: PersonQuestion;
        case: "person";
    } | {
        /**
         * For a model.
         *
         * @generated from field: toolhost.tool.v1.ModelQuestion model = 7;
         */
        value: ModelQuestion;
        case: "model";
    } | {
        /**
         * For the folders of the caller.
         *
         * @generated from field: toolhost.tool.v1.RootsQuestion roots = 8;
         */
        value: RootsQuestion;
        case: "roots";
    } | {
        case: undefined;
        value?: undefined;
    };
    /**
     * The name that the tool gave to the question, unique among the questions of one round. Only MCP
     * servers name their questions. May be empty.
     *
     * @generated from field: string key = 9;
     */
    key: string;
};
/**
 * Describes the message toolhost.v1.CallQuestion.
 * Use `create(CallQuestionSchema)` to create a new message.
 */
export declare const CallQuestionSchema: GenMessage<CallQuestion>;
/**
 * QuestionClosed says that a question takes no answer any more.
 *
 * @generated from message toolhost.v1.QuestionClosed
 */
export type QuestionClosed = Message<"toolhost.v1.QuestionClosed"> & {
    /**
     * The `id` of the question.
     *
     * @generated from field: uint32 question = 1;
     */
    question: number;
    /**
     * Why it closed.
     *
     * @generated from field: toolhost.v1.QuestionEnd reason = 2;
     */
    reason: QuestionEnd;
};
/**
 * Describes the message toolhost.v1.QuestionClosed.
 * Use `create(QuestionClosedSchema)` to create a new message.
 */
export declare const QuestionClosedSchema: GenMessage<QuestionClosed>;
/**
 * ContentChunk is a part of one content block of the result that follows in `ended`. The payload of
 * a block is the data of all its chunks, in order, followed by the payload of the block in `ended`.
 *
 * @generated from message toolhost.v1.ContentChunk
 */
export type ContentChunk = Message<"toolhost.v1.ContentChunk"> & {
    /**
     * The index of the block in Result.content.
     *
     * @generated from field: uint32 index = 1;
     */
    index: number;
    /**
     * At most 64 KiB.
     *
     * @generated from field: bytes data = 2;
     */
    data: Uint8Array;
};
/**
 * Describes the message toolhost.v1.ContentChunk.
 * Use `create(ContentChunkSchema)` to create a new message.
 */
export declare const ContentChunkSchema: GenMessage<ContentChunk>;
/**
 * CallEnded is the outcome of a call.
 *
 * @generated from message toolhost.v1.CallEnded
 */
export type CallEnded = Message<"toolhost.v1.CallEnded"> & {
    /**
     * The id of the call.
     *
     * @generated from field: string call_id = 1;
     */
    callId: string;
    /**
     * The name of the plugin. Empty if the call did not reach a plugin.
     *
     * @generated from field: string plugin = 2;
     */
    plugin: string;
    /**
     * The id of the plugin process. Empty if the call did not reach a process.
     *
     * @generated from field: string instance = 3;
     */
    instance: string;
    /**
     * The outcome. Exactly one is set.
     *
     * @generated from oneof toolhost.v1.CallEnded.outcome
     */
    outcome: {
        /**
         * The result of the tool.
         *
         * @generated from field: toolhost.tool.v1.Result result = 4;
         */
        value: Result;
        case: "result";
    } | {
        /**
         * The infrastructure failure.
         *
         * @generated from field: toolhost.tool.v1.Error error = 5;
         */
        value: Error;
        case: "error";
    } | {
        case: undefined;
        value?: undefined;
    };
    /**
     * Whether the outcome is the stored outcome of an earlier request with the same call id.
     *
     * @generated from field: bool replayed = 6;
     */
    replayed: boolean;
    /**
     * What the tool said about an earlier execution of the call with an unknown outcome. Unset if the tool
     * was not asked.
     *
     * @generated from field: toolhost.v1.Settled settled = 7;
     */
    settled?: Settled | undefined;
};
/**
 * Describes the message toolhost.v1.CallEnded.
 * Use `create(CallEndedSchema)` to create a new message.
 */
export declare const CallEndedSchema: GenMessage<CallEnded>;
/**
 * ToolFormat is a format in which tools are passed to a model.
 *
 * @generated from enum toolhost.v1.ToolFormat
 */
export declare enum ToolFormat {
    /**
     * Not set. RenderTools fails with INVALID_ARGUMENT.
     *
     * @generated from enum value: TOOL_FORMAT_UNSPECIFIED = 0;
     */
    UNSPECIFIED = 0,
    /**
     * The value of `tools` in a request of OpenAI's Chat Completions API.
     *
     * @generated from enum value: TOOL_FORMAT_OPENAI = 1;
     */
    OPENAI = 1,
    /**
     * The value of `tools` in a request of OpenAI's Responses API.
     *
     * @generated from enum value: TOOL_FORMAT_OPENAI_RESPONSES = 2;
     */
    OPENAI_RESPONSES = 2,
    /**
     * The value of `tools` in a request of Anthropic's Messages API.
     *
     * @generated from enum value: TOOL_FORMAT_ANTHROPIC = 3;
     */
    ANTHROPIC = 3,
    /**
     * The result of `tools/list` of the Model Context Protocol.
     *
     * @generated from enum value: TOOL_FORMAT_MCP = 4;
     */
    MCP = 4,
    /**
     * Markdown text for a prompt.
     *
     * @generated from enum value: TOOL_FORMAT_MARKDOWN = 5;
     */
    MARKDOWN = 5,
    /**
     * The value of `tools` in a request of the Gemini API.
     *
     * @generated from enum value: TOOL_FORMAT_GEMINI = 6;
     */
    GEMINI = 6
}
/**
 * Describes the enum toolhost.v1.ToolFormat.
 */
export declare const ToolFormatSchema: GenEnum<ToolFormat>;
/**
 * QuestionEnd says why a question closed.
 *
 * @generated from enum toolhost.v1.QuestionEnd
 */
export declare enum QuestionEnd {
    /**
     * Not set.
     *
     * @generated from enum value: QUESTION_END_UNSPECIFIED = 0;
     */
    UNSPECIFIED = 0,
    /**
     * The caller answered it.
     *
     * @generated from enum value: QUESTION_END_ANSWERED = 1;
     */
    ANSWERED = 1,
    /**
     * No answer came in time.
     *
     * @generated from enum value: QUESTION_END_EXPIRED = 2;
     */
    EXPIRED = 2,
    /**
     * The call ended, was canceled, or lost its plugin.
     *
     * @generated from enum value: QUESTION_END_ABANDONED = 3;
     */
    ABANDONED = 3
}
/**
 * Describes the enum toolhost.v1.QuestionEnd.
 */
export declare const QuestionEndSchema: GenEnum<QuestionEnd>;
/**
 * ToolService lists and calls tools.
 *
 * Call ids. The caller may choose the id of a call. toolhost executes a call id at most once within
 * one principal and session. A second request with the same id, tool and arguments joins the
 * running call or returns its stored outcome. A request with the same id and another tool or other
 * arguments fails with CONFLICT.
 *
 * Errors. An infrastructure failure is a toolhost.tool.v1.Error: unary RPCs return it as a detail
 * of the gRPC status, streams in the event `ended`. A failure that the tool reports is a Result
 * with `is_error`.
 *
 * Delegation. A principal with the right `delegate`, such as agentd, may act for others: it sets
 * `on_behalf_of`. What the request creates then belongs to that principal, and the caller is its
 * delegate. toolhost refuses the field with DENIED if the caller does not have the right in the
 * tenant of that principal. Policy, filters, tools and the audit log see both principals.
 *
 * @generated from service toolhost.v1.ToolService
 */
export declare const ToolService: GenService<{
    /**
     * ListTools lists tools, ordered by name, in pages.
     *
     * @generated from rpc toolhost.v1.ToolService.ListTools
     */
    listTools: {
        methodKind: "unary";
        input: typeof ListToolsRequestSchema;
        output: typeof ListToolsResponseSchema;
    };
    /**
     * GetTool returns one tool. Errors: NOT_FOUND.
     *
     * @generated from rpc toolhost.v1.ToolService.GetTool
     */
    getTool: {
        methodKind: "unary";
        input: typeof GetToolRequestSchema;
        output: typeof GetToolResponseSchema;
    };
    /**
     * Call executes one call and returns its outcome. If the caller cancels the RPC, toolhost cancels
     * the call, unless the request has a call id. A call with an id continues; a later request with
     * the same id returns its outcome.
     *
     * @generated from rpc toolhost.v1.ToolService.Call
     */
    call: {
        methodKind: "unary";
        input: typeof CallRequestSchema;
        output: typeof CallResponseSchema;
    };
    /**
     * ReviewCall decides about a call as Call does, and executes nothing. A caller that has to wait
     * before it makes a call can thus ask a person at once. Filters, repairs and defaults make the final
     * arguments, and the policy decides on them. The answer says how the call would end unexecuted. It
     * does not fail for a call that would be executed now. The decision can be another one when the call
     * is made, because toolhost decides again. Errors: APPROVAL_REQUIRED with the final arguments and
     * their digest, which an approval of the call can name; otherwise those of Call.
     *
     * @generated from rpc toolhost.v1.ToolService.ReviewCall
     */
    reviewCall: {
        methodKind: "unary";
        input: typeof ReviewCallRequestSchema;
        output: typeof ReviewCallResponseSchema;
    };
    /**
     * SearchTools finds tools by words and returns the best matches first. Use it if there are too
     * many tools to show all of them to a model.
     *
     * @generated from rpc toolhost.v1.ToolService.SearchTools
     */
    searchTools: {
        methodKind: "unary";
        input: typeof SearchToolsRequestSchema;
        output: typeof SearchToolsResponseSchema;
    };
    /**
     * RenderTools returns tools in the format of a model provider's API or as text for a prompt. It
     * leaves out tools that are unavailable, and tools for which the API would reject the whole
     * request.
     *
     * @generated from rpc toolhost.v1.ToolService.RenderTools
     */
    renderTools: {
        methodKind: "unary";
        input: typeof RenderToolsRequestSchema;
        output: typeof RenderToolsResponseSchema;
    };
    /**
     * Execute executes one call and streams its events. The arguments may arrive in pieces: the
     * caller sends `start`, any number of `append`, then `complete`. If `start` is complete, nothing
     * else is needed. `cancel` is allowed at any time. The last event is `ended`. If the caller
     * half-closes the stream before the arguments are complete, toolhost abandons the call without
     * executing it.
     *
     * @generated from rpc toolhost.v1.ToolService.Execute
     */
    execute: {
        methodKind: "bidi_streaming";
        input: typeof ExecuteRequestSchema;
        output: typeof ExecuteResponseSchema;
    };
    /**
     * WatchCall streams the events of an existing call: first the past events after `after_seq`, then
     * new ones, until `ended`. Watching does not start a call and does not keep it running. Ending
     * the watch does not cancel the call. Errors: NOT_FOUND if the call does not exist or toolhost
     * has deleted its record.
     *
     * @generated from rpc toolhost.v1.ToolService.WatchCall
     */
    watchCall: {
        methodKind: "server_streaming";
        input: typeof WatchCallRequestSchema;
        output: typeof WatchCallResponseSchema;
    };
    /**
     * CancelCall requests the cancellation of a call and returns at once. The call ends with the
     * event `ended`, at the latest when the grace period of its tool is over. A call that has already
     * ended does not change. Errors: NOT_FOUND.
     *
     * @generated from rpc toolhost.v1.ToolService.CancelCall
     */
    cancelCall: {
        methodKind: "unary";
        input: typeof CancelCallRequestSchema;
        output: typeof CancelCallResponseSchema;
    };
    /**
     * AnswerQuestion answers a question that the tool of a call has asked, and returns when the answer
     * is on its way to the plugin. The first answer counts. Errors: NOT_FOUND if the call does not
     * exist or the question is not open any more; INVALID_ARGUMENT if the answer does not fit the
     * question, which stays open.
     *
     * @generated from rpc toolhost.v1.ToolService.AnswerQuestion
     */
    answerQuestion: {
        methodKind: "unary";
        input: typeof AnswerQuestionRequestSchema;
        output: typeof AnswerQuestionResponseSchema;
    };
    /**
     * ReadArtifact returns a part of an artifact. Only the principal and session of the call that
     * created an artifact can read it. Errors: NOT_FOUND, also if the artifact has expired.
     *
     * @generated from rpc toolhost.v1.ToolService.ReadArtifact
     */
    readArtifact: {
        methodKind: "unary";
        input: typeof ReadArtifactRequestSchema;
        output: typeof ReadArtifactResponseSchema;
    };
    /**
     * ListResources lists the resources of plugins, ordered by plugin and URI, in pages. A plugin that
     * fails does not keep the others from being listed.
     *
     * @generated from rpc toolhost.v1.ToolService.ListResources
     */
    listResources: {
        methodKind: "unary";
        input: typeof ListResourcesRequestSchema;
        output: typeof ListResourcesResponseSchema;
    };
    /**
     * ListResourceTemplates lists the templates of resources, ordered by plugin and template, in pages.
     *
     * @generated from rpc toolhost.v1.ToolService.ListResourceTemplates
     */
    listResourceTemplates: {
        methodKind: "unary";
        input: typeof ListResourceTemplatesRequestSchema;
        output: typeof ListResourceTemplatesResponseSchema;
    };
    /**
     * ReadResource returns the content of a resource. The operator's rules see it as the call of a
     * read-only tool PLUGIN:resources with the argument `uri`. Errors: NOT_FOUND; INVALID_ARGUMENT, also
     * if several plugins offer the URI; DENIED by a rule, also by one that requires an approval.
     *
     * @generated from rpc toolhost.v1.ToolService.ReadResource
     */
    readResource: {
        methodKind: "unary";
        input: typeof ReadResourceRequestSchema;
        output: typeof ReadResourceResponseSchema;
    };
    /**
     * ListPrompts lists the prompts of plugins, ordered by plugin and name, in pages.
     *
     * @generated from rpc toolhost.v1.ToolService.ListPrompts
     */
    listPrompts: {
        methodKind: "unary";
        input: typeof ListPromptsRequestSchema;
        output: typeof ListPromptsResponseSchema;
    };
    /**
     * GetPrompt returns a prompt with its arguments filled in. The operator's rules see it as the call
     * of a read-only tool PLUGIN:prompts with the arguments `name` and `arguments`. Errors: those of
     * ReadResource.
     *
     * @generated from rpc toolhost.v1.ToolService.GetPrompt
     */
    getPrompt: {
        methodKind: "unary";
        input: typeof GetPromptRequestSchema;
        output: typeof GetPromptResponseSchema;
    };
    /**
     * CompleteArgument returns values of an argument of a prompt or a template. A plugin that completes
     * nothing returns none. Errors: those of ReadResource.
     *
     * @generated from rpc toolhost.v1.ToolService.CompleteArgument
     */
    completeArgument: {
        methodKind: "unary";
        input: typeof CompleteArgumentRequestSchema;
        output: typeof CompleteArgumentResponseSchema;
    };
    /**
     * WatchResources streams notices of changes: of the lists of plugins with a running instance, and
     * of single resources. It ends with the caller, or when toolhost ends. Errors: those of
     * ReadResource, for a resource that cannot be watched.
     *
     * @generated from rpc toolhost.v1.ToolService.WatchResources
     */
    watchResources: {
        methodKind: "server_streaming";
        input: typeof WatchResourcesRequestSchema;
        output: typeof WatchResourcesResponseSchema;
    };
    /**
     * Connect carries many calls on one stream. Its frames are those of Execute, each with a number
     * that the caller chooses for the call. The caller may reuse a number after the call's `ended`.
     *
     * Acceptance. toolhost sends its response headers before it reads a frame. A stream that it
     * rejects ends without them. So a caller that waits for the headers before its first frame knows
     * that a rejected stream has executed nothing.
     *
     * Batches. Several frames may travel in one message: the first frame carries the others in
     * `batch`. This costs less than one message per frame. A side sends batches only if the other
     * side has announced that it reads them: the caller in the request metadata `toolhost-batch: 1`,
     * toolhost in the same response header. Announcing is optional, and a side that announced it must
     * still accept single frames.
     *
     * Acks. A side may put a random number into `ack_token`; the other side returns it in `ack` of a
     * later message. The ack shows that the other side reads the stream, which lets the sender write
     * without an intermediate queue. Tokens are random so that a peer cannot acknowledge a message
     * that it has not read. Both fields are optional.
     *
     * @generated from rpc toolhost.v1.ToolService.Connect
     */
    connect: {
        methodKind: "bidi_streaming";
        input: typeof ConnectRequestSchema;
        output: typeof ConnectResponseSchema;
    };
    /**
     * GetVersion returns the version, the commit and the contracts of the running toolhost.
     *
     * @generated from rpc toolhost.v1.ToolService.GetVersion
     */
    getVersion: {
        methodKind: "unary";
        input: typeof GetVersionRequestSchema;
        output: typeof GetVersionResponseSchema;
    };
    /**
     * WhoAmI returns how toolhost identified the caller, and what the caller may do. Every caller that
     * toolhost has identified may ask.
     *
     * @generated from rpc toolhost.v1.ToolService.WhoAmI
     */
    whoAmI: {
        methodKind: "unary";
        input: typeof WhoAmIRequestSchema;
        output: typeof WhoAmIResponseSchema;
    };
}>;
