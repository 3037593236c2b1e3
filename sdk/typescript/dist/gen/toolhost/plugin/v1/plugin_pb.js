// The API that a plugin serves to toolhost.
//
// A plugin is an executable that serves gRPC on a unix socket, following the conventions of
// HashiCorp's go-plugin. The toolhost SDKs implement this contract. A plugin in another language
// must do the following.
//
// Start. toolhost runs the executable with empty standard input and with a new environment. The
// environment contains PATH, LANG, LC_ALL, TZ, HOME, TMPDIR (a folder for this process, which
// toolhost deletes after the process ends), and these variables:
//
//   - TOOLHOST_PLUGIN is f0c4a1f2-8c1e-4d0b-9a57-2f6f6f4b7d11. If it has another value or is not
//     set, a person has started the plugin. The plugin then prints on standard error what it is,
//     and exits with code 1.
//   - PLUGIN_PROTOCOL_VERSIONS lists the versions of this contract that toolhost supports,
//     separated by commas. The plugin uses the highest version that it supports too; this file is
//     version 1. If there is none, the plugin prints an error and exits with code 1.
//   - PLUGIN_UNIX_SOCKET_DIR is the absolute path of the folder in which the plugin creates its
//     socket. The file name may have at most 16 bytes and must not contain a folder. The socket
//     does not use TLS. The process that listens must be the one that toolhost started or a
//     descendant of it, so a launcher script ends with `exec`.
//
// Handshake. When the plugin listens, it prints one line on standard output and flushes it. It must
// not print anything on standard output before this line:
//
//	1|VERSION|unix|SOCKET|grpc
//
// The first field is the version of go-plugin's handshake, always 1. VERSION is the version of this
// contract. SOCKET is the absolute path of the socket. toolhost connects once and then removes the
// socket file. It stores every later line of standard output and standard error as the plugin's
// log.
//
// Services. The plugin serves ToolPluginService and the two services below. It may answer all other
// methods with UNIMPLEMENTED, which gRPC servers do by default: go-plugin requests plugin.GRPCStdio
// and plugin.GRPCBroker, but toolhost does not need them.
//
//   - grpc.health.v1.Health: Check of the service `plugin` returns SERVING.
//   - plugin.GRPCController: the unary method Shutdown, whose request and response have no fields,
//     makes the plugin exit. The plugin may exit without answering.
//
// Both sides accept messages of up to 4 MiB, the default of gRPC. A larger message ends the stream.
//
// End. The plugin exits with code 0 when toolhost calls Shutdown or when the stream of Connect
// ends, whichever happens first, even if calls are running; toolhost no longer reads their
// outcomes. After five seconds toolhost sends SIGTERM, and after five more seconds SIGKILL.
// toolhost does not reconnect: if the connection ends before the stream of Connect was opened, the
// plugin exits too. If toolhost itself ends before it connects, its reaper, a process that outlives
// it, kills the plugin. In addition, a plugin can exit by itself if the id of its parent process
// changes while it waits for the connection. The SDKs do this.
import { enumDesc, fileDesc, messageDesc, serviceDesc } from "@bufbuild/protobuf/codegenv2";
import { file_google_protobuf_duration } from "@bufbuild/protobuf/wkt";
import { file_toolhost_tool_v1_error } from "../../tool/v1/error_pb.js";
import { file_toolhost_tool_v1_permissions } from "../../tool/v1/permissions_pb.js";
import { file_toolhost_tool_v1_question } from "../../tool/v1/question_pb.js";
import { file_toolhost_tool_v1_result } from "../../tool/v1/result_pb.js";
import { file_toolhost_tool_v1_spec } from "../../tool/v1/spec_pb.js";
import { file_toolhost_tool_v1_status } from "../../tool/v1/status_pb.js";
import { file_toolhost_tool_v1_version } from "../../tool/v1/version_pb.js";
/**
 * Describes the file toolhost/plugin/v1/plugin.proto.
 */
