// The API by which people find what waits for their decision.
import { enumDesc, fileDesc, messageDesc, serviceDesc } from "@bufbuild/protobuf/codegenv2";
import { file_google_protobuf_timestamp } from "@bufbuild/protobuf/wkt";
import { file_toolhost_tool_v1_principal } from "../../tool/v1/principal_pb.js";
import { file_toolhost_tool_v1_right } from "../../tool/v1/right_pb.js";
/**
 * Describes the file toolhost/decision/v1/decision_service.proto.
 */
export const file_toolhost_decision_v1_decision_service = /*@__PURE__*/ fileDesc("Cit0b29saG9zdC9kZWNpc2lvbi92MS9kZWNpc2lvbl9zZXJ2aWNlLnByb3RvEhR0b29saG9zdC5kZWNpc2lvbi52MSKBAQoUTGlzdERlY2lzaW9uc1JlcXVlc3QSEQoJcGFnZV9zaXplGAEgASgFEhIKCnBhZ2VfdG9rZW4YAiABKAkSDwoHdGVuYW50cxgDIAMoCRIxCgxvbl9iZWhhbGZfb2YYBCABKAsyGy50b29saG9zdC50b29sLnYxLlByaW5jaXBhbCKKAQoVTGlzdERlY2lzaW9uc1Jlc3BvbnNlEjEKCWRlY2lzaW9ucxgBIAMoCzIeLnRvb2xob3N0LmRlY2lzaW9uLnYxLkRlY2lzaW9uEhcKD25leHRfcGFnZV90b2tlbhgCIAEoCRITCgt1bmF2YWlsYWJsZRgDIAMoCRIQCghwb3NpdGlvbhgEIAEoCSJBChhMaXN0TWFkZURlY2lzaW9uc1JlcXVlc3QSEQoJcGFnZV9zaXplGAEgASgFEhIKCnBhZ2VfdG9rZW4YAiABKAkiZwoZTGlzdE1hZGVEZWNpc2lvbnNSZXNwb25zZRIxCglkZWNpc2lvbnMYASADKAsyHi50b29saG9zdC5kZWNpc2lvbi52MS5EZWNpc2lvbhIXCg9uZXh0X3BhZ2VfdG9rZW4YAiABKAkiVQoSR2V0RGVjaXNpb25SZXF1ZXN0EgwKBG5hbWUYASABKAkSMQoMb25fYmVoYWxmX29mGAIgASgLMhsudG9vbGhvc3QudG9vbC52MS5QcmluY2lwYWwiRwoTR2V0RGVjaXNpb25SZXNwb25zZRIwCghkZWNpc2lvbhgBIAEoCzIeLnRvb2xob3N0LmRlY2lzaW9uLnYxLkRlY2lzaW9uIm0KFVdhdGNoRGVjaXNpb25zUmVxdWVzdBIPCgd0ZW5hbnRzGAEgAygJEhAKCHBvc2l0aW9uGAIgASgJEjEKDG9uX2JlaGFsZl9vZhgDIAEoCzIbLnRvb2xob3N0LnRvb2wudjEuUHJpbmNpcGFsIqUBChZXYXRjaERlY2lzaW9uc1Jlc3BvbnNlEg8KB3Jlc3RhcnQYASABKAgSDgoGc291cmNlGAIgASgJEjEKCWRlY2lzaW9ucxgDIAMoCzIeLnRvb2xob3N0LmRlY2lzaW9uLnYxLkRlY2lzaW9uEhAKCGNvbXBsZXRlGAQgASgIEhAKCHBvc2l0aW9uGAUgASgJEhMKC3VuYXZhaWxhYmxlGAYgAygJItwBCg1EZWNpZGVSZXF1ZXN0EgwKBG5hbWUYASABKAkSDAoEZXRhZxgCIAEoCRIuCgd2ZXJkaWN0GAMgASgOMh0udG9vbGhvc3QuZGVjaXNpb24udjEuVmVyZGljdBIMCgR0ZXh0GAQgASgJEhEKCWFyZ3VtZW50cxgFIAEoDBISCgpyZXF1ZXN0X2lkGAYgASgJEhcKD2RlY2lkZWRfYnlfbmFtZRgHIAEoCRIxCgxvbl9iZWhhbGZfb2YYCCABKAsyGy50b29saG9zdC50b29sLnYxLlByaW5jaXBhbCJCCg5EZWNpZGVSZXNwb25zZRIwCghkZWNpc2lvbhgBIAEoCzIeLnRvb2xob3N0LmRlY2lzaW9uLnYxLkRlY2lzaW9uIokBChVFeHRlbmREZWNpc2lvblJlcXVlc3QSDAoEbmFtZRgBIAEoCRIvCgtleHBpcmVfdGltZRgCIAEoCzIaLmdvb2dsZS5wcm90b2J1Zi5UaW1lc3RhbXASMQoMb25fYmVoYWxmX29mGAMgASgLMhsudG9vbGhvc3QudG9vbC52MS5QcmluY2lwYWwiSgoWRXh0ZW5kRGVjaXNpb25SZXNwb25zZRIwCghkZWNpc2lvbhgBIAEoCzIeLnRvb2xob3N0LmRlY2lzaW9uLnYxLkRlY2lzaW9uIo4GCghEZWNpc2lvbhIMCgRuYW1lGAEgASgJEjAKBGtpbmQYAiABKA4yIi50b29saG9zdC5kZWNpc2lvbi52MS5EZWNpc2lvbktpbmQSMgoFc3RhdGUYAyABKA4yIy50b29saG9zdC5kZWNpc2lvbi52MS5EZWNpc2lvblN0YXRlEg4KBnJ1bl9pZBgEIAEoCRITCgtkZWNpc2lvbl9pZBgFIAEoCRIVCg1wYXJlbnRfcnVuX2lkGAYgASgJEg4KBnRlbmFudBgHIAEoCRIRCglwcmluY2lwYWwYCCABKAkSDwoHY2FsbF9pZBgJIAEoCRIMCgR0b29sGAogASgJEhQKDGRpc3BsYXlfbmFtZRgLIAEoCRIOCgZwbHVnaW4YDCABKAkSEQoJYXJndW1lbnRzGA0gASgJEg4KBnJlYXNvbhgOIAEoCRIPCgdvcHRpb25zGA8gAygJEgwKBHJ1bGUYECABKAkSEQoJZm91cl9leWVzGBEgASgIEg4KBnNjaGVtYRgSIAEoCRIMCgRkaWZmGBMgASgJEgsKA2N1dBgUIAEoCBIwCgxyZXF1ZXN0X3RpbWUYFSABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wEi8KC2V4cGlyZV90aW1lGBYgASgLMhouZ29vZ2xlLnByb3RvYnVmLlRpbWVzdGFtcBITCgtub3RfYWxsb3dlZBgXIAEoCRIuCgd2ZXJkaWN0GBggASgOMh0udG9vbGhvc3QuZGVjaXNpb24udjEuVmVyZGljdBIvCgtkZWNpZGVfdGltZRgZIAEoCzIaLmdvb2dsZS5wcm90b2J1Zi5UaW1lc3RhbXASEgoKZGVjaWRlZF9ieRgaIAEoCRIXCg9kZWNpZGVkX2J5X25hbWUYGyABKAkSDAoEdGV4dBgcIAEoCRIMCgRldGFnGB0gASgJEhcKD2FwcHJvdmVyX2dyb3VwcxgeIAMoCRINCgVhZ2VudBgfIAEoCRIPCgdzZXNzaW9uGCAgASgJEg8KB2NvbnRleHQYISABKAkqsQEKDERlY2lzaW9uS2luZBIdChlERUNJU0lPTl9LSU5EX1VOU1BFQ0lGSUVEEAASGgoWREVDSVNJT05fS0lORF9BUFBST1ZBTBABEhoKFkRFQ0lTSU9OX0tJTkRfUVVFU1RJT04QAhIZChVERUNJU0lPTl9LSU5EX09VVENPTUUQAxIXChNERUNJU0lPTl9LSU5EX1BBVVNFEAQSFgoSREVDSVNJT05fS0lORF9UT09MEAUqggEKDURlY2lzaW9uU3RhdGUSHgoaREVDSVNJT05fU1RBVEVfVU5TUEVDSUZJRUQQABIaChZERUNJU0lPTl9TVEFURV9XQUlUSU5HEAESFwoTREVDSVNJT05fU1RBVEVfTUFERRACEhwKGERFQ0lTSU9OX1NUQVRFX1dJVEhEUkFXThADKnQKB1ZlcmRpY3QSFwoTVkVSRElDVF9VTlNQRUNJRklFRBAAEhMKD1ZFUkRJQ1RfQVBQUk9WRRABEhIKDlZFUkRJQ1RfUkVKRUNUEAISEgoOVkVSRElDVF9BTlNXRVIQAxITCg9WRVJESUNUX0VYUElSRUQQBDLHBQoPRGVjaXNpb25TZXJ2aWNlEnQKDUxpc3REZWNpc2lvbnMSKi50b29saG9zdC5kZWNpc2lvbi52MS5MaXN0RGVjaXNpb25zUmVxdWVzdBorLnRvb2xob3N0LmRlY2lzaW9uLnYxLkxpc3REZWNpc2lvbnNSZXNwb25zZSIKkrYYBhAREgMFBBJuCgtHZXREZWNpc2lvbhIoLnRvb2xob3N0LmRlY2lzaW9uLnYxLkdldERlY2lzaW9uUmVxdWVzdBopLnRvb2xob3N0LmRlY2lzaW9uLnYxLkdldERlY2lzaW9uUmVzcG9uc2UiCpK2GAYQERIDBQQSfQoRTGlzdE1hZGVEZWNpc2lvbnMSLi50b29saG9zdC5kZWNpc2lvbi52MS5MaXN0TWFkZURlY2lzaW9uc1JlcXVlc3QaLy50b29saG9zdC5kZWNpc2lvbi52MS5MaXN0TWFkZURlY2lzaW9uc1Jlc3BvbnNlIgeSthgDEBESEnkKDldhdGNoRGVjaXNpb25zEisudG9vbGhvc3QuZGVjaXNpb24udjEuV2F0Y2hEZWNpc2lvbnNSZXF1ZXN0GiwudG9vbGhvc3QuZGVjaXNpb24udjEuV2F0Y2hEZWNpc2lvbnNSZXNwb25zZSIKkrYYBhAREgMFBDABEl0KBkRlY2lkZRIjLnRvb2xob3N0LmRlY2lzaW9uLnYxLkRlY2lkZVJlcXVlc3QaJC50b29saG9zdC5kZWNpc2lvbi52MS5EZWNpZGVSZXNwb25zZSIIkrYYBBASAwQSdQoORXh0ZW5kRGVjaXNpb24SKy50b29saG9zdC5kZWNpc2lvbi52MS5FeHRlbmREZWNpc2lvblJlcXVlc3QaLC50b29saG9zdC5kZWNpc2lvbi52MS5FeHRlbmREZWNpc2lvblJlc3BvbnNlIgiSthgEEBIDBEJFWkNnaXRodWIuY29tL3Rvb2xob3N0L3Rvb2xob3N0L2dlbi9nby90b29saG9zdC9kZWNpc2lvbi92MTtkZWNpc2lvbnYxYgZwcm90bzM", [file_google_protobuf_timestamp, file_toolhost_tool_v1_principal, file_toolhost_tool_v1_right]);
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
