import type { GenEnum, GenFile, GenMessage, GenService } from "@bufbuild/protobuf/codegenv2";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { Principal } from "../tool/v1/principal_pb.js";
import type { Message } from "@bufbuild/protobuf";
/**
 * Describes the file toolhost/v1/approval_service.proto.
 */
export declare const file_toolhost_v1_approval_service: GenFile;
/**
 * ArgumentPattern permits more than one value of one argument.
 *
 * @generated from message toolhost.v1.ArgumentPattern
 */
export type ArgumentPattern = Message<"toolhost.v1.ArgumentPattern"> & {
    /**
     * The name of the argument, a member of the arguments.
     *
     * @generated from field: string argument = 1;
     */
    argument: string;
    /**
     * What values it permits. Exactly one is set, and the value in the approved call must match it.
     *
     * @generated from oneof toolhost.v1.ArgumentPattern.form
     */
    form: {
        /**
         * The path of a file or folder, relative to the workspace, such as `docs`. It permits the path
         * itself and what lies below it, on the borders of names. `.` is the workspace. A value with
         * `..`, a backslash, a control character, or an absolute path never matches. toolhost compares
         * texts: it does not know where a symbolic link leads.
         *
         * @generated from field: string path_prefix = 2;
         */
        value: string;
        case: "pathPrefix";
    } | {
        /**
         * The origin of http and https URLs, such as `https://example.com`. Scheme, host and port must
         * be the same. A URL with a user, another spelling of the host, or an encoded host never matches.
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
 * Describes the message toolhost.v1.ArgumentPattern.
 * Use `create(ArgumentPatternSchema)` to create a new message.
 */
export declare const ArgumentPatternSchema: GenMessage<ArgumentPattern>;
/**
 * CreateApprovalRequest describes the approved call, and which later calls it stands for.
 *
 * @generated from message toolhost.v1.CreateApprovalRequest
 */
export type CreateApprovalRequest = Message<"toolhost.v1.CreateApprovalRequest"> & {
    /**
     * What identifies this request, with the rules of call ids. A repeated request of the same
     * principal with the same content returns the same approval, also after it has ended. Empty means
     * that each request creates an approval.
     *
     * @generated from field: string request_id = 1;
     */
    requestId: string;
    /**
     * The name of the tool.
     *
     * @generated from field: string tool = 2;
     */
    tool: string;
    /**
     * The final arguments that the person approved, a JSON object: Error.arguments of the refused call,
     * or what the person changed them to. Later calls must have the same arguments, except for those
     * with a pattern. Empty means `{}`.
     *
     * @generated from field: bytes arguments = 3;
     */
    arguments: Uint8Array;
    /**
     * Error.definition_sha256 of the refused call. If the definition of the tool has changed since,
     * the request fails with CONFLICT. Empty means the definition in force.
     *
     * @generated from field: string definition_sha256 = 4;
     */
    definitionSha256: string;
    /**
     * The agent whose calls are approved: CallOptions.agent. Empty means calls without an agent.
     *
     * @generated from field: string agent = 5;
     */
    agent: string;
    /**
     * The run of the approved call: CallOptions.run. Required for the scope RUN.
     *
     * @generated from field: string run = 6;
     */
    run: string;
    /**
     * The session of the approved call: CallOptions.session. Required for the scope SESSION.
     *
     * @generated from field: string session = 7;
     */
    session: string;
    /**
     * For which calls the approval is valid.
     *
     * @generated from field: toolhost.v1.ApprovalScope scope = 8;
     */
    scope: ApprovalScope;
    /**
     * Whether later calls may have any arguments. Only for the scope RUN, and without patterns.
     *
     * @generated from field: bool any_arguments = 9;
     */
    anyArguments: boolean;
    /**
     * The patterns, at most one for each argument and 32 in all.
     *
     * @generated from field: repeated toolhost.v1.ArgumentPattern patterns = 10;
     */
    patterns: ArgumentPattern[];
    /**
     * When the approval ends. Unset means the longest time that the operator allows, for the scopes
     * RUN and SESSION.
     *
     * @generated from field: google.protobuf.Timestamp expire_time = 11;
     */
    expireTime?: Timestamp | undefined;
    /**
     * The id of the approved call. May be empty.
     *
     * @generated from field: string call_id = 12;
     */
    callId: string;
    /**
     * A name for the approver, as text; see Approval.approved_by. May be empty.
     *
     * @generated from field: string approved_by = 13;
     */
    approvedBy: string;
    /**
     * The reason, as text. May be empty.
     *
     * @generated from field: string reason = 14;
     */
    reason: string;
    /**
     * The principal that approves, as a delegate has verified it. Unset means that the caller approves
     * itself, which needs the right `calls.approve`.
     *
     * @generated from field: toolhost.tool.v1.Principal approver = 15;
     */
    approver?: Principal | undefined;
    /**
     * The principal whose calls are approved. Unset means the caller itself. See "Delegation" at
     * ToolService.
     *
     * @generated from field: toolhost.tool.v1.Principal on_behalf_of = 16;
     */
    onBehalfOf?: Principal | undefined;
    /**
     * CallOptions.context of the approved call, which rules of the policy may read.
     *
     * @generated from field: map<string, bytes> context = 17;
     */
    context: {
        [key: string]: Uint8Array;
    };
};
/**
 * Describes the message toolhost.v1.CreateApprovalRequest.
 * Use `create(CreateApprovalRequestSchema)` to create a new message.
 */
export declare const CreateApprovalRequestSchema: GenMessage<CreateApprovalRequest>;
/**
 * CreateApprovalResponse returns the approval.
 *
 * @generated from message toolhost.v1.CreateApprovalResponse
 */
export type CreateApprovalResponse = Message<"toolhost.v1.CreateApprovalResponse"> & {
    /**
     * The approval. It has ended if the request was made before, and the approval ended since.
     *
     * @generated from field: toolhost.v1.StandingApproval approval = 1;
     */
    approval?: StandingApproval | undefined;
};
/**
 * Describes the message toolhost.v1.CreateApprovalResponse.
 * Use `create(CreateApprovalResponseSchema)` to create a new message.
 */
export declare const CreateApprovalResponseSchema: GenMessage<CreateApprovalResponse>;
/**
 * StandingApproval is an approval of later calls.
 *
 * @generated from message toolhost.v1.StandingApproval
 */
export type StandingApproval = Message<"toolhost.v1.StandingApproval"> & {
    /**
     * The id, which toolhost chose.
     *
     * @generated from field: string id = 1;
     */
    id: string;
    /**
     * The key of the principal whose calls it approves: NAME, or TENANT/NAME outside of the default
     * tenant.
     *
     * @generated from field: string principal = 2;
     */
    principal: string;
    /**
     * The key of the delegate whose calls it approves. Empty means calls that the principal makes
     * itself.
     *
     * @generated from field: string via = 3;
     */
    via: string;
    /**
     * The agent. Empty means calls without an agent.
     *
     * @generated from field: string agent = 4;
     */
    agent: string;
    /**
     * The tool.
     *
     * @generated from field: string tool = 5;
     */
    tool: string;
    /**
     * The plugin that has the tool.
     *
     * @generated from field: string plugin = 6;
     */
    plugin: string;
    /**
     * The digest of the definition of the tool.
     *
     * @generated from field: string definition_sha256 = 7;
     */
    definitionSha256: string;
    /**
     * The rule of the policy that required the approval. The approval is valid for calls about which
     * the same rule decides. Empty means that no rule decided, and the tool is dangerous.
     *
     * @generated from field: string rule = 8;
     */
    rule: string;
    /**
     * For which calls it is valid.
     *
     * @generated from field: toolhost.v1.ApprovalScope scope = 9;
     */
    scope: ApprovalScope;
    /**
     * The run, for the scope RUN.
     *
     * @generated from field: string run = 10;
     */
    run: string;
    /**
     * The session, for the scope SESSION.
     *
     * @generated from field: string session = 11;
     */
    session: string;
    /**
     * Whether the calls may have any arguments.
     *
     * @generated from field: bool any_arguments = 12;
     */
    anyArguments: boolean;
    /**
     * The patterns.
     *
     * @generated from field: repeated toolhost.v1.ArgumentPattern patterns = 13;
     */
    patterns: ArgumentPattern[];
    /**
     * The arguments that have to be equal, a JSON object. Empty with `any_arguments`.
     *
     * @generated from field: bytes arguments = 14;
     */
    arguments: Uint8Array;
    /**
     * The key of the principal that approved.
     *
     * @generated from field: string approver = 15;
     */
    approver: string;
    /**
     * The name of the approver as text, which proves nothing.
     *
     * @generated from field: string approved_by = 16;
     */
    approvedBy: string;
    /**
     * The reason, as text.
     *
     * @generated from field: string reason = 17;
     */
    reason: string;
    /**
     * The id of the approved call.
     *
     * @generated from field: string call_id = 18;
     */
    callId: string;
    /**
     * When it was created.
     *
     * @generated from field: google.protobuf.Timestamp create_time = 19;
     */
    createTime?: Timestamp | undefined;
    /**
     * When it expires.
     *
     * @generated from field: google.protobuf.Timestamp expire_time = 20;
     */
    expireTime?: Timestamp | undefined;
    /**
     * When it ended. Unset means that it is in force.
     *
     * @generated from field: google.protobuf.Timestamp end_time = 21;
     */
    endTime?: Timestamp | undefined;
    /**
     * Why it ended.
     *
     * @generated from field: toolhost.v1.ApprovalEnd end = 22;
     */
    end: ApprovalEnd;
    /**
     * The key of the principal that revoked it. Empty if it was not revoked.
     *
     * @generated from field: string revoked_by = 23;
     */
    revokedBy: string;
};
/**
 * Describes the message toolhost.v1.StandingApproval.
 * Use `create(StandingApprovalSchema)` to create a new message.
 */
export declare const StandingApprovalSchema: GenMessage<StandingApproval>;
/**
 * ListApprovalsRequest selects standing approvals.
 *
 * @generated from message toolhost.v1.ListApprovalsRequest
 */
export type ListApprovalsRequest = Message<"toolhost.v1.ListApprovalsRequest"> & {
    /**
     * The principal whose approvals are listed. Unset means the caller itself. See "Delegation" at
     * ToolService.
     *
     * @generated from field: toolhost.tool.v1.Principal on_behalf_of = 1;
     */
    onBehalfOf?: Principal | undefined;
    /**
     * Lists the approvals of all principals that the caller may see.
     *
     * @generated from field: bool all_principals = 2;
     */
    allPrincipals: boolean;
    /**
     * Only those of these tenants. Empty means all tenants that the caller may see.
     *
     * @generated from field: repeated string tenants = 3;
     */
    tenants: string[];
    /**
     * Only those of this tool. Empty means all.
     *
     * @generated from field: string tool = 4;
     */
    tool: string;
    /**
     * Only those of this run. Empty means all.
     *
     * @generated from field: string run = 5;
     */
    run: string;
    /**
     * Lists also approvals that have ended, as long as toolhost remembers them.
     *
     * @generated from field: bool ended = 6;
     */
    ended: boolean;
    /**
     * The largest number of approvals in the answer. 0 means 100; at most 1000.
     *
     * @generated from field: uint32 page_size = 7;
     */
    pageSize: number;
    /**
     * `next_page_token` of the page before. Empty means the first page.
     *
     * @generated from field: string page_token = 8;
     */
    pageToken: string;
    /**
     * Lists the approvals that the principal gave, instead of those of its calls: those of calls of its
     * own, and of the tenants in which it has the right `calls.list` or `calls.approve`. A delegate needs
     * its role in the tenant of each. Not with `all_principals`.
     *
     * @generated from field: bool approved = 9;
     */
    approved: boolean;
};
/**
 * Describes the message toolhost.v1.ListApprovalsRequest.
 * Use `create(ListApprovalsRequestSchema)` to create a new message.
 */
export declare const ListApprovalsRequestSchema: GenMessage<ListApprovalsRequest>;
/**
 * ListApprovalsResponse is one page of approvals.
 *
 * @generated from message toolhost.v1.ListApprovalsResponse
 */
export type ListApprovalsResponse = Message<"toolhost.v1.ListApprovalsResponse"> & {
    /**
     * The approvals, the newest first.
     *
     * @generated from field: repeated toolhost.v1.StandingApproval approvals = 1;
     */
    approvals: StandingApproval[];
    /**
     * Requests the next page. Empty means that there is none.
     *
     * @generated from field: string next_page_token = 2;
     */
    nextPageToken: string;
};
/**
 * Describes the message toolhost.v1.ListApprovalsResponse.
 * Use `create(ListApprovalsResponseSchema)` to create a new message.
 */
export declare const ListApprovalsResponseSchema: GenMessage<ListApprovalsResponse>;
/**
 * RevokeApprovalRequest names an approval.
 *
 * @generated from message toolhost.v1.RevokeApprovalRequest
 */
export type RevokeApprovalRequest = Message<"toolhost.v1.RevokeApprovalRequest"> & {
    /**
     * The id of the approval.
     *
     * @generated from field: string id = 1;
     */
    id: string;
    /**
     * The principal that revokes, for a delegate, which needs its role in the tenants of the principal
     * and of the approval. What the principal may do decides. Unset means the caller.
     *
     * @generated from field: toolhost.tool.v1.Principal on_behalf_of = 2;
     */
    onBehalfOf?: Principal | undefined;
    /**
     * The reason, as text, for the audit log. May be empty.
     *
     * @generated from field: string reason = 3;
     */
    reason: string;
};
/**
 * Describes the message toolhost.v1.RevokeApprovalRequest.
 * Use `create(RevokeApprovalRequestSchema)` to create a new message.
 */
export declare const RevokeApprovalRequestSchema: GenMessage<RevokeApprovalRequest>;
/**
 * RevokeApprovalResponse returns the approval.
 *
 * @generated from message toolhost.v1.RevokeApprovalResponse
 */
export type RevokeApprovalResponse = Message<"toolhost.v1.RevokeApprovalResponse"> & {
    /**
     * The approval, which has ended.
     *
     * @generated from field: toolhost.v1.StandingApproval approval = 1;
     */
    approval?: StandingApproval | undefined;
};
/**
 * Describes the message toolhost.v1.RevokeApprovalResponse.
 * Use `create(RevokeApprovalResponseSchema)` to create a new message.
 */
export declare const RevokeApprovalResponseSchema: GenMessage<RevokeApprovalResponse>;
/**
 * ApprovalScope says for which calls a standing approval is valid, besides its tool, principal,
 * agent and delegate.
 *
 * @generated from enum toolhost.v1.ApprovalScope
 */
export declare enum ApprovalScope {
    /**
     * Not set. INVALID_ARGUMENT.
     *
     * @generated from enum value: APPROVAL_SCOPE_UNSPECIFIED = 0;
     */
    UNSPECIFIED = 0,
    /**
     * The calls of one run. Its sub-runs are other runs.
     *
     * @generated from enum value: APPROVAL_SCOPE_RUN = 1;
     */
    RUN = 1,
    /**
     * The calls of one session, which must have a name: the default session of a principal never ends.
     *
     * @generated from enum value: APPROVAL_SCOPE_SESSION = 2;
     */
    SESSION = 2,
    /**
     * All calls until the expiry, which must be set.
     *
     * @generated from enum value: APPROVAL_SCOPE_PRINCIPAL = 3;
     */
    PRINCIPAL = 3
}
/**
 * Describes the enum toolhost.v1.ApprovalScope.
 */
export declare const ApprovalScopeSchema: GenEnum<ApprovalScope>;
/**
 * ApprovalEnd says why a standing approval ended.
 *
 * @generated from enum toolhost.v1.ApprovalEnd
 */
export declare enum ApprovalEnd {
    /**
     * It is in force.
     *
     * @generated from enum value: APPROVAL_END_UNSPECIFIED = 0;
     */
    UNSPECIFIED = 0,
    /**
     * A caller revoked it.
     *
     * @generated from enum value: APPROVAL_END_REVOKED = 1;
     */
    REVOKED = 1,
    /**
     * Its time is over.
     *
     * @generated from enum value: APPROVAL_END_EXPIRED = 2;
     */
    EXPIRED = 2,
    /**
     * The definition of the tool, its plugin, the operator's trust in the plugin or the rule of the
     * policy changed.
     *
     * @generated from enum value: APPROVAL_END_CHANGED = 3;
     */
    CHANGED = 3,
    /**
     * The ledger of calls was restored or replaced.
     *
     * @generated from enum value: APPROVAL_END_RESTORED = 4;
     */
    RESTORED = 4
}
/**
 * Describes the enum toolhost.v1.ApprovalEnd.
 */
export declare const ApprovalEndSchema: GenEnum<ApprovalEnd>;
/**
 * ApprovalService creates, lists and revokes standing approvals.
 *
 * A standing approval approves later calls of one tool, for one principal, one agent and one
 * delegate, with arguments that match its patterns. toolhost applies it after the arguments of a
 * call are final, and only where the operator's policy requires an approval. It overrides no `deny`
 * and satisfies no `four_eyes`. A call that carries an Approval of its own is judged by that one
 * alone.
 *
 * A standing approval ends when it expires, when it is revoked, when the definition of the tool, its
 * plugin or the operator's trust in the plugin changes, and when the ledger is restored from a
 * backup. It never comes into force again.
 *
 * agentd serves ListApprovals and RevokeApproval, too, for the approvals that its caller gave: it asks
 * its toolhost on behalf of the caller, who needs the rights of both servers.
 *
 * Errors are toolhost.tool.v1.Error as a detail of the gRPC status. Every RPC fails with UNSUPPORTED
 * if this toolhost stores no standing approvals.
 *
 * @generated from service toolhost.v1.ApprovalService
 */
export declare const ApprovalService: GenService<{
    /**
     * CreateApproval creates a standing approval from a call that toolhost refused with
     * APPROVAL_REQUIRED. The caller needs what it needs to approve that call: the right
     * `calls.approve`, or the right `delegate` if it names the approver. Errors: NOT_FOUND if the
     * principal may not call the tool, or it does not exist; DENIED without the right, and if the
     * policy denies the call or requires `four_eyes`; INVALID_ARGUMENT if a pattern, the scope or the
     * expiry cannot be used, and if the call needs no approval; CONFLICT if the definition of the tool
     * has changed since toolhost refused the call, and if `request_id` belongs to another request;
     * RATE_LIMITED if the principal or its tenant has too many standing approvals; UNSUPPORTED if the
     * operator switched them off.
     *
     * @generated from rpc toolhost.v1.ApprovalService.CreateApproval
     */
    createApproval: {
        methodKind: "unary";
        input: typeof CreateApprovalRequestSchema;
        output: typeof CreateApprovalResponseSchema;
    };
    /**
     * ListApprovals lists standing approvals, the newest first: those of one principal, or with
     * `all_principals` those of the tenants in which the caller has the right `calls.list` or
     * `calls.approve`. At agentd, `approved` has to be set. Errors: INVALID_ARGUMENT.
     *
     * @generated from rpc toolhost.v1.ApprovalService.ListApprovals
     */
    listApprovals: {
        methodKind: "unary";
        input: typeof ListApprovalsRequestSchema;
        output: typeof ListApprovalsResponseSchema;
    };
    /**
     * RevokeApproval ends a standing approval. When it returns, no later call is approved, and a call
     * that waits is refused when toolhost looks a last time, just before it hands the call to the
     * connection of the plugin. A call that toolhost has handed over goes on, also if the plugin process
     * has not received it yet. An approval that has ended does not change. The principal of the approval can
     * revoke it, and a caller with the right `calls.approve` in its tenant. Errors: NOT_FOUND, also if
     * the caller may not revoke it.
     *
     * @generated from rpc toolhost.v1.ApprovalService.RevokeApproval
     */
    revokeApproval: {
        methodKind: "unary";
        input: typeof RevokeApprovalRequestSchema;
        output: typeof RevokeApprovalResponseSchema;
    };
}>;