export const file_toolhost_plugin_v1_plugin = /*@__PURE__*/ fileDesc("Ch90b29saG9zdC9wbHVnaW4vdjEvcGx1Z2luLnByb3RvEhJ0b29saG9zdC5wbHVnaW4udjEipAEKD0Rlc2NyaWJlUmVxdWVzdBINCgV0b29scxgBIAMoCRIPCgdzZXNzaW9uGAIgASgJEkEKB2NvbnRleHQYAyADKAsyMC50b29saG9zdC5wbHVnaW4udjEuRGVzY3JpYmVSZXF1ZXN0LkNvbnRleHRFbnRyeRouCgxDb250ZXh0RW50cnkSCwoDa2V5GAEgASgJEg0KBXZhbHVlGAIgASgMOgI4ASKUAgoQRGVzY3JpYmVSZXNwb25zZRIMCgRuYW1lGAEgASgJEg8KB3ZlcnNpb24YAiABKAkSEwoLZGVzY3JpcHRpb24YAyABKAkSKQoFdG9vbHMYBCADKAsyGi50b29saG9zdC50b29sLnYxLlRvb2xTcGVjEhQKDGRlZmF1bHRfdGFncxgFIAMoCRIvCgdmaWx0ZXJzGAYgAygLMh4udG9vbGhvc3QucGx1Z2luLnYxLkZpbHRlclNwZWMSMgoLcGVybWlzc2lvbnMYByABKAsyHS50b29saG9zdC50b29sLnYxLlBlcm1pc3Npb25zEiYKA3NkaxgIIAEoCzIZLnRvb2xob3N0LnRvb2wudjEuU2RrSW5mbyJdCgpGaWx0ZXJTcGVjEgwKBG5hbWUYASABKAkSEwoLZGVzY3JpcHRpb24YAiABKAkSDgoGYmVmb3JlGAMgASgIEg0KBWFmdGVyGAQgASgIEg0KBXRvb2xzGAUgAygJIu4DCg5Db25uZWN0UmVxdWVzdBIMCgRjYWxsGAEgASgNEi4KBXN0YXJ0GAIgASgLMh0udG9vbGhvc3QucGx1Z2luLnYxLlN0YXJ0Q2FsbEgAEjUKBmFwcGVuZBgDIAEoCzIjLnRvb2xob3N0LnBsdWdpbi52MS5BcHBlbmRBcmd1bWVudHNIABI5Cghjb21wbGV0ZRgEIAEoCzIlLnRvb2xob3N0LnBsdWdpbi52MS5Db21wbGV0ZUFyZ3VtZW50c0gAEjAKBmNhbmNlbBgFIAEoCzIeLnRvb2xob3N0LnBsdWdpbi52MS5DYW5jZWxDYWxsSAASMQoGY3JlZGl0GAYgASgLMh8udG9vbGhvc3QucGx1Z2luLnYxLkdyYW50Q3JlZGl0SAASNQoIYXJ0aWZhY3QYByABKAsyIS50b29saG9zdC5wbHVnaW4udjEuQXJ0aWZhY3RQaWVjZUgAEjQKBmFuc3dlchgLIAEoCzIiLnRvb2xob3N0LnBsdWdpbi52MS5RdWVzdGlvbkFuc3dlckgAEjEKBWJhdGNoGAggAygLMiIudG9vbGhvc3QucGx1Z2luLnYxLkNvbm5lY3RSZXF1ZXN0EhEKCWFja190b2tlbhgJIAEoBhILCgNhY2sYCiABKAZCBwoFZnJhbWUi8gEKCVN0YXJ0Q2FsbBIPCgdjYWxsX2lkGAEgASgJEgwKBHRvb2wYAiABKAkSEQoJYXJndW1lbnRzGAMgASgMEhAKCGNvbXBsZXRlGAQgASgIEioKB3RpbWVvdXQYBSABKAsyGS5nb29nbGUucHJvdG9idWYuRHVyYXRpb24SDgoGY3JlZGl0GAYgASgNEg8KB2F0dGVtcHQYByABKA0SMAoHY29udGV4dBgIIAEoCzIfLnRvb2xob3N0LnBsdWdpbi52MS5DYWxsQ29udGV4dBIOCgZzZXR0bGUYCSABKAgSEgoKZWZmZWN0X2tleRgKIAEoCSLnAgoLQ2FsbENvbnRleHQSDwoHc2Vzc2lvbhgBIAEoCRIRCgl3b3Jrc3BhY2UYAiABKAkSOwoGdmFsdWVzGAMgAygLMisudG9vbGhvc3QucGx1Z2luLnYxLkNhbGxDb250ZXh0LlZhbHVlc0VudHJ5Ej0KB3NlY3JldHMYBCADKAsyLC50b29saG9zdC5wbHVnaW4udjEuQ2FsbENvbnRleHQuU2VjcmV0c0VudHJ5EhMKC3RyYWNlcGFyZW50GAUgASgJEhIKCnNwYW5fYnl0ZXMYBiABKA0SMAoHYW5zd2VycxgHIAEoCzIfLnRvb2xob3N0LnRvb2wudjEuUXVlc3Rpb25LaW5kcxotCgtWYWx1ZXNFbnRyeRILCgNrZXkYASABKAkSDQoFdmFsdWUYAiABKAw6AjgBGi4KDFNlY3JldHNFbnRyeRILCgNrZXkYASABKAkSDQoFdmFsdWUYAiABKAk6AjgBIh8KD0FwcGVuZEFyZ3VtZW50cxIMCgR0ZXh0GAEgASgMIiYKEUNvbXBsZXRlQXJndW1lbnRzEhEKCWFyZ3VtZW50cxgBIAEoDCIcCgpDYW5jZWxDYWxsEg4KBnJlYXNvbhgBIAEoCSIcCgtHcmFudENyZWRpdBINCgVieXRlcxgBIAEoDSK6BAoPQ29ubmVjdFJlc3BvbnNlEgwKBGNhbGwYASABKA0SKgoGc3RhdHVzGAIgASgLMhgudG9vbGhvc3QudG9vbC52MS5TdGF0dXNIABIuCghwcm9ncmVzcxgDIAEoCzIaLnRvb2xob3N0LnRvb2wudjEuUHJvZ3Jlc3NIABIqCgNsb2cYBCABKAsyGy50b29saG9zdC50b29sLnYxLkxvZ1JlY29yZEgAEjEKBWNodW5rGAUgASgLMiAudG9vbGhvc3QucGx1Z2luLnYxLkNvbnRlbnRDaHVua0gAEioKA2VuZBgGIAEoCzIbLnRvb2xob3N0LnBsdWdpbi52MS5DYWxsRW5kSAASOQoNcmVhZF9hcnRpZmFjdBgHIAEoCzIgLnRvb2xob3N0LnBsdWdpbi52MS5SZWFkQXJ0aWZhY3RIABIyCgVzcGFucxgLIAEoCzIhLnRvb2xob3N0LnBsdWdpbi52MS5GaW5pc2hlZFNwYW5zSAASMwoKYXNrX3BlcnNvbhgMIAEoCzIdLnRvb2xob3N0LnBsdWdpbi52MS5Bc2tQZXJzb25IABIxCglhc2tfbW9kZWwYDSABKAsyHC50b29saG9zdC5wbHVnaW4udjEuQXNrTW9kZWxIABIyCgViYXRjaBgIIAMoCzIjLnRvb2xob3N0LnBsdWdpbi52MS5Db25uZWN0UmVzcG9uc2USEQoJYWNrX3Rva2VuGAkgASgGEgsKA2FjaxgKIAEoBkIHCgVmcmFtZSJJCg1GaW5pc2hlZFNwYW5zEicKBXNwYW5zGAEgAygLMhgudG9vbGhvc3QucGx1Z2luLnYxLlNwYW4SDwoHZHJvcHBlZBgCIAEoDSLRAgoEU3BhbhIPCgdzcGFuX2lkGAEgASgMEhYKDnBhcmVudF9zcGFuX2lkGAIgASgMEgwKBG5hbWUYAyABKAkSHAoUc3RhcnRfdGltZV91bml4X25hbm8YBCABKAYSGgoSZW5kX3RpbWVfdW5peF9uYW5vGAUgASgGEioKBGtpbmQYBiABKA4yHC50b29saG9zdC5wbHVnaW4udjEuU3BhbktpbmQSNQoKYXR0cmlidXRlcxgHIAMoCzIhLnRvb2xob3N0LnBsdWdpbi52MS5TcGFuQXR0cmlidXRlEi0KBmV2ZW50cxgIIAMoCzIdLnRvb2xob3N0LnBsdWdpbi52MS5TcGFuRXZlbnQSLgoGc3RhdHVzGAkgASgOMh4udG9vbGhvc3QucGx1Z2luLnYxLlNwYW5TdGF0dXMSFgoOc3RhdHVzX21lc3NhZ2UYCiABKAkiawoNU3BhbkF0dHJpYnV0ZRILCgNrZXkYASABKAkSDgoEdGV4dBgCIAEoCUgAEg8KBXRydXRoGAMgASgISAASEQoHaW50ZWdlchgEIAEoA0gAEhAKBm51bWJlchgFIAEoAUgAQgcKBXZhbHVlImgKCVNwYW5FdmVudBIMCgRuYW1lGAEgASgJEhYKDnRpbWVfdW5peF9uYW5vGAIgASgGEjUKCmF0dHJpYnV0ZXMYAyADKAsyIS50b29saG9zdC5wbHVnaW4udjEuU3BhbkF0dHJpYnV0ZSI9CgxSZWFkQXJ0aWZhY3QSDgoGaGFuZGxlGAEgASgJEg4KBm9mZnNldBgCIAEoBBINCgVsaW1pdBgDIAEoDSJ1Cg1BcnRpZmFjdFBpZWNlEgwKBGRhdGEYASABKAwSEgoKbWVkaWFfdHlwZRgCIAEoCRIMCgRzaXplGAMgASgEEiYKBWVycm9yGAQgASgLMhcudG9vbGhvc3QudG9vbC52MS5FcnJvchIMCgRuYW1lGAUgASgJIk8KCUFza1BlcnNvbhIOCgZudW1iZXIYASABKA0SMgoIcXVlc3Rpb24YAiABKAsyIC50b29saG9zdC50b29sLnYxLlBlcnNvblF1ZXN0aW9uIk0KCEFza01vZGVsEg4KBm51bWJlchgBIAEoDRIxCghxdWVzdGlvbhgCIAEoCzIfLnRvb2xob3N0LnRvb2wudjEuTW9kZWxRdWVzdGlvbiJKCg5RdWVzdGlvbkFuc3dlchIOCgZudW1iZXIYASABKA0SKAoGYW5zd2VyGAIgASgLMhgudG9vbGhvc3QudG9vbC52MS5BbnN3ZXIiKwoMQ29udGVudENodW5rEg0KBWluZGV4GAEgASgNEgwKBGRhdGEYAiABKAwioAEKB0NhbGxFbmQSKgoGcmVzdWx0GAEgASgLMhgudG9vbGhvc3QudG9vbC52MS5SZXN1bHRIABIoCgVlcnJvchgCIAEoCzIXLnRvb2xob3N0LnRvb2wudjEuRXJyb3JIABI0CgpzZXR0bGVtZW50GAMgASgLMh4udG9vbGhvc3QucGx1Z2luLnYxLlNldHRsZW1lbnRIAEIJCgdvdXRjb21lIo8BCgpTZXR0bGVtZW50Eg8KB2NhbGxfaWQYASABKAkSNgoHdmVyZGljdBgCIAEoDjIlLnRvb2xob3N0LnBsdWdpbi52MS5TZXR0bGVtZW50VmVyZGljdBIoCgZyZXN1bHQYAyABKAsyGC50b29saG9zdC50b29sLnYxLlJlc3VsdBIOCgZyZWFzb24YBCABKAkqmQEKCFNwYW5LaW5kEhkKFVNQQU5fS0lORF9VTlNQRUNJRklFRBAAEhYKElNQQU5fS0lORF9JTlRFUk5BTBABEhQKEFNQQU5fS0lORF9TRVJWRVIQAhIUChBTUEFOX0tJTkRfQ0xJRU5UEAMSFgoSU1BBTl9LSU5EX1BST0RVQ0VSEAQSFgoSU1BBTl9LSU5EX0NPTlNVTUVSEAUqVAoKU3BhblN0YXR1cxIbChdTUEFOX1NUQVRVU19VTlNQRUNJRklFRBAAEhIKDlNQQU5fU1RBVFVTX09LEAESFQoRU1BBTl9TVEFUVVNfRVJST1IQAiqfAQoRU2V0dGxlbWVudFZlcmRpY3QSIgoeU0VUVExFTUVOVF9WRVJESUNUX1VOU1BFQ0lGSUVEEAASHwobU0VUVExFTUVOVF9WRVJESUNUX0hBUFBFTkVEEAESJQohU0VUVExFTUVOVF9WRVJESUNUX0RJRF9OT1RfSEFQUEVOEAISHgoaU0VUVExFTUVOVF9WRVJESUNUX1VOS05PV04QAzLCAQoRVG9vbFBsdWdpblNlcnZpY2USVQoIRGVzY3JpYmUSIy50b29saG9zdC5wbHVnaW4udjEuRGVzY3JpYmVSZXF1ZXN0GiQudG9vbGhvc3QucGx1Z2luLnYxLkRlc2NyaWJlUmVzcG9uc2USVgoHQ29ubmVjdBIiLnRvb2xob3N0LnBsdWdpbi52MS5Db25uZWN0UmVxdWVzdBojLnRvb2xob3N0LnBsdWdpbi52MS5Db25uZWN0UmVzcG9uc2UoATABQkFaP2dpdGh1Yi5jb20vdG9vbGhvc3QvdG9vbGhvc3QvZ2VuL2dvL3Rvb2xob3N0L3BsdWdpbi92MTtwbHVnaW52MWIGcHJvdG8z", [file_google_protobuf_duration, file_toolhost_tool_v1_error, file_toolhost_tool_v1_permissions, file_toolhost_tool_v1_question, file_toolhost_tool_v1_result, file_toolhost_tool_v1_spec, file_toolhost_tool_v1_status, file_toolhost_tool_v1_version]);
/**
 * Describes the message toolhost.plugin.v1.DescribeRequest.
 * Use `create(DescribeRequestSchema)` to create a new message.
 */
