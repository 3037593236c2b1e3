// The API of standing approvals: approvals of later calls, which a person gives in advance.
import { enumDesc, fileDesc, messageDesc, serviceDesc } from "@bufbuild/protobuf/codegenv2";
import { file_google_protobuf_timestamp } from "@bufbuild/protobuf/wkt";
import { file_toolhost_tool_v1_principal } from "../tool/v1/principal_pb.js";
import { file_toolhost_tool_v1_right } from "../tool/v1/right_pb.js";
/**
 * Describes the file toolhost/v1/approval_service.proto.
 */
export const file_toolhost_v1_approval_service = /*@__PURE__*/ fileDesc("CiJ0b29saG9zdC92MS9hcHByb3ZhbF9zZXJ2aWNlLnByb3RvEgt0b29saG9zdC52MSJjCg9Bcmd1bWVudFBhdHRlcm4SEAoIYXJndW1lbnQYASABKAkSFQoLcGF0aF9wcmVmaXgYAiABKAlIABIQCgZvcmlnaW4YAyABKAlIABINCgNhbnkYBCABKAhIAEIGCgRmb3JtIsEEChVDcmVhdGVBcHByb3ZhbFJlcXVlc3QSEgoKcmVxdWVzdF9pZBgBIAEoCRIMCgR0b29sGAIgASgJEhEKCWFyZ3VtZW50cxgDIAEoDBIZChFkZWZpbml0aW9uX3NoYTI1NhgEIAEoCRINCgVhZ2VudBgFIAEoCRILCgNydW4YBiABKAkSDwoHc2Vzc2lvbhgHIAEoCRIpCgVzY29wZRgIIAEoDjIaLnRvb2xob3N0LnYxLkFwcHJvdmFsU2NvcGUSFQoNYW55X2FyZ3VtZW50cxgJIAEoCBIuCghwYXR0ZXJucxgKIAMoCzIcLnRvb2xob3N0LnYxLkFyZ3VtZW50UGF0dGVybhIvCgtleHBpcmVfdGltZRgLIAEoCzIaLmdvb2dsZS5wcm90b2J1Zi5UaW1lc3RhbXASDwoHY2FsbF9pZBgMIAEoCRITCgthcHByb3ZlZF9ieRgNIAEoCRIOCgZyZWFzb24YDiABKAkSLQoIYXBwcm92ZXIYDyABKAsyGy50b29saG9zdC50b29sLnYxLlByaW5jaXBhbBIxCgxvbl9iZWhhbGZfb2YYECABKAsyGy50b29saG9zdC50b29sLnYxLlByaW5jaXBhbBJACgdjb250ZXh0GBEgAygLMi8udG9vbGhvc3QudjEuQ3JlYXRlQXBwcm92YWxSZXF1ZXN0LkNvbnRleHRFbnRyeRouCgxDb250ZXh0RW50cnkSCwoDa2V5GAEgASgJEg0KBXZhbHVlGAIgASgMOgI4ASJJChZDcmVhdGVBcHByb3ZhbFJlc3BvbnNlEi8KCGFwcHJvdmFsGAEgASgLMh0udG9vbGhvc3QudjEuU3RhbmRpbmdBcHByb3ZhbCLKBAoQU3RhbmRpbmdBcHByb3ZhbBIKCgJpZBgBIAEoCRIRCglwcmluY2lwYWwYAiABKAkSCwoDdmlhGAMgASgJEg0KBWFnZW50GAQgASgJEgwKBHRvb2wYBSABKAkSDgoGcGx1Z2luGAYgASgJEhkKEWRlZmluaXRpb25fc2hhMjU2GAcgASgJEgwKBHJ1bGUYCCABKAkSKQoFc2NvcGUYCSABKA4yGi50b29saG9zdC52MS5BcHByb3ZhbFNjb3BlEgsKA3J1bhgKIAEoCRIPCgdzZXNzaW9uGAsgASgJEhUKDWFueV9hcmd1bWVudHMYDCABKAgSLgoIcGF0dGVybnMYDSADKAsyHC50b29saG9zdC52MS5Bcmd1bWVudFBhdHRlcm4SEQoJYXJndW1lbnRzGA4gASgMEhAKCGFwcHJvdmVyGA8gASgJEhMKC2FwcHJvdmVkX2J5GBAgASgJEg4KBnJlYXNvbhgRIAEoCRIPCgdjYWxsX2lkGBIgASgJEi8KC2NyZWF0ZV90aW1lGBMgASgLMhouZ29vZ2xlLnByb3RvYnVmLlRpbWVzdGFtcBIvCgtleHBpcmVfdGltZRgUIAEoCzIaLmdvb2dsZS5wcm90b2J1Zi5UaW1lc3RhbXASLAoIZW5kX3RpbWUYFSABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wEiUKA2VuZBgWIAEoDjIYLnRvb2xob3N0LnYxLkFwcHJvdmFsRW5kEhIKCnJldm9rZWRfYnkYFyABKAki1QEKFExpc3RBcHByb3ZhbHNSZXF1ZXN0EjEKDG9uX2JlaGFsZl9vZhgBIAEoCzIbLnRvb2xob3N0LnRvb2wudjEuUHJpbmNpcGFsEhYKDmFsbF9wcmluY2lwYWxzGAIgASgIEg8KB3RlbmFudHMYAyADKAkSDAoEdG9vbBgEIAEoCRILCgNydW4YBSABKAkSDQoFZW5kZWQYBiABKAgSEQoJcGFnZV9zaXplGAcgASgNEhIKCnBhZ2VfdG9rZW4YCCABKAkSEAoIYXBwcm92ZWQYCSABKAgiYgoVTGlzdEFwcHJvdmFsc1Jlc3BvbnNlEjAKCWFwcHJvdmFscxgBIAMoCzIdLnRvb2xob3N0LnYxLlN0YW5kaW5nQXBwcm92YWwSFwoPbmV4dF9wYWdlX3Rva2VuGAIgASgJImYKFVJldm9rZUFwcHJvdmFsUmVxdWVzdBIKCgJpZBgBIAEoCRIxCgxvbl9iZWhhbGZfb2YYAiABKAsyGy50b29saG9zdC50b29sLnYxLlByaW5jaXBhbBIOCgZyZWFzb24YAyABKAkiSQoWUmV2b2tlQXBwcm92YWxSZXNwb25zZRIvCghhcHByb3ZhbBgBIAEoCzIdLnRvb2xob3N0LnYxLlN0YW5kaW5nQXBwcm92YWwqgQEKDUFwcHJvdmFsU2NvcGUSHgoaQVBQUk9WQUxfU0NPUEVfVU5TUEVDSUZJRUQQABIWChJBUFBST1ZBTF9TQ09QRV9SVU4QARIaChZBUFBST1ZBTF9TQ09QRV9TRVNTSU9OEAISHAoYQVBQUk9WQUxfU0NPUEVfUFJJTkNJUEFMEAMqlAEKC0FwcHJvdmFsRW5kEhwKGEFQUFJPVkFMX0VORF9VTlNQRUNJRklFRBAAEhgKFEFQUFJPVkFMX0VORF9SRVZPS0VEEAESGAoUQVBQUk9WQUxfRU5EX0VYUElSRUQQAhIYChRBUFBST1ZBTF9FTkRfQ0hBTkdFRBADEhkKFUFQUFJPVkFMX0VORF9SRVNUT1JFRBAEMr0CCg9BcHByb3ZhbFNlcnZpY2USYQoOQ3JlYXRlQXBwcm92YWwSIi50b29saG9zdC52MS5DcmVhdGVBcHByb3ZhbFJlcXVlc3QaIy50b29saG9zdC52MS5DcmVhdGVBcHByb3ZhbFJlc3BvbnNlIgaSthgCBBMSYgoNTGlzdEFwcHJvdmFscxIhLnRvb2xob3N0LnYxLkxpc3RBcHByb3ZhbHNSZXF1ZXN0GiIudG9vbGhvc3QudjEuTGlzdEFwcHJvdmFsc1Jlc3BvbnNlIgqSthgGEBESAwUEEmMKDlJldm9rZUFwcHJvdmFsEiIudG9vbGhvc3QudjEuUmV2b2tlQXBwcm92YWxSZXF1ZXN0GiMudG9vbGhvc3QudjEuUmV2b2tlQXBwcm92YWxSZXNwb25zZSIIkrYYBBASAwRCPFo6Z2l0aHViLmNvbS90b29saG9zdC90b29saG9zdC9nZW4vZ28vdG9vbGhvc3QvdjE7dG9vbGhvc3R2MWIGcHJvdG8z", [file_google_protobuf_timestamp, file_toolhost_tool_v1_principal, file_toolhost_tool_v1_right]);
/**
 * Describes the message toolhost.v1.ArgumentPattern.
 * Use `create(ArgumentPatternSchema)` to create a new message.
 */
