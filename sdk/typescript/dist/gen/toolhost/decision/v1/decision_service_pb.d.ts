import type { GenEnum, GenFile, GenMessage, GenService } from "@bufbuild/protobuf/codegenv2";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { Principal } from "../../tool/v1/principal_pb.js";
import type { Message } from "@bufbuild/protobuf";
/**
 * Describes the file toolhost/decision/v1/decision_service.proto.
 */
export declare const file_toolhost_decision_v1_decision_service: GenFile;
/**
 * ListDecisionsRequest selects a page of decisions.
 *
 * @generated from message toolhost.decision.v1.ListDecisionsRequest
 */
export type ListDecisionsRequest = Message<"toolhost.decision.v1.ListDecisionsRequest"> & {
    /**
     * The number of decisions after which the page ends. 0 means 50. Values over 500 mean 500. Must not
     * be negative. A page ends with the last decision of a run, and at agentd it can have 30 held calls
     * besides, so it can have more. It can have fewer, or none, although more pages follow.
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
     * Matches the runs and calls of these tenants. Empty means all tenants whose decisions the caller
     * may see. The decisions of other tenants are left out.
     *
     * @generated from field: repeated string tenants = 3;
     */
    tenants: string[];
    /**
     * The principal that the request is for, if not the caller. Only toolhost takes it, of a caller
     * with the right `delegate` in the tenants of the principal and of the decisions. What the
     * principal may do decides.
     *
     * @generated from field: toolhost.tool.v1.Principal on_behalf_of = 4;
     */
    onBehalfOf?: Principal | undefined;
};
/**
 * Describes the message toolhost.decision.v1.ListDecisionsRequest.
 * Use `create(ListDecisionsRequestSchema)` to create a new message.
 */
export declare const ListDecisionsRequestSchema: GenMessage<ListDecisionsRequest>;
/**
 * ListDecisionsResponse is one page of decisions.
 *
 * @generated from message toolhost.decision.v1.ListDecisionsResponse
 */
export type ListDecisionsResponse = Message<"toolhost.decision.v1.ListDecisionsResponse"> & {
    /**
     * The decisions. Arguments, reasons and options have at most 4 KiB.
     *
     * @generated from field: repeated toolhost.decision.v1.Decision decisions = 1;
     */
    decisions: Decision[];
    /**
     * The token of the next page. Empty means that this is the last page.
     *
     * @generated from field: string next_page_token = 2;
     */
    nextPageToken: string;
    /**
     * Why decisions are missing that a source has, one text for each: agentd lists what runs wait for
     * also while its toolhost does not answer. Empty means that all sources have answered.
     *
     * @generated from field: repeated string unavailable = 3;
     */
    unavailable: string[];
    /**
     * The WatchDecisionsRequest.position of a watch of the same caller and tenants that goes on after
     * this page: it sends what changes, and not what waits already. Set on the first page.
     *
     * @generated from field: string position = 4;
     */
    position: string;
};
/**
 * Describes the message toolhost.decision.v1.ListDecisionsResponse.
 * Use `create(ListDecisionsResponseSchema)` to create a new message.
 */
export declare const ListDecisionsResponseSchema: GenMessage<ListDecisionsResponse>;
/**
 * ListMadeDecisionsRequest selects a page of decisions that the caller has made.
 *
 * @generated from message toolhost.decision.v1.ListMadeDecisionsRequest
 */