export const DescribeRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_plugin_v1_plugin, 0);
/**
 * Describes the message toolhost.plugin.v1.DescribeResponse.
 * Use `create(DescribeResponseSchema)` to create a new message.
 */
export const DescribeResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_plugin_v1_plugin, 1);
/**
 * Describes the message toolhost.plugin.v1.FilterSpec.
 * Use `create(FilterSpecSchema)` to create a new message.
 */
export const FilterSpecSchema = /*@__PURE__*/ messageDesc(file_toolhost_plugin_v1_plugin, 2);
/**
 * Describes the message toolhost.plugin.v1.ConnectRequest.
 * Use `create(ConnectRequestSchema)` to create a new message.
 */
export const ConnectRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_plugin_v1_plugin, 3);
/**
 * Describes the message toolhost.plugin.v1.StartCall.
 * Use `create(StartCallSchema)` to create a new message.
 */
export const StartCallSchema = /*@__PURE__*/ messageDesc(file_toolhost_plugin_v1_plugin, 4);
/**
 * Describes the message toolhost.plugin.v1.CallContext.
 * Use `create(CallContextSchema)` to create a new message.
 */
export const CallContextSchema = /*@__PURE__*/ messageDesc(file_toolhost_plugin_v1_plugin, 5);
/**
 * Describes the message toolhost.plugin.v1.AppendArguments.
 * Use `create(AppendArgumentsSchema)` to create a new message.
 */
