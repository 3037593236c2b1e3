// The API by which people find what waits for their decision.
import { enumDesc, fileDesc, messageDesc, serviceDesc } from "@bufbuild/protobuf/codegenv2";
import { file_google_protobuf_timestamp } from "@bufbuild/protobuf/wkt";
import { file_toolhost_tool_v1_principal } from "../../tool/v1/principal_pb.js";
import { file_toolhost_tool_v1_right } from "../../tool/v1/right_pb.js";
/**
 * Describes the file toolhost/decision/v1/decision_service.proto.
 */
export const file_toolhost_decision_v1_decision_service = /*@__PURE__*/ fileDesc("Cit0b29saG9zdC9kZWNpc2lvbi92MS9kZWNpc2lvbl9zZXJ2aWNlLnByb3RvEhR0b29saG9zdC5kZWNpc2lvbi52MSKBAQoUTGlzdERlY2lzaW9uc1JlcXVlc3QSEQoJcGFnZV9zaXplGAEgASgFEhIKCnBhZ2VfdG9rZW4YAiABKAkSDwoHdGVuYW50cxgDIAMoCRIxCgxvbl9iZWhhbGZfb2YYBCABKAsyGy50b29saG9zdC50b29sLnYxLlByaW5jaXBhbCJ4ChVMaXN0RGVjaXNpb25zUmVzcG9uc2USMQoJZGVjaXNpb25zGAEgAygLMh4udG9vbGhvc3QuZGVjaXNpb24udjEuRGVjaXNpb24SFwoPbmV4dF9wYWdlX3Rva2VuGAIgASgJEhMKC3VuYXZhaWxhYmxlGAMgAygJIkEKGExpc3RNYWRlRGVjaXNpb25zUmVxdWVzdBIRCglwYWdlX3NpemUYASABKAUSEgoKcGFnZV90b2tlbhgCIAEoCSJnChlMaXN0TWFkZURlY2lzaW9uc1Jlc3BvbnNlEjEKCWRlY2lzaW9ucxgBIAMoCzIeLnRvb2xob3N0LmRlY2lzaW9uLnYxLkRlY2lzaW9uEhcKD25leHRfcGFnZV90b2tlbhgCIAEoCSJVChJHZXREZWNpc2lvblJlcXVlc3QSDAoEbmFtZRgBIAEoCRIxCgxvbl9iZWhhbGZfb2YYAiABKAsyGy50b29saG9zdC50b29sLnYxLlByaW5jaXBhbCJHChNHZXREZWNpc2lvblJlc3BvbnNlEjAKCGRlY2lzaW9uGAEgASgLMh4udG9vbGhvc3QuZGVjaXNpb24udjEuRGVjaXNpb24ibQoVV2F0Y2hEZWNpc2lvbnNSZXF1ZXN0Eg8KB3RlbmFudHMYASADKAkSEAoIcG9zaXRpb24YAiABKAkSMQoMb25fYmVoYWxmX29mGAMgASgLMhsudG9vbGhvc3QudG9vbC52MS5QcmluY2lwYWwipQEKFldhdGNoRGVjaXNpb25zUmVzcG9uc2USDwoHcmVzdGFydBgBIAEoCBIOCgZzb3VyY2UYAiABKAkSMQoJZGVjaXNpb25zGAMgAygLMh4udG9vbGhvc3QuZGVjaXNpb24udjEuRGVjaXNpb24SEAoIY29tcGxldGUYBCABKAgSEAoIcG9zaXRpb24YBSABKAkSEwoLdW5hdmFpbGFibGUYBiADKAki3AEKDURlY2lkZVJlcXVlc3QSDAoEbmFtZRgBIAEoCRIMCgRldGFnGAIgASgJEi4KB3ZlcmRpY3QYAyABKA4yHS50b29saG9zdC5kZWNpc2lvbi52MS5WZXJkaWN0EgwKBHRleHQYBCABKAkSEQoJYXJndW1lbnRzGAUgASgMEhIKCnJlcXVlc3RfaWQYBiABKAkSFwoPZGVjaWRlZF9ieV9uYW1lGAcgASgJEjEKDG9uX2JlaGFsZl9vZhgIIAEoCzIbLnRvb2xob3N0LnRvb2wudjEuUHJpbmNpcGFsIkIKDkRlY2lkZVJlc3BvbnNlEjAKCGRlY2lzaW9uGAEgASgLMh4udG9vbGhvc3QuZGVjaXNpb24udjEuRGVjaXNpb24iiQEKFUV4dGVuZERlY2lzaW9uUmVxdWVzdBIMCgRuYW1lGAEgASgJEi8KC2V4cGlyZV90aW1lGAIgASgLMhouZ29vZ2xlLnByb3RvYnVmLlRpbWVzdGFtcBIxCgxvbl9iZWhhbGZfb2YYAyABKAsyGy50b29saG9zdC50b29sLnYxLlByaW5jaXBhbCJKChZFeHRlbmREZWNpc2lvblJlc3BvbnNlEjAKCGRlY2lzaW9uGAEgASgLMh4udG9vbGhvc3QuZGVjaXNpb24udjEuRGVjaXNpb24ijgYKCERlY2lzaW9uEgwKBG5hbWUYASABKAkSMAoEa2luZBgCIAEoDjIiLnRvb2xob3N0LmRlY2lzaW9uLnYxLkRlY2lzaW9uS2luZBIyCgVzdGF0ZRgDIAEoDjIjLnRvb2xob3N0LmRlY2lzaW9uLnYxLkRlY2lzaW9uU3RhdGUSDgoGcnVuX2lkGAQgASgJEhMKC2RlY2lzaW9uX2lkGAUgASgJEhUKDXBhcmVudF9ydW5faWQYBiABKAkSDgoGdGVuYW50GAcgASgJEhEKCXByaW5jaXBhbBgIIAEoCRIPCgdjYWxsX2lkGAkgASgJEgwKBHRvb2wYCiABKAkSFAoMZGlzcGxheV9uYW1lGAsgASgJEg4KBnBsdWdpbhgMIAEoCRIRCglhcmd1bWVudHMYDSABKAkSDgoGcmVhc29uGA4gASgJEg8KB29wdGlvbnMYDyADKAkSDAoEcnVsZRgQIAEoCRIRCglmb3VyX2V5ZXMYESABKAgSDgoGc2NoZW1hGBIgASgJEgwKBGRpZmYYEyABKAkSCwoDY3V0GBQgASgIEjAKDHJlcXVlc3RfdGltZRgVIAEoCzIaLmdvb2dsZS5wcm90b2J1Zi5UaW1lc3RhbXASLwoLZXhwaXJlX3RpbWUYFiABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wEhMKC25vdF9hbGxvd2VkGBcgASgJEi4KB3ZlcmRpY3QYGCABKA4yHS50b29saG9zdC5kZWNpc2lvbi52MS5WZXJkaWN0Ei8KC2RlY2lkZV90aW1lGBkgASgLMhouZ29vZ2xlLnByb3RvYnVmLlRpbWVzdGFtcBISCgpkZWNpZGVkX2J5GBogASgJEhcKD2RlY2lkZWRfYnlfbmFtZRgbIAEoCRIMCgR0ZXh0GBwgASgJEgwKBGV0YWcYHSABKAkSFwoPYXBwcm92ZXJfZ3JvdXBzGB4gAygJEg0KBWFnZW50GB8gASgJEg8KB3Nlc3Npb24YICABKAkSDwoHY29udGV4dBghIAEoCSqxAQoMRGVjaXNpb25LaW5kEh0KGURFQ0lTSU9OX0tJTkRfVU5TUEVDSUZJRUQQABIaChZERUNJU0lPTl9LSU5EX0FQUFJPVkFMEAESGgoWREVDSVNJT05fS0lORF9RVUVTVElPThACEhkKFURFQ0lTSU9OX0tJTkRfT1VUQ09NRRADEhcKE0RFQ0lTSU9OX0tJTkRfUEFVU0UQBBIWChJERUNJU0lPTl9LSU5EX1RPT0wQBSqCAQoNRGVjaXNpb25TdGF0ZRIeChpERUNJU0lPTl9TVEFURV9VTlNQRUNJRklFRBAAEhoKFkRFQ0lTSU9OX1NUQVRFX1dBSVRJTkcQARIXChNERUNJU0lPTl9TVEFURV9NQURFEAISHAoYREVDSVNJT05fU1RBVEVfV0lUSERSQVdOEAMqdAoHVmVyZGljdBIXChNWRVJESUNUX1VOU1BFQ0lGSUVEEAASEwoPVkVSRElDVF9BUFBST1ZFEAESEgoOVkVSRElDVF9SRUpFQ1QQAhISCg5WRVJESUNUX0FOU1dFUhADEhMKD1ZFUkRJQ1RfRVhQSVJFRBAEMscFCg9EZWNpc2lvblNlcnZpY2USdAoNTGlzdERlY2lzaW9ucxIqLnRvb2xob3N0LmRlY2lzaW9uLnYxLkxpc3REZWNpc2lvbnNSZXF1ZXN0GisudG9vbGhvc3QuZGVjaXNpb24udjEuTGlzdERlY2lzaW9uc1Jlc3BvbnNlIgqSthgGEBESAwUEEm4KC0dldERlY2lzaW9uEigudG9vbGhvc3QuZGVjaXNpb24udjEuR2V0RGVjaXNpb25SZXF1ZXN0GikudG9vbGhvc3QuZGVjaXNpb24udjEuR2V0RGVjaXNpb25SZXNwb25zZSIKkrYYBhAREgMFBBJ9ChFMaXN0TWFkZURlY2lzaW9ucxIuLnRvb2xob3N0LmRlY2lzaW9uLnYxLkxpc3RNYWRlRGVjaXNpb25zUmVxdWVzdBovLnRvb2xob3N0LmRlY2lzaW9uLnYxLkxpc3RNYWRlRGVjaXNpb25zUmVzcG9uc2UiB5K2GAMQERISeQoOV2F0Y2hEZWNpc2lvbnMSKy50b29saG9zdC5kZWNpc2lvbi52MS5XYXRjaERlY2lzaW9uc1JlcXVlc3QaLC50b29saG9zdC5kZWNpc2lvbi52MS5XYXRjaERlY2lzaW9uc1Jlc3BvbnNlIgqSthgGEBESAwUEMAESXQoGRGVjaWRlEiMudG9vbGhvc3QuZGVjaXNpb24udjEuRGVjaWRlUmVxdWVzdBokLnRvb2xob3N0LmRlY2lzaW9uLnYxLkRlY2lkZVJlc3BvbnNlIgiSthgEEBIDBBJ1Cg5FeHRlbmREZWNpc2lvbhIrLnRvb2xob3N0LmRlY2lzaW9uLnYxLkV4dGVuZERlY2lzaW9uUmVxdWVzdBosLnRvb2xob3N0LmRlY2lzaW9uLnYxLkV4dGVuZERlY2lzaW9uUmVzcG9uc2UiCJK2GAQQEgMEQkVaQ2dpdGh1Yi5jb20vdG9vbGhvc3QvdG9vbGhvc3QvZ2VuL2dvL3Rvb2xob3N0L2RlY2lzaW9uL3YxO2RlY2lzaW9udjFiBnByb3RvMw", [file_google_protobuf_timestamp, file_toolhost_tool_v1_principal, file_toolhost_tool_v1_right]);
/**
 * Describes the message toolhost.decision.v1.ListDecisionsRequest.
 * Use `create(ListDecisionsRequestSchema)` to create a new message.
 */