export type ListMadeDecisionsRequest = Message<"toolhost.decision.v1.ListMadeDecisionsRequest"> & {
    /**
     * The largest number of decisions of the page. 0 means 50. Values over 100 mean 100. Must not be
     * negative. A page can have fewer, or none, although more pages follow.
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
};
/**
 * Describes the message toolhost.decision.v1.ListMadeDecisionsRequest.
 * Use `create(ListMadeDecisionsRequestSchema)` to create a new message.
 */
export declare const ListMadeDecisionsRequestSchema: GenMessage<ListMadeDecisionsRequest>;
/**
 * ListMadeDecisionsResponse is one page of decisions.
 *
 * @generated from message toolhost.decision.v1.ListMadeDecisionsResponse
 */
export type ListMadeDecisionsResponse = Message<"toolhost.decision.v1.ListMadeDecisionsResponse"> & {
    /**
     * The decisions. Arguments, reasons, options and texts have at most 4 KiB.
     *
     * @generated from field: repeated toolhost.decision.v1.Decision decisions = 1;
     */
    decisions: Decision[];
    /**
     * The token of the next page. Empty means that this is the last page.
     *
     * @generated from field: string next_page_token = 2;
     */
    nextPageToken: string;
};
/**
 * Describes the message toolhost.decision.v1.ListMadeDecisionsResponse.
 * Use `create(ListMadeDecisionsResponseSchema)` to create a new message.
 */
export declare const ListMadeDecisionsResponseSchema: GenMessage<ListMadeDecisionsResponse>;
/**
 * GetDecisionRequest names a decision.
 *
 * @generated from message toolhost.decision.v1.GetDecisionRequest
 */
export type GetDecisionRequest = Message<"toolhost.decision.v1.GetDecisionRequest"> & {
    /**
     * The name of the decision. Required.
     *
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * The principal that the request is for; see ListDecisionsRequest.
     *
     * @generated from field: toolhost.tool.v1.Principal on_behalf_of = 2;
     */
    onBehalfOf?: Principal | undefined;
};
/**
 * Describes the message toolhost.decision.v1.GetDecisionRequest.
 * Use `create(GetDecisionRequestSchema)` to create a new message.
 */
export declare const GetDecisionRequestSchema: GenMessage<GetDecisionRequest>;
/**
 * GetDecisionResponse has the decision.
 *
 * @generated from message toolhost.decision.v1.GetDecisionResponse
 */
export type GetDecisionResponse = Message<"toolhost.decision.v1.GetDecisionResponse"> & {
    /**
     * The decision.
     *
     * @generated from field: toolhost.decision.v1.Decision decision = 1;
     */
    decision?: Decision | undefined;
};
/**
 * Describes the message toolhost.decision.v1.GetDecisionResponse.
 * Use `create(GetDecisionResponseSchema)` to create a new message.
 */
export declare const GetDecisionResponseSchema: GenMessage<GetDecisionResponse>;
/**
 * WatchDecisionsRequest selects the decisions to watch.
 *
 * @generated from message toolhost.decision.v1.WatchDecisionsRequest
 */
export type WatchDecisionsRequest = Message<"toolhost.decision.v1.WatchDecisionsRequest"> & {
    /**
     * As in ListDecisionsRequest.
     *
     * @generated from field: repeated string tenants = 1;
     */
    tenants: string[];
    /**
     * The position of a message or a first page after which the stream goes on. Empty means the present state. A
     * position that the server does not know any more means that, too: the first message has `restart`.
     *
     * @generated from field: string position = 2;
     */
    position: string;
    /**
     * The principal that the request is for; see ListDecisionsRequest.
     *
     * @generated from field: toolhost.tool.v1.Principal on_behalf_of = 3;
     */
    onBehalfOf?: Principal | undefined;
};
/**
 * Describes the message toolhost.decision.v1.WatchDecisionsRequest.
 * Use `create(WatchDecisionsRequestSchema)` to create a new message.
 */
export declare const WatchDecisionsRequestSchema: GenMessage<WatchDecisionsRequest>;
/**
 * WatchDecisionsResponse is what one source waits for now.
 *
 * @generated from message toolhost.decision.v1.WatchDecisionsResponse
 */
export type WatchDecisionsResponse = Message<"toolhost.decision.v1.WatchDecisionsResponse"> & {
    /**
     * Whether the client forgets all that it knows before it applies this message.
     *
     * @generated from field: bool restart = 1;
     */
    restart: boolean;
    /**
     * The run, or the name of the held call, whose decisions these are. Empty: the message has none.
     *
     * @generated from field: string source = 2;
     */
    source: string;
    /**
     * All decisions that the source waits for, as ListDecisions has them, and instead of those that the
     * client knows. Empty means that it waits for none.
     *
     * @generated from field: repeated toolhost.decision.v1.Decision decisions = 3;
     */
    decisions: Decision[];
    /**
     * Whether the client knows the whole state after this message.
     *
     * @generated from field: bool complete = 4;
     */
    complete: boolean;
    /**
     * The position to go on after this message. Empty until the state is complete.
     *
     * @generated from field: string position = 5;
     */
    position: string;
    /**
     * Why decisions are missing that a source has; see ListDecisionsResponse. Each message with
     * `complete` replaces it.
     *
     * @generated from field: repeated string unavailable = 6;
     */
    unavailable: string[];
};
/**
 * Describes the message toolhost.decision.v1.WatchDecisionsResponse.
 * Use `create(WatchDecisionsResponseSchema)` to create a new message.
 */
export declare const WatchDecisionsResponseSchema: GenMessage<WatchDecisionsResponse>;
/**
 * DecideRequest makes a decision.
 *
 * @generated from message toolhost.decision.v1.DecideRequest
 */
export type DecideRequest = Message<"toolhost.decision.v1.DecideRequest"> & {
    /**
     * The name of the decision. Required.
     *
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * Decision.etag of what the person has seen. Required.
     *
     * @generated from field: string etag = 2;
     */
    etag: string;
    /**
     * The verdict: APPROVE, REJECT or ANSWER. It must fit the kind of the decision; see DecisionKind.
     *
     * @generated from field: toolhost.decision.v1.Verdict verdict = 3;
     */
    verdict: Verdict;
    /**
     * The reason for approving or rejecting, which may be empty, or the answer.
     *
     * @generated from field: string text = 4;
     */
    text: string;
    /**
     * Approves the call with other arguments than those that were shown: a JSON object that fits
     * Decision.schema. Empty means the arguments that were shown. toolhost refuses it for the calls
     * that it holds: their caller sent them.
     *
     * @generated from field: bytes arguments = 5;
     */
    arguments: Uint8Array;
    /**
     * What identifies this verdict, with the rules of call ids. If the decision was made by a request
     * of the same principal with this id and the same verdict, Decide returns it again. Empty means
     * that a repeated request gets CONFLICT.
     *
     * @generated from field: string request_id = 6;
     */
    requestId: string;
    /**
     * A name for the person who decides, as text. May be empty. It is recorded beside the principal of
     * the caller, because nobody verifies it.
     *
     * @generated from field: string decided_by_name = 7;
     */
    decidedByName: string;
    /**
     * The principal that decides, if not the caller; see ListDecisionsRequest.
     *
     * @generated from field: toolhost.tool.v1.Principal on_behalf_of = 8;
     */
    onBehalfOf?: Principal | undefined;
};
/**
 * Describes the message toolhost.decision.v1.DecideRequest.
 * Use `create(DecideRequestSchema)` to create a new message.
 */
export declare const DecideRequestSchema: GenMessage<DecideRequest>;
/**
 * DecideResponse has the decision as it was made.
 *
 * @generated from message toolhost.decision.v1.DecideResponse
 */
export type DecideResponse = Message<"toolhost.decision.v1.DecideResponse"> & {
    /**
     * The decision.
     *
     * @generated from field: toolhost.decision.v1.Decision decision = 1;
     */
    decision?: Decision | undefined;
};
/**
 * Describes the message toolhost.decision.v1.DecideResponse.
 * Use `create(DecideResponseSchema)` to create a new message.
 */
export declare const DecideResponseSchema: GenMessage<DecideResponse>;
/**
 * ExtendDecisionRequest moves the end of a decision.
 *
 * @generated from message toolhost.decision.v1.ExtendDecisionRequest
 */
export type ExtendDecisionRequest = Message<"toolhost.decision.v1.ExtendDecisionRequest"> & {
    /**
     * The name of the decision. Required.
     *
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * When the decision shall count as rejected. Required.
     *
     * @generated from field: google.protobuf.Timestamp expire_time = 2;
     */
    expireTime?: Timestamp | undefined;
    /**
     * The principal that extends, if not the caller; see ListDecisionsRequest.
     *
     * @generated from field: toolhost.tool.v1.Principal on_behalf_of = 3;
     */
    onBehalfOf?: Principal | undefined;
};
/**
 * Describes the message toolhost.decision.v1.ExtendDecisionRequest.
 * Use `create(ExtendDecisionRequestSchema)` to create a new message.
 */
export declare const ExtendDecisionRequestSchema: GenMessage<ExtendDecisionRequest>;
/**
 * ExtendDecisionResponse has the decision as it waits now.
 *
 * @generated from message toolhost.decision.v1.ExtendDecisionResponse
 */
export type ExtendDecisionResponse = Message<"toolhost.decision.v1.ExtendDecisionResponse"> & {
    /**
     * The decision.
     *
     * @generated from field: toolhost.decision.v1.Decision decision = 1;
     */
    decision?: Decision | undefined;
};
/**
 * Describes the message toolhost.decision.v1.ExtendDecisionResponse.
 * Use `create(ExtendDecisionResponseSchema)` to create a new message.
 */
export declare const ExtendDecisionResponseSchema: GenMessage<ExtendDecisionResponse>;
/**
 * Decision is a decision of a person. All its texts but those that are said to be the operator's are
 * what a model, a tool or a caller wrote: escape them.
 *
 * @generated from message toolhost.decision.v1.Decision
 */
export type Decision = Message<"toolhost.decision.v1.Decision"> & {
    /**
     * RUN/DECISION: the run that waits, and the id of the decision within it. For a call that toolhost
     * holds, `calls/` and an id that toolhost chose.
     *
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * What has to be decided.
     *
     * @generated from field: toolhost.decision.v1.DecisionKind kind = 2;
     */
    kind: DecisionKind;
    /**
     * Whether the decision still waits.
     *
     * @generated from field: toolhost.decision.v1.DecisionState state = 3;
     */
    state: DecisionState;
    /**
     * The id of the run. Empty for a call that no run makes.
     *
     * @generated from field: string run_id = 4;
     */
    runId: string;
    /**
     * The id of the decision within the run. Empty for a call that toolhost holds.
     *
     * @generated from field: string decision_id = 5;
     */
    decisionId: string;
    /**
     * The run of which this one is a sub-run. Empty: it is none.
     *
     * @generated from field: string parent_run_id = 6;
     */
    parentRunId: string;
    /**
     * The tenant of the run or the call.
     *
     * @generated from field: string tenant = 7;
     */
    tenant: string;
    /**
     * The key of the principal that the run or the call belongs to. Empty for runs of earlier versions.
     *
     * @generated from field: string principal = 8;
     */
    principal: string;
    /**
     * The id of the call that waits. Empty if no call does.
     *
     * @generated from field: string call_id = 9;
     */
    callId: string;
    /**
     * The name of the call's tool. Empty if no call waits.
     *
     * @generated from field: string tool = 10;
     */
    tool: string;
    /**
     * The display name of the tool, as its plugin declares it. May be empty. Show it in addition to
     * `tool`, never instead of it.
     *
     * @generated from field: string display_name = 11;
     */
    displayName: string;
    /**
     * The plugin that asks, or for a call that toolhost holds the plugin of the tool. Otherwise empty.
     *
     * @generated from field: string plugin = 12;
     */
    plugin: string;
    /**
     * The arguments of the call, as JSON text. For DECISION_KIND_APPROVAL toolhost executes exactly
     * these; for other kinds these are what the model generated, which may not be valid JSON.
     *
     * @generated from field: string arguments = 13;
     */
    arguments: string;
    /**
     * Why a decision is needed, or the question.
     *
     * @generated from field: string reason = 14;
     */
    reason: string;
    /**
     * Answers that the model suggests.
     *
     * @generated from field: repeated string options = 15;
     */
    options: string[];
    /**
     * The policy rule that requires the approval; the operator's text. May be empty.
     *
     * @generated from field: string rule = 16;
     */
    rule: string;
    /**
     * Whether another principal than that of the run or the call has to approve.
     *
     * @generated from field: bool four_eyes = 17;
     */
    fourEyes: boolean;
    /**
     * The JSON Schema of the answer or of the tool's arguments. Only GetDecision sets it.
     *
     * @generated from field: string schema = 18;
     */
    schema: string;
    /**
     * What the call would change, as a unified diff, which the tool computed at `request_time`. Only
     * GetDecision sets it.
     *
     * @generated from field: string diff = 19;
     */
    diff: string;
    /**
     * Whether `arguments`, `reason` or `text` are not whole, or `options`, `schema` or `diff` are left out.
     * GetDecision has the whole.
     *
     * @generated from field: bool cut = 20;
     */
    cut: boolean;
    /**
     * When the run or the call asked for the decision.
     *
     * @generated from field: google.protobuf.Timestamp request_time = 21;
     */
    requestTime?: Timestamp | undefined;
    /**
     * When the decision counts as rejected. Unset means never.
     *
     * @generated from field: google.protobuf.Timestamp expire_time = 22;
     */
    expireTime?: Timestamp | undefined;
    /**
     * Why this caller cannot make the decision now. Empty means that it can.
     *
     * @generated from field: string not_allowed = 23;
     */
    notAllowed: string;
    /**
     * The verdict, once the decision is made. Only GetDecision and ListMadeDecisions set it.
     *
     * @generated from field: toolhost.decision.v1.Verdict verdict = 24;
     */
    verdict: Verdict;
    /**
     * When the decision was made.
     *
     * @generated from field: google.protobuf.Timestamp decide_time = 25;
     */
    decideTime?: Timestamp | undefined;
    /**
     * The key of the principal that made it. Empty if it expired.
     *
     * @generated from field: string decided_by = 26;
     */
    decidedBy: string;
    /**
     * The name of the person, as the client that responded gave it. Nobody has verified it.
     *
     * @generated from field: string decided_by_name = 27;
     */
    decidedByName: string;
    /**
     * The reason or the answer.
     *
     * @generated from field: string text = 28;
     */
    text: string;
    /**
     * What the person sees, as a digest for DecideRequest.etag: arguments, tool, plugin, question,
     * schema, rule, approvers and the time of the request, but not its end. Only GetDecision and
     * ExtendDecision set it, because a list does not show the whole. Empty for a decision that does not
     * wait.
     *
     * @generated from field: string etag = 29;
     */
    etag: string;
    /**
     * Of whom the approver has to be one: the groups that the rule names. Empty means that the rule
     * names none.
     *
     * @generated from field: repeated string approver_groups = 30;
     */
    approverGroups: string[];
    /**
     * The name of the agent of the call. Only of calls that toolhost holds.
     *
     * @generated from field: string agent = 31;
     */
    agent: string;
    /**
     * The session of the call. Only of calls that toolhost holds.
     *
     * @generated from field: string session = 32;
     */
    session: string;
    /**
     * The values of the caller's context on which the call depends, as JSON text: those that the tool
     * gets, and those that rules read. Empty if there are none. Only of calls that toolhost holds.
     *
     * @generated from field: string context = 33;
     */
    context: string;
};
/**
 * Describes the message toolhost.decision.v1.Decision.
 * Use `create(DecisionSchema)` to create a new message.
 */
export declare const DecisionSchema: GenMessage<Decision>;
/**
 * DecisionKind says what has to be decided.
 *
 * @generated from enum toolhost.decision.v1.DecisionKind
 */
export declare enum DecisionKind {
    /**
     * Not set.
     *
     * @generated from enum value: DECISION_KIND_UNSPECIFIED = 0;
     */
    UNSPECIFIED = 0,
    /**
     * Whether a call may be executed.
     *
     * @generated from enum value: DECISION_KIND_APPROVAL = 1;
     */
    APPROVAL = 1,
    /**
     * A question of the model.
     *
     * @generated from enum value: DECISION_KIND_QUESTION = 2;
     */
    QUESTION = 2,
    /**
     * How to continue after a call with an unknown outcome.
     *
     * @generated from enum value: DECISION_KIND_OUTCOME = 3;
     */
    OUTCOME = 3,
    /**
     * Whether a paused run continues.
     *
     * @generated from enum value: DECISION_KIND_PAUSE = 4;
     */
    PAUSE = 4,
    /**
     * A question of the tool of a running call.
     *
     * @generated from enum value: DECISION_KIND_TOOL = 5;
     */
    TOOL = 5
}
/**
 * Describes the enum toolhost.decision.v1.DecisionKind.
 */
export declare const DecisionKindSchema: GenEnum<DecisionKind>;
/**
 * DecisionState says whether a decision waits.
 *
 * @generated from enum toolhost.decision.v1.DecisionState
 */
export declare enum DecisionState {
    /**
     * Not set.
     *
     * @generated from enum value: DECISION_STATE_UNSPECIFIED = 0;
     */
    UNSPECIFIED = 0,
    /**
     * It waits for a person.
     *
     * @generated from enum value: DECISION_STATE_WAITING = 1;
     */
    WAITING = 1,
    /**
     * It was made, or it has expired: `verdict` says which.
     *
     * @generated from enum value: DECISION_STATE_MADE = 2;
     */
    MADE = 2,
    /**
     * It is not wanted any more, such as because its run was cancelled.
     *
     * @generated from enum value: DECISION_STATE_WITHDRAWN = 3;
     */
    WITHDRAWN = 3
}
/**
 * Describes the enum toolhost.decision.v1.DecisionState.
 */
export declare const DecisionStateSchema: GenEnum<DecisionState>;
/**
 * Verdict is the content of a decision.
 *
 * @generated from enum toolhost.decision.v1.Verdict
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
 * Describes the enum toolhost.decision.v1.Verdict.
 */
export declare const VerdictSchema: GenEnum<Verdict>;
/**
 * DecisionService lists and makes decisions that wait for a person. agentd serves those of its runs.
 * toolhost serves the calls that it holds; see CallOptions.approval_wait. agentd serves these, too:
 * it asks its toolhost on behalf of the caller.
 *
 * At agentd, a caller sees the decisions of its own runs, and with the right `runs.list` or
 * `runs.approve` those of all runs of a tenant. At toolhost, it sees its own calls, and with the
 * right `calls.list` or `calls.approve` those of a tenant. Any other decision does not exist for the
 * caller. For a call that toolhost holds, a caller of agentd needs the rights of both servers.
 *
 * @generated from service toolhost.decision.v1.DecisionService
 */
export declare const DecisionService: GenService<{
    /**
     * ListDecisions lists the decisions that wait, in pages. The run whose decision ends first comes
     * first, and so do its decisions; what has no end comes last. A decision of a sub-run is listed
     * once, as that of the sub-run. agentd lists the calls that its toolhost holds among them, by their
     * ends within a page. Errors: INVALID_ARGUMENT for a page token that was not given out; DENIED if
     * the caller may not act for on_behalf_of.
     *
     * @generated from rpc toolhost.decision.v1.DecisionService.ListDecisions
     */
    listDecisions: {
        methodKind: "unary";
        input: typeof ListDecisionsRequestSchema;
        output: typeof ListDecisionsResponseSchema;
    };
    /**
     * GetDecision returns one decision as a whole, also after it was made. Errors: NOT_FOUND.
     *
     * @generated from rpc toolhost.decision.v1.DecisionService.GetDecision
     */
    getDecision: {
        methodKind: "unary";
        input: typeof GetDecisionRequestSchema;
        output: typeof GetDecisionResponseSchema;
    };
    /**
     * ListMadeDecisions lists what the caller has decided in runs that still exist, the newest first.
     * Each decision is as ListDecisions has it, with the verdict, the text, and the arguments that were
     * approved. A decision of a run that the caller may not see any more is left out, and so is what the
     * caller decided before agentd kept this list. Only agentd has it. What was decided about calls that
     * toolhost held is in the audit log of toolhost. Errors: INVALID_ARGUMENT for a page token that was
     * not given out.
     *
     * @generated from rpc toolhost.decision.v1.DecisionService.ListMadeDecisions
     */
    listMadeDecisions: {
        methodKind: "unary";
        input: typeof ListMadeDecisionsRequestSchema;
        output: typeof ListMadeDecisionsResponseSchema;
    };
    /**
     * WatchDecisions sends the decisions that wait, and what becomes of them. The messages are states, not
     * events: each replaces what the client knows of one source. The first messages have the present
     * state, and then one says that it is complete. With the position of a message, a client goes on
     * after it, at any server of the same store, and with that of a page after the page. A client that
     * reads slowly gets fewer states, and none is kept for it.
     *
     * The stream ends with DENIED when the rights of the caller change, and with UNAVAILABLE when its
     * credential ends; begin it again without a position. Other errors: INVALID_ARGUMENT for a position
     * of another caller or of another filter.
     *
     * @generated from rpc toolhost.decision.v1.DecisionService.WatchDecisions
     */
    watchDecisions: {
        methodKind: "server_streaming";
        input: typeof WatchDecisionsRequestSchema;
        output: typeof WatchDecisionsResponseSchema;
    };
    /**
     * Decide makes one decision. The request repeats the etag of what the person has seen. The
     * principal of the caller is who decides.
     *
     * To reject needs less than to approve: the principal that a call or a run belongs to can reject
     * without a right. Errors: NOT_FOUND; CONFLICT if the etag is not that of the decision, and if the
     * decision was made before or is not wanted any more, with who, what and when; INVALID_ARGUMENT if
     * the verdict does not fit the kind, or there is no etag; DENIED if the caller may not decide.
     *
     * @generated from rpc toolhost.decision.v1.DecisionService.Decide
     */
    decide: {
        methodKind: "unary";
        input: typeof DecideRequestSchema;
        output: typeof DecideResponseSchema;
    };
    /**
     * ExtendDecision moves the end of a decision that waits, and returns the decision. It says nothing
     * about the content, so it needs no etag, and a verdict about what a person saw before it counts.
     * The end never moves to an earlier time: a request of an end that is not later than the present one
     * changes nothing, and so does a repeated request.
     *
     * Who may approve or answer may extend, also where the rule has four eyes. A call that toolhost
     * holds waits no longer than its caller lets it; the approval counts for a repeat of the call.
     * Errors: NOT_FOUND; CONFLICT if the decision was made before, has expired, or is not wanted any
     * more, with who, what and when, and if it never ends; INVALID_ARGUMENT if the end is not in the
     * future, more than 7 days after the request for the decision, or after what asked gives up;
     * DENIED if the caller may not extend.
     *
     * @generated from rpc toolhost.decision.v1.DecisionService.ExtendDecision
     */
    extendDecision: {
        methodKind: "unary";
        input: typeof ExtendDecisionRequestSchema;
        output: typeof ExtendDecisionResponseSchema;
    };
}>;