export const ArgumentPatternSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_approval_service, 0);
/**
 * Describes the message toolhost.v1.CreateApprovalRequest.
 * Use `create(CreateApprovalRequestSchema)` to create a new message.
 */
export const CreateApprovalRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_approval_service, 1);
/**
 * Describes the message toolhost.v1.CreateApprovalResponse.
 * Use `create(CreateApprovalResponseSchema)` to create a new message.
 */
export const CreateApprovalResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_approval_service, 2);
/**
 * Describes the message toolhost.v1.StandingApproval.
 * Use `create(StandingApprovalSchema)` to create a new message.
 */
export const StandingApprovalSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_approval_service, 3);
/**
 * Describes the message toolhost.v1.ListApprovalsRequest.
 * Use `create(ListApprovalsRequestSchema)` to create a new message.
 */
export const ListApprovalsRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_approval_service, 4);
/**
 * Describes the message toolhost.v1.ListApprovalsResponse.
 * Use `create(ListApprovalsResponseSchema)` to create a new message.
 */
export const ListApprovalsResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_approval_service, 5);
/**
 * Describes the message toolhost.v1.RevokeApprovalRequest.
 * Use `create(RevokeApprovalRequestSchema)` to create a new message.
 */
export const RevokeApprovalRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_approval_service, 6);
/**
 * Describes the message toolhost.v1.RevokeApprovalResponse.
 * Use `create(RevokeApprovalResponseSchema)` to create a new message.
 */