export const AppendArgumentsSchema = /*@__PURE__*/ messageDesc(file_toolhost_plugin_v1_plugin, 6);
/**
 * Describes the message toolhost.plugin.v1.CompleteArguments.
 * Use `create(CompleteArgumentsSchema)` to create a new message.
 */
export const CompleteArgumentsSchema = /*@__PURE__*/ messageDesc(file_toolhost_plugin_v1_plugin, 7);
/**
 * Describes the message toolhost.plugin.v1.CancelCall.
 * Use `create(CancelCallSchema)` to create a new message.
 */
export const CancelCallSchema = /*@__PURE__*/ messageDesc(file_toolhost_plugin_v1_plugin, 8);
/**
 * Describes the message toolhost.plugin.v1.GrantCredit.
 * Use `create(GrantCreditSchema)` to create a new message.
 */
export const GrantCreditSchema = /*@__PURE__*/ messageDesc(file_toolhost_plugin_v1_plugin, 9);
/**
 * Describes the message toolhost.plugin.v1.ConnectResponse.
 * Use `create(ConnectResponseSchema)` to create a new message.
 */
export const ConnectResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_plugin_v1_plugin, 10);
/**
 * Describes the message toolhost.plugin.v1.FinishedSpans.
 * Use `create(FinishedSpansSchema)` to create a new message.
 */
