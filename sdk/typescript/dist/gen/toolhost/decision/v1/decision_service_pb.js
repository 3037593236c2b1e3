// The API by which people find what waits for their decision.
import { enumDesc, fileDesc, messageDesc, serviceDesc } from "@bufbuild/protobuf/codegenv2";
import { file_google_protobuf_timestamp } from "@bufbuild/protobuf/wkt";
import { file_toolhost_tool_v1_principal } from "../../tool/v1/principal_pb.js";
import { file_toolhost_tool_v1_right } from "../../tool/v1/right_pb.js";
/**
 * Describes the file toolhost/decision/v1/decision_service.proto.
 */
export const file_toolhost_decision_v1_decision_service = /*@__PURE__*/ fileDesc("Cit0b29saG9zdC9kZWNpc2lvbi92MS9kZWNpc2lvbl9zZXJ2aWNlLnByb3RvEhR0b29saG9zdC5kZWNpc2lvbi52MSKBAQoUTGlzdERlY2lzaW9uc1JlcXVlc3QSEQoJcGFnZV9zaXplGAEgASgFEhIKCnBhZ2VfdG9rZW4YAiABKAkSDwoHdGVuYW50cxgDIAMoCRIxCgxvbl9iZWhhbGZfb2YYBCABKAsyGy50b29saG9zdC50b29sLnYxLlByaW5jaXBhbCJ4ChVMaXN0RGVjaXNpb25zUmVzcG9uc2USMQoJZGVjaXNpb25zGAEgAygLMh4udG9vbGhvc3QuZGVjaXNpb24udjEuRGVjaXNpb24SFwoPbmV4dF9wYWdlX3Rva2VuGAIgASgJEhMKC3VuYXZhaWxhYmxlGAMgAygJIlUKEkdldERlY2lzaW9uUmVxdWVzdBIMCgRuYW1lGAEgASgJEjEKDG9uX2JlaGFsZl9vZhgCIAEoCzIbLnRvb2xob3N0LnRvb2wudjEuUHJpbmNpcGFsIkcKE0dldERlY2lzaW9uUmVzcG9uc2USMAoIZGVjaXNpb24YASABKAsyHi50b29saG9zdC5kZWNpc2lvbi52MS5EZWNpc2lvbiJtChVXYXRjaERlY2lzaW9uc1JlcXVlc3QSDwoHdGVuYW50cxgBIAMoCRIQCghwb3NpdGlvbhgCIAEoCRIxCgxvbl9iZWhhbGZfb2YYAyABKAsyGy50b29saG9zdC50b29sLnYxLlByaW5jaXBhbCKlAQoWV2F0Y2hEZWNpc2lvbnNSZXNwb25zZRIPCgdyZXN0YXJ0GAEgASgIEg4KBnNvdXJjZRgCIAEoCRIxCglkZWNpc2lvbnMYAyADKAsyHi50b29saG9zdC5kZWNpc2lvbi52MS5EZWNpc2lvbhIQCghjb21wbGV0ZRgEIAEoCBIQCghwb3NpdGlvbhgFIAEoCRITCgt1bmF2YWlsYWJsZRgGIAMoCSLcAQoNRGVjaWRlUmVxdWVzdBIMCgRuYW1lGAEgASgJEgwKBGV0YWcYAiABKAkSLgoHdmVyZGljdBgDIAEoDjIdLnRvb2xob3N0LmRlY2lzaW9uLnYxLlZlcmRpY3QSDAoEdGV4dBgEIAEoCRIRCglhcmd1bWVudHMYBSABKAwSEgoKcmVxdWVzdF9pZBgGIAEoCRIXCg9kZWNpZGVkX2J5X25hbWUYByABKAkSMQoMb25fYmVoYWxmX29mGAggASgLMhsudG9vbGhvc3QudG9vbC52MS5QcmluY2lwYWwiQgoORGVjaWRlUmVzcG9uc2USMAoIZGVjaXNpb24YASABKAsyHi50b29saG9zdC5kZWNpc2lvbi52MS5EZWNpc2lvbiKOBgoIRGVjaXNpb24SDAoEbmFtZRgBIAEoCRIwCgRraW5kGAIgASgOMiIudG9vbGhvc3QuZGVjaXNpb24udjEuRGVjaXNpb25LaW5kEjIKBXN0YXRlGAMgASgOMiMudG9vbGhvc3QuZGVjaXNpb24udjEuRGVjaXNpb25TdGF0ZRIOCgZydW5faWQYBCABKAkSEwoLZGVjaXNpb25faWQYBSABKAkSFQoNcGFyZW50X3J1bl9pZBgGIAEoCRIOCgZ0ZW5hbnQYByABKAkSEQoJcHJpbmNpcGFsGAggASgJEg8KB2NhbGxfaWQYCSABKAkSDAoEdG9vbBgKIAEoCRIUCgxkaXNwbGF5X25hbWUYCyABKAkSDgoGcGx1Z2luGAwgASgJEhEKCWFyZ3VtZW50cxgNIAEoCRIOCgZyZWFzb24YDiABKAkSDwoHb3B0aW9ucxgPIAMoCRIMCgRydWxlGBAgASgJEhEKCWZvdXJfZXllcxgRIAEoCBIOCgZzY2hlbWEYEiABKAkSDAoEZGlmZhgTIAEoCRILCgNjdXQYFCABKAgSMAoMcmVxdWVzdF90aW1lGBUgASgLMhouZ29vZ2xlLnByb3RvYnVmLlRpbWVzdGFtcBIvCgtleHBpcmVfdGltZRgWIAEoCzIaLmdvb2dsZS5wcm90b2J1Zi5UaW1lc3RhbXASEwoLbm90X2FsbG93ZWQYFyABKAkSLgoHdmVyZGljdBgYIAEoDjIdLnRvb2xob3N0LmRlY2lzaW9uLnYxLlZlcmRpY3QSLwoLZGVjaWRlX3RpbWUYGSABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wEhIKCmRlY2lkZWRfYnkYGiABKAkSFwoPZGVjaWRlZF9ieV9uYW1lGBsgASgJEgwKBHRleHQYHCABKAkSDAoEZXRhZxgdIAEoCRIXCg9hcHByb3Zlcl9ncm91cHMYHiADKAkSDQoFYWdlbnQYHyABKAkSDwoHc2Vzc2lvbhggIAEoCRIPCgdjb250ZXh0GCEgASgJKrEBCgxEZWNpc2lvbktpbmQSHQoZREVDSVNJT05fS0lORF9VTlNQRUNJRklFRBAAEhoKFkRFQ0lTSU9OX0tJTkRfQVBQUk9WQUwQARIaChZERUNJU0lPTl9LSU5EX1FVRVNUSU9OEAISGQoVREVDSVNJT05fS0lORF9PVVRDT01FEAMSFwoTREVDSVNJT05fS0lORF9QQVVTRRAEEhYKEkRFQ0lTSU9OX0tJTkRfVE9PTBAFKoIBCg1EZWNpc2lvblN0YXRlEh4KGkRFQ0lTSU9OX1NUQVRFX1VOU1BFQ0lGSUVEEAASGgoWREVDSVNJT05fU1RBVEVfV0FJVElORxABEhcKE0RFQ0lTSU9OX1NUQVRFX01BREUQAhIcChhERUNJU0lPTl9TVEFURV9XSVRIRFJBV04QAyp0CgdWZXJkaWN0EhcKE1ZFUkRJQ1RfVU5TUEVDSUZJRUQQABITCg9WRVJESUNUX0FQUFJPVkUQARISCg5WRVJESUNUX1JFSkVDVBACEhIKDlZFUkRJQ1RfQU5TV0VSEAMSEwoPVkVSRElDVF9FWFBJUkVEEAQy0QMKD0RlY2lzaW9uU2VydmljZRJ0Cg1MaXN0RGVjaXNpb25zEioudG9vbGhvc3QuZGVjaXNpb24udjEuTGlzdERlY2lzaW9uc1JlcXVlc3QaKy50b29saG9zdC5kZWNpc2lvbi52MS5MaXN0RGVjaXNpb25zUmVzcG9uc2UiCpK2GAYQERIDBQQSbgoLR2V0RGVjaXNpb24SKC50b29saG9zdC5kZWNpc2lvbi52MS5HZXREZWNpc2lvblJlcXVlc3QaKS50b29saG9zdC5kZWNpc2lvbi52MS5HZXREZWNpc2lvblJlc3BvbnNlIgqSthgGEBESAwUEEnkKDldhdGNoRGVjaXNpb25zEisudG9vbGhvc3QuZGVjaXNpb24udjEuV2F0Y2hEZWNpc2lvbnNSZXF1ZXN0GiwudG9vbGhvc3QuZGVjaXNpb24udjEuV2F0Y2hEZWNpc2lvbnNSZXNwb25zZSIKkrYYBhAREgMFBDABEl0KBkRlY2lkZRIjLnRvb2xob3N0LmRlY2lzaW9uLnYxLkRlY2lkZVJlcXVlc3QaJC50b29saG9zdC5kZWNpc2lvbi52MS5EZWNpZGVSZXNwb25zZSIIkrYYBBASAwRCRVpDZ2l0aHViLmNvbS90b29saG9zdC90b29saG9zdC9nZW4vZ28vdG9vbGhvc3QvZGVjaXNpb24vdjE7ZGVjaXNpb252MWIGcHJvdG8z", [file_google_protobuf_timestamp, file_toolhost_tool_v1_principal, file_toolhost_tool_v1_right]);
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
 * Describes the message toolhost.decision.v1.GetDecisionRequest.
 * Use `create(GetDecisionRequestSchema)` to create a new message.
 */