export const RevokeApprovalResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_approval_service, 7);
/**
 * ApprovalScope says for which calls a standing approval is valid, besides its tool, principal,
 * agent and delegate.
 *
 * @generated from enum toolhost.v1.ApprovalScope
 */
export var ApprovalScope;
(function (ApprovalScope) {
    /**
     * Not set. INVALID_ARGUMENT.
     *
     * @generated from enum value: APPROVAL_SCOPE_UNSPECIFIED = 0;
     */
    ApprovalScope[ApprovalScope["UNSPECIFIED"] = 0] = "UNSPECIFIED";
    /**
     * The calls of one run. Its sub-runs are other runs.
     *
     * @generated from enum value: APPROVAL_SCOPE_RUN = 1;
     */
    ApprovalScope[ApprovalScope["RUN"] = 1] = "RUN";
    /**
     * The calls of one session, which must have a name: the default session of a principal never ends.
     *
     * @generated from enum value: APPROVAL_SCOPE_SESSION = 2;
     */
    ApprovalScope[ApprovalScope["SESSION"] = 2] = "SESSION";
    /**
     * All calls until the expiry, which must be set.
     *
     * @generated from enum value: APPROVAL_SCOPE_PRINCIPAL = 3;
     */
    ApprovalScope[ApprovalScope["PRINCIPAL"] = 3] = "PRINCIPAL";
})(ApprovalScope || (ApprovalScope = {}));
/**
 * Describes the enum toolhost.v1.ApprovalScope.
 */
export const ApprovalScopeSchema = /*@__PURE__*/ enumDesc(file_toolhost_v1_approval_service, 0);
/**
 * ApprovalEnd says why a standing approval ended.
 *
 * @generated from enum toolhost.v1.ApprovalEnd
 */
export var ApprovalEnd;
(function (ApprovalEnd) {
    /**
     * It is in force.
     *
     * @generated from enum value: APPROVAL_END_UNSPECIFIED = 0;
     */
    ApprovalEnd[ApprovalEnd["UNSPECIFIED"] = 0] = "UNSPECIFIED";
    /**
     * A caller revoked it.
     *
     * @generated from enum value: APPROVAL_END_REVOKED = 1;
     */
    ApprovalEnd[ApprovalEnd["REVOKED"] = 1] = "REVOKED";
    /**
     * Its time is over.
     *
     * @generated from enum value: APPROVAL_END_EXPIRED = 2;
     */
    ApprovalEnd[ApprovalEnd["EXPIRED"] = 2] = "EXPIRED";
    /**
     * The definition of the tool, its plugin, the operator's trust in the plugin or the rule of the
     * policy changed.
     *
     * @generated from enum value: APPROVAL_END_CHANGED = 3;
     */
    ApprovalEnd[ApprovalEnd["CHANGED"] = 3] = "CHANGED";
    /**
     * The ledger of calls was restored or replaced.
     *
     * @generated from enum value: APPROVAL_END_RESTORED = 4;
     */
    ApprovalEnd[ApprovalEnd["RESTORED"] = 4] = "RESTORED";
})(ApprovalEnd || (ApprovalEnd = {}));
/**
 * Describes the enum toolhost.v1.ApprovalEnd.
 */
export const ApprovalEndSchema = /*@__PURE__*/ enumDesc(file_toolhost_v1_approval_service, 1);
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
export const ApprovalService = /*@__PURE__*/ serviceDesc(file_toolhost_v1_approval_service, 0);