export const ListDecisionsRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_decision_v1_decision_service, 0);
/**
 * Describes the message toolhost.decision.v1.ListDecisionsResponse.
 * Use `create(ListDecisionsResponseSchema)` to create a new message.
 */
export const ListDecisionsResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_decision_v1_decision_service, 1);
/**
 * Describes the message toolhost.decision.v1.ListMadeDecisionsRequest.
 * Use `create(ListMadeDecisionsRequestSchema)` to create a new message.
 */
export const ListMadeDecisionsRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_decision_v1_decision_service, 2);
/**
 * Describes the message toolhost.decision.v1.ListMadeDecisionsResponse.
 * Use `create(ListMadeDecisionsResponseSchema)` to create a new message.
 */
export const ListMadeDecisionsResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_decision_v1_decision_service, 3);
/**
 * Describes the message toolhost.decision.v1.GetDecisionRequest.
 * Use `create(GetDecisionRequestSchema)` to create a new message.
 */
export const GetDecisionRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_decision_v1_decision_service, 4);
/**
 * Describes the message toolhost.decision.v1.GetDecisionResponse.
 * Use `create(GetDecisionResponseSchema)` to create a new message.
 */
export const GetDecisionResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_decision_v1_decision_service, 5);
/**
 * Describes the message toolhost.decision.v1.WatchDecisionsRequest.
 * Use `create(WatchDecisionsRequestSchema)` to create a new message.
 */