export const GetDecisionRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_decision_v1_decision_service, 2);
/**
 * Describes the message toolhost.decision.v1.GetDecisionResponse.
 * Use `create(GetDecisionResponseSchema)` to create a new message.
 */
export const GetDecisionResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_decision_v1_decision_service, 3);
/**
 * Describes the message toolhost.decision.v1.WatchDecisionsRequest.
 * Use `create(WatchDecisionsRequestSchema)` to create a new message.
 */
export const WatchDecisionsRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_decision_v1_decision_service, 4);
/**
 * Describes the message toolhost.decision.v1.WatchDecisionsResponse.
 * Use `create(WatchDecisionsResponseSchema)` to create a new message.
 */
export const WatchDecisionsResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_decision_v1_decision_service, 5);
/**
 * Describes the message toolhost.decision.v1.DecideRequest.
 * Use `create(DecideRequestSchema)` to create a new message.
 */
export const DecideRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_decision_v1_decision_service, 6);
/**
 * Describes the message toolhost.decision.v1.DecideResponse.
 * Use `create(DecideResponseSchema)` to create a new message.
 */
export const DecideResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_decision_v1_decision_service, 7);
/**
 * Describes the message toolhost.decision.v1.Decision.
 * Use `create(DecisionSchema)` to create a new message.
 */
export const DecisionSchema = /*@__PURE__*/ messageDesc(file_toolhost_decision_v1_decision_service, 8);
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