export const FinishedSpansSchema = /*@__PURE__*/ messageDesc(file_toolhost_plugin_v1_plugin, 11);
/**
 * Describes the message toolhost.plugin.v1.Span.
 * Use `create(SpanSchema)` to create a new message.
 */
export const SpanSchema = /*@__PURE__*/ messageDesc(file_toolhost_plugin_v1_plugin, 12);
/**
 * Describes the message toolhost.plugin.v1.SpanAttribute.
 * Use `create(SpanAttributeSchema)` to create a new message.
 */
export const SpanAttributeSchema = /*@__PURE__*/ messageDesc(file_toolhost_plugin_v1_plugin, 13);
/**
 * Describes the message toolhost.plugin.v1.SpanEvent.
 * Use `create(SpanEventSchema)` to create a new message.
 */
export const SpanEventSchema = /*@__PURE__*/ messageDesc(file_toolhost_plugin_v1_plugin, 14);
/**
 * Describes the message toolhost.plugin.v1.ReadArtifact.
 * Use `create(ReadArtifactSchema)` to create a new message.
 */
export const ReadArtifactSchema = /*@__PURE__*/ messageDesc(file_toolhost_plugin_v1_plugin, 15);
/**
 * Describes the message toolhost.plugin.v1.ArtifactPiece.
 * Use `create(ArtifactPieceSchema)` to create a new message.
 */