export const WatchDecisionsRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_decision_v1_decision_service, 6);
/**
 * Describes the message toolhost.decision.v1.WatchDecisionsResponse.
 * Use `create(WatchDecisionsResponseSchema)` to create a new message.
 */
export const WatchDecisionsResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_decision_v1_decision_service, 7);
/**
 * Describes the message toolhost.decision.v1.DecideRequest.
 * Use `create(DecideRequestSchema)` to create a new message.
 */
export const DecideRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_decision_v1_decision_service, 8);
/**
 * Describes the message toolhost.decision.v1.DecideResponse.
 * Use `create(DecideResponseSchema)` to create a new message.
 */
export const DecideResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_decision_v1_decision_service, 9);
/**
 * Describes the message toolhost.decision.v1.ExtendDecisionRequest.
 * Use `create(ExtendDecisionRequestSchema)` to create a new message.
 */
export const ExtendDecisionRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_decision_v1_decision_service, 10);
/**
 * Describes the message toolhost.decision.v1.ExtendDecisionResponse.
 * Use `create(ExtendDecisionResponseSchema)` to create a new message.
 */
export const ExtendDecisionResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_decision_v1_decision_service, 11);
/**
 * Describes the message toolhost.decision.v1.Decision.
 * Use `create(DecisionSchema)` to create a new message.
 */