export const ArtifactPieceSchema = /*@__PURE__*/ messageDesc(file_toolhost_plugin_v1_plugin, 16);
/**
 * Describes the message toolhost.plugin.v1.AskPerson.
 * Use `create(AskPersonSchema)` to create a new message.
 */
export const AskPersonSchema = /*@__PURE__*/ messageDesc(file_toolhost_plugin_v1_plugin, 17);
/**
 * Describes the message toolhost.plugin.v1.AskModel.
 * Use `create(AskModelSchema)` to create a new message.
 */
export const AskModelSchema = /*@__PURE__*/ messageDesc(file_toolhost_plugin_v1_plugin, 18);
/**
 * Describes the message toolhost.plugin.v1.QuestionAnswer.
 * Use `create(QuestionAnswerSchema)` to create a new message.
 */
export const QuestionAnswerSchema = /*@__PURE__*/ messageDesc(file_toolhost_plugin_v1_plugin, 19);
/**
 * Describes the message toolhost.plugin.v1.ContentChunk.
 * Use `create(ContentChunkSchema)` to create a new message.
 */
export const ContentChunkSchema = /*@__PURE__*/ messageDesc(file_toolhost_plugin_v1_plugin, 20);
/**
 * Describes the message toolhost.plugin.v1.CallEnd.
 * Use `create(CallEndSchema)` to create a new message.
 */
export const CallEndSchema = /*@__PURE__*/ messageDesc(file_toolhost_plugin_v1_plugin, 21);
/**
 * Describes the message toolhost.plugin.v1.Settlement.
 * Use `create(SettlementSchema)` to create a new message.
 */
export const SettlementSchema = /*@__PURE__*/ messageDesc(file_toolhost_plugin_v1_plugin, 22);
/**
 * SpanKind says how an operation relates to other processes.
 *
 * @generated from enum toolhost.plugin.v1.SpanKind
 */
export var SpanKind;
(function (SpanKind) {
    /**
     * Not set: internal.
     *
     * @generated from enum value: SPAN_KIND_UNSPECIFIED = 0;
     */
    SpanKind[SpanKind["UNSPECIFIED"] = 0] = "UNSPECIFIED";
    /**
     * The operation stays in the plugin.
     *
     * @generated from enum value: SPAN_KIND_INTERNAL = 1;
     */
    SpanKind[SpanKind["INTERNAL"] = 1] = "INTERNAL";
    /**
     * The operation serves a request of another process.
     *
     * @generated from enum value: SPAN_KIND_SERVER = 2;
     */
    SpanKind[SpanKind["SERVER"] = 2] = "SERVER";
    /**
     * The operation requests something from another process, such as a database.
     *
     * @generated from enum value: SPAN_KIND_CLIENT = 3;
     */
    SpanKind[SpanKind["CLIENT"] = 3] = "CLIENT";
    /**
     * The operation sends a message.
     *
     * @generated from enum value: SPAN_KIND_PRODUCER = 4;
     */
    SpanKind[SpanKind["PRODUCER"] = 4] = "PRODUCER";
    /**
     * The operation handles a message.
     *
     * @generated from enum value: SPAN_KIND_CONSUMER = 5;
     */
    SpanKind[SpanKind["CONSUMER"] = 5] = "CONSUMER";
})(SpanKind || (SpanKind = {}));
/**
 * Describes the enum toolhost.plugin.v1.SpanKind.
 */
export const SpanKindSchema = /*@__PURE__*/ enumDesc(file_toolhost_plugin_v1_plugin, 0);
/**
 * SpanStatus says whether an operation succeeded.
 *
 * @generated from enum toolhost.plugin.v1.SpanStatus
 */
export var SpanStatus;
(function (SpanStatus) {
    /**
     * The tool did not say.
     *
     * @generated from enum value: SPAN_STATUS_UNSPECIFIED = 0;
     */
    SpanStatus[SpanStatus["UNSPECIFIED"] = 0] = "UNSPECIFIED";
    /**
     * The operation succeeded.
     *
     * @generated from enum value: SPAN_STATUS_OK = 1;
     */
    SpanStatus[SpanStatus["OK"] = 1] = "OK";
    /**
     * The operation failed.
     *
     * @generated from enum value: SPAN_STATUS_ERROR = 2;
     */
    SpanStatus[SpanStatus["ERROR"] = 2] = "ERROR";
})(SpanStatus || (SpanStatus = {}));
/**
 * Describes the enum toolhost.plugin.v1.SpanStatus.
 */
export const SpanStatusSchema = /*@__PURE__*/ enumDesc(file_toolhost_plugin_v1_plugin, 1);
/**
 * SettlementVerdict says whether an earlier call had its effect.
 *
 * @generated from enum toolhost.plugin.v1.SettlementVerdict
 */
export var SettlementVerdict;
(function (SettlementVerdict) {
    /**
     * Not set: the tool does not know.
     *
     * @generated from enum value: SETTLEMENT_VERDICT_UNSPECIFIED = 0;
     */
    SettlementVerdict[SettlementVerdict["UNSPECIFIED"] = 0] = "UNSPECIFIED";
    /**
     * The call had its whole effect. toolhost never executes it again.
     *
     * @generated from enum value: SETTLEMENT_VERDICT_HAPPENED = 1;
     */
    SettlementVerdict[SettlementVerdict["HAPPENED"] = 1] = "HAPPENED";
    /**
     * The call had no effect, and can have none later. toolhost may execute it under the same call id.
     *
     * @generated from enum value: SETTLEMENT_VERDICT_DID_NOT_HAPPEN = 2;
     */
    SettlementVerdict[SettlementVerdict["DID_NOT_HAPPEN"] = 2] = "DID_NOT_HAPPEN";
    /**
     * The tool does not know, or the call had a part of its effect.
     *
     * @generated from enum value: SETTLEMENT_VERDICT_UNKNOWN = 3;
     */
    SettlementVerdict[SettlementVerdict["UNKNOWN"] = 3] = "UNKNOWN";
})(SettlementVerdict || (SettlementVerdict = {}));
/**
 * Describes the enum toolhost.plugin.v1.SettlementVerdict.
 */
export const SettlementVerdictSchema = /*@__PURE__*/ enumDesc(file_toolhost_plugin_v1_plugin, 2);
/**
 * ToolPluginService is the whole contract between toolhost and a plugin.
 *
 * @generated from service toolhost.plugin.v1.ToolPluginService
 */
export const ToolPluginService = /*@__PURE__*/ serviceDesc(file_toolhost_plugin_v1_plugin, 0);