export const DecisionSchema = /*@__PURE__*/ messageDesc(file_toolhost_decision_v1_decision_service, 12);
/**
 * DecisionKind says what has to be decided.
 *
 * @generated from enum toolhost.decision.v1.DecisionKind
 */
export var DecisionKind;
(function (DecisionKind) {
    /**
     * Not set.
     *
     * @generated from enum value: DECISION_KIND_UNSPECIFIED = 0;
     */
    DecisionKind[DecisionKind["UNSPECIFIED"] = 0] = "UNSPECIFIED";
    /**
     * Whether a call may be executed.
     *
     * @generated from enum value: DECISION_KIND_APPROVAL = 1;
     */
    DecisionKind[DecisionKind["APPROVAL"] = 1] = "APPROVAL";
    /**
     * A question of the model.
     *
     * @generated from enum value: DECISION_KIND_QUESTION = 2;
     */
    DecisionKind[DecisionKind["QUESTION"] = 2] = "QUESTION";
    /**
     * How to continue after a call with an unknown outcome.
     *
     * @generated from enum value: DECISION_KIND_OUTCOME = 3;
     */
    DecisionKind[DecisionKind["OUTCOME"] = 3] = "OUTCOME";
    /**
     * Whether a paused run continues.
     *
     * @generated from enum value: DECISION_KIND_PAUSE = 4;
     */
    DecisionKind[DecisionKind["PAUSE"] = 4] = "PAUSE";
    /**
     * A question of the tool of a running call.
     *
     * @generated from enum value: DECISION_KIND_TOOL = 5;
     */
    DecisionKind[DecisionKind["TOOL"] = 5] = "TOOL";
})(DecisionKind || (DecisionKind = {}));
/**
 * Describes the enum toolhost.decision.v1.DecisionKind.
 */
export const DecisionKindSchema = /*@__PURE__*/ enumDesc(file_toolhost_decision_v1_decision_service, 0);
/**
 * DecisionState says whether a decision waits.
 *
 * @generated from enum toolhost.decision.v1.DecisionState
 */
export var DecisionState;
(function (DecisionState) {
    /**
     * Not set.
     *
     * @generated from enum value: DECISION_STATE_UNSPECIFIED = 0;
     */
    DecisionState[DecisionState["UNSPECIFIED"] = 0] = "UNSPECIFIED";
    /**
     * It waits for a person.
     *
     * @generated from enum value: DECISION_STATE_WAITING = 1;
     */
    DecisionState[DecisionState["WAITING"] = 1] = "WAITING";
    /**
     * It was made, or it has expired: `verdict` says which.
     *
     * @generated from enum value: DECISION_STATE_MADE = 2;
     */
    DecisionState[DecisionState["MADE"] = 2] = "MADE";
    /**
     * It is not wanted any more, such as because its run was cancelled.
     *
     * @generated from enum value: DECISION_STATE_WITHDRAWN = 3;
     */
    DecisionState[DecisionState["WITHDRAWN"] = 3] = "WITHDRAWN";
})(DecisionState || (DecisionState = {}));
/**
 * Describes the enum toolhost.decision.v1.DecisionState.
 */
export const DecisionStateSchema = /*@__PURE__*/ enumDesc(file_toolhost_decision_v1_decision_service, 1);
/**
 * Verdict is the content of a decision.
 *
 * @generated from enum toolhost.decision.v1.Verdict
 */
export var Verdict;
(function (Verdict) {
    /**
     * Not set.
     *
     * @generated from enum value: VERDICT_UNSPECIFIED = 0;
     */
    Verdict[Verdict["UNSPECIFIED"] = 0] = "UNSPECIFIED";
    /**
     * Approved.
     *
     * @generated from enum value: VERDICT_APPROVE = 1;
     */
    Verdict[Verdict["APPROVE"] = 1] = "APPROVE";
    /**
     * Rejected.
     *
     * @generated from enum value: VERDICT_REJECT = 2;
     */
    Verdict[Verdict["REJECT"] = 2] = "REJECT";
    /**
     * Answered.
     *
     * @generated from enum value: VERDICT_ANSWER = 3;
     */
    Verdict[Verdict["ANSWER"] = 3] = "ANSWER";
    /**
     * The decision expired, which counts as rejected.
     *
     * @generated from enum value: VERDICT_EXPIRED = 4;
     */
    Verdict[Verdict["EXPIRED"] = 4] = "EXPIRED";
})(Verdict || (Verdict = {}));
/**
 * Describes the enum toolhost.decision.v1.Verdict.
 */
export const VerdictSchema = /*@__PURE__*/ enumDesc(file_toolhost_decision_v1_decision_service, 2);
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
export const DecisionService = /*@__PURE__*/ serviceDesc(file_toolhost_decision_v1_decision_service, 0);
