// The API that agentd serves: agent runs.
import { enumDesc, fileDesc, messageDesc, serviceDesc } from "@bufbuild/protobuf/codegenv2";
import { file_google_protobuf_duration, file_google_protobuf_timestamp } from "@bufbuild/protobuf/wkt";
import { file_toolhost_tool_v1_caller } from "../../toolhost/tool/v1/caller_pb.js";
import { file_toolhost_tool_v1_error } from "../../toolhost/tool/v1/error_pb.js";
import { file_toolhost_tool_v1_result } from "../../toolhost/tool/v1/result_pb.js";
import { file_toolhost_tool_v1_right } from "../../toolhost/tool/v1/right_pb.js";
import { file_toolhost_tool_v1_status } from "../../toolhost/tool/v1/status_pb.js";
import { file_toolhost_tool_v1_version } from "../../toolhost/tool/v1/version_pb.js";
import { file_toolhost_v1_settled } from "../../toolhost/v1/settled_pb.js";
/**
 * Describes the file agentd/v1/agent_service.proto.
 */
export const file_agentd_v1_agent_service = /*@__PURE__*/ fileDesc("Ch1hZ2VudGQvdjEvYWdlbnRfc2VydmljZS5wcm90bxIJYWdlbnRkLnYxIhoKGENyZWF0ZUNvbnNvbGVDb2RlUmVxdWVzdCJnChlDcmVhdGVDb25zb2xlQ29kZVJlc3BvbnNlEgwKBGNvZGUYASABKAkSLwoLZXhwaXJlX3RpbWUYAiABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wEgsKA3VybBgDIAEoCSIPCg1SZWxvYWRSZXF1ZXN0IkcKDlJlbG9hZFJlc3BvbnNlEjUKDWNvbmZpZ3VyYXRpb24YASABKAsyHi5hZ2VudGQudjEuQ29uZmlndXJhdGlvbkNoYW5nZSIaChhEaWZmQ29uZmlndXJhdGlvblJlcXVlc3QiUgoZRGlmZkNvbmZpZ3VyYXRpb25SZXNwb25zZRI1Cg1jb25maWd1cmF0aW9uGAEgASgLMh4uYWdlbnRkLnYxLkNvbmZpZ3VyYXRpb25DaGFuZ2UiXwoTQ29uZmlndXJhdGlvbkNoYW5nZRIMCgRmaWxlGAEgASgJEikKB2NoYW5nZXMYAiADKAsyGC5hZ2VudGQudjEuU2V0dGluZ0NoYW5nZRIPCgdwcm9ibGVtGAMgASgJIkcKDVNldHRpbmdDaGFuZ2USCwoDa2V5GAEgASgJEgsKA29sZBgCIAEoCRILCgNuZXcYAyABKAkSDwoHcmVzdGFydBgEIAEoCCITChFHZXRWZXJzaW9uUmVxdWVzdCJEChJHZXRWZXJzaW9uUmVzcG9uc2USLgoHdmVyc2lvbhgBIAEoCzIdLnRvb2xob3N0LnRvb2wudjEuVmVyc2lvbkluZm8iDwoNV2hvQW1JUmVxdWVzdCI+Cg5XaG9BbUlSZXNwb25zZRIsCgZjYWxsZXIYASABKAsyHC50b29saG9zdC50b29sLnYxLkNhbGxlckluZm8iiwUKD1N0YXJ0UnVuUmVxdWVzdBIOCgZwcm9tcHQYASABKAkSDgoGcnVuX2lkGAIgASgJEhUKDXN5c3RlbV9wcm9tcHQYAyABKAkSJAoFdG9vbHMYBCABKAsyFS5hZ2VudGQudjEuVG9vbENob2ljZRIhCgZsaW1pdHMYBSABKAsyES5hZ2VudGQudjEuTGltaXRzEg8KB3Nlc3Npb24YBiABKAkSIQoGcGVvcGxlGAcgASgLMhEuYWdlbnRkLnYxLlBlb3BsZRI4Cgdjb250ZXh0GAggAygLMicuYWdlbnRkLnYxLlN0YXJ0UnVuUmVxdWVzdC5Db250ZXh0RW50cnkSGwoTZXhwbGljaXRfY29tcGxldGlvbhgJIAEoCBIhCgZ3aW5kb3cYCiABKAsyES5hZ2VudGQudjEuV2luZG93EiwKDHN5c3RlbV90b29scxgLIAEoCzIWLmFnZW50ZC52MS5TeXN0ZW1Ub29scxIVCghzdWJfcnVucxgMIAEoDUgAiAEBEg0KBWFnZW50GA0gASgJEikKCmNvbXBsZXRpb24YDiABKA4yFS5hZ2VudGQudjEuQ29tcGxldGlvbhITCgt0cmFjZXBhcmVudBgPIAEoCRINCgVtb2RlbBgQIAEoCRIlCghzYW1wbGluZxgRIAEoCzITLmFnZW50ZC52MS5TYW1wbGluZxIXCg9yZXNwb25zZV9zY2hlbWEYEiABKAwSKgoLYXR0YWNobWVudHMYEyADKAsyFS5hZ2VudGQudjEuQXR0YWNobWVudBouCgxDb250ZXh0RW50cnkSCwoDa2V5GAEgASgJEg0KBXZhbHVlGAIgASgMOgI4AUILCglfc3ViX3J1bnMidwoKQXR0YWNobWVudBIMCgRuYW1lGAEgASgJEhEKCW1pbWVfdHlwZRgCIAEoCRIOCgRkYXRhGAMgASgMSAASLQoIYXJ0aWZhY3QYBCABKAsyGS5hZ2VudGQudjEuQXJ0aWZhY3RTb3VyY2VIAEIJCgdjb250ZW50IjEKDkFydGlmYWN0U291cmNlEg4KBmhhbmRsZRgBIAEoCRIPCgdzZXNzaW9uGAIgASgJImEKDkF0dGFjaG1lbnRJbmZvEgwKBG5hbWUYASABKAkSEQoJbWltZV90eXBlGAIgASgJEgwKBHNpemUYAyABKAQSDgoGc2hhMjU2GAQgASgJEhAKCGFydGlmYWN0GAUgASgJImIKCFNhbXBsaW5nEhgKC3RlbXBlcmF0dXJlGAEgASgBSACIAQESEgoFdG9wX3AYAiABKAFIAYgBARIOCgZlZmZvcnQYAyABKAlCDgoMX3RlbXBlcmF0dXJlQggKBl90b3BfcCJOCgZXaW5kb3cSDgoGdG9rZW5zGAEgASgEEhAKCGNsZWFyX2F0GAIgASgBEhQKDHN1bW1hcml6ZV9hdBgDIAEoARIMCgRrZWVwGAQgASgNIhwKC1N5c3RlbVRvb2xzEg0KBW5hbWVzGAEgAygJIloKBlBlb3BsZRIQCghhdHRlbmRlZBgBIAEoCBIpCgZleHBpcnkYAiABKAsyGS5nb29nbGUucHJvdG9idWYuRHVyYXRpb24SEwoLYXNrX291dGNvbWUYAyABKAgizQEKClRvb2xDaG9pY2USDQoFbmFtZXMYASADKAkSEgoKY2F0ZWdvcmllcxgCIAMoCRIMCgR0YWdzGAMgAygJEhYKCWRhbmdlcm91cxgEIAEoCEgAiAEBEh0KEG1heF9jb3N0X3Blcl91c2UYBSABKAFIAYgBARIRCgltYXhfdG9vbHMYBiABKA0SDwoHcGx1Z2lucxgHIAMoCRIQCghleGNsdWRlZBgIIAMoCUIMCgpfZGFuZ2Vyb3VzQhMKEV9tYXhfY29zdF9wZXJfdXNlIvgBCgZMaW1pdHMSEQoJbWF4X3R1cm5zGAEgASgNEhEKCW1heF9jYWxscxgCIAEoDRIbChNtYXhfcmVzcG9uc2VfdG9rZW5zGAMgASgNEhIKCm1heF90b2tlbnMYBCABKAQSEAoIbWF4X2Nvc3QYBSABKAESMAoNbWF4X3dhbGxfdGltZRgGIAEoCzIZLmdvb2dsZS5wcm90b2J1Zi5EdXJhdGlvbhISCgptYXhfb3V0cHV0GAcgASgEEhQKDG1heF9mYWlsdXJlcxgIIAEoDRIUCgxtYXhfdGltZW91dHMYCSABKA0SEwoLbWF4X3JlcGVhdHMYCiABKA0iIgoQU3RhcnRSdW5SZXNwb25zZRIOCgZydW5faWQYASABKAkicgoSU2VuZE1lc3NhZ2VSZXF1ZXN0Eg4KBnJ1bl9pZBgBIAEoCRIMCgR0ZXh0GAIgASgJEioKC2F0dGFjaG1lbnRzGAMgAygLMhUuYWdlbnRkLnYxLkF0dGFjaG1lbnQSEgoKbWVzc2FnZV9pZBgEIAEoCSIiChNTZW5kTWVzc2FnZVJlc3BvbnNlEgsKA3NlcRgBIAEoBCI0Cg9XYXRjaFJ1blJlcXVlc3QSDgoGcnVuX2lkGAEgASgJEhEKCWFmdGVyX3NlcRgCIAEoBCI2ChBXYXRjaFJ1blJlc3BvbnNlEiIKBWV2ZW50GAEgASgLMhMuYWdlbnRkLnYxLlJ1bkV2ZW50IlwKDlJlc3BvbmRSZXF1ZXN0Eg4KBnJ1bl9pZBgBIAEoCRImCglkZWNpc2lvbnMYAiADKAsyEy5hZ2VudGQudjEuRGVjaXNpb24SEgoKZGVjaWRlZF9ieRgDIAEoCSKbAQoIRGVjaXNpb24SEwoLZGVjaXNpb25faWQYASABKAkSJQoHYXBwcm92ZRgCIAEoCzISLmFnZW50ZC52MS5BcHByb3ZlSAASIwoGcmVqZWN0GAMgASgLMhEuYWdlbnRkLnYxLlJlamVjdEgAEiMKBmFuc3dlchgEIAEoCzIRLmFnZW50ZC52MS5BbnN3ZXJIAEIJCgd2ZXJkaWN0IlkKB0FwcHJvdmUSEQoJYXJndW1lbnRzGAEgASgMEg4KBnJlYXNvbhgCIAEoCRIrCghzdGFuZGluZxgDIAEoCzIZLmFnZW50ZC52MS5TdGFuZGluZ0Nob2ljZSKvAQoOU3RhbmRpbmdDaG9pY2USJwoFc2NvcGUYASABKA4yGC5hZ2VudGQudjEuU3RhbmRpbmdTY29wZRIVCg1hbnlfYXJndW1lbnRzGAIgASgIEiwKCHBhdHRlcm5zGAMgAygLMhouYWdlbnRkLnYxLlN0YW5kaW5nUGF0dGVybhIvCgtleHBpcmVfdGltZRgEIAEoCzIaLmdvb2dsZS5wcm90b2J1Zi5UaW1lc3RhbXAiYwoPU3RhbmRpbmdQYXR0ZXJuEhAKCGFyZ3VtZW50GAEgASgJEhUKC3BhdGhfcHJlZml4GAIgASgJSAASEAoGb3JpZ2luGAMgASgJSAASDQoDYW55GAQgASgISABCBgoEZm9ybSIYCgZSZWplY3QSDgoGcmVhc29uGAEgASgJIhYKBkFuc3dlchIMCgR0ZXh0GAEgASgJIh4KD1Jlc3BvbmRSZXNwb25zZRILCgNzZXEYASABKAQiMgoQQ2FuY2VsUnVuUmVxdWVzdBIOCgZydW5faWQYASABKAkSDgoGcmVhc29uGAIgASgJIhMKEUNhbmNlbFJ1blJlc3BvbnNlIiIKEERlbGV0ZVJ1blJlcXVlc3QSDgoGcnVuX2lkGAEgASgJIiQKEURlbGV0ZVJ1blJlc3BvbnNlEg8KB3J1bl9pZHMYASADKAkiHwoNR2V0UnVuUmVxdWVzdBIOCgZydW5faWQYASABKAkiLQoOR2V0UnVuUmVzcG9uc2USGwoDcnVuGAEgASgLMg4uYWdlbnRkLnYxLlJ1biKFAQoPTGlzdFJ1bnNSZXF1ZXN0EhEKCXBhZ2Vfc2l6ZRgBIAEoBRISCgpwYWdlX3Rva2VuGAIgASgJEiMKBnN0YXRlcxgDIAMoDjITLmFnZW50ZC52MS5SdW5TdGF0ZRIVCg1wYXJlbnRfcnVuX2lkGAQgASgJEg8KB3RlbmFudHMYBSADKAkiSQoQTGlzdFJ1bnNSZXNwb25zZRIcCgRydW5zGAEgAygLMg4uYWdlbnRkLnYxLlJ1bhIXCg9uZXh0X3BhZ2VfdG9rZW4YAiABKAkimgQKA1J1bhIOCgZydW5faWQYASABKAkSDgoGcHJvbXB0GAIgASgJEg0KBW1vZGVsGAMgASgJEiIKBXN0YXRlGAQgASgOMhMuYWdlbnRkLnYxLlJ1blN0YXRlEioKC3N0b3BfcmVhc29uGAUgASgOMhUuYWdlbnRkLnYxLlN0b3BSZWFzb24SLgoKc3RhcnRfdGltZRgGIAEoCzIaLmdvb2dsZS5wcm90b2J1Zi5UaW1lc3RhbXASLwoLdXBkYXRlX3RpbWUYByABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wEhAKCGxhc3Rfc2VxGAggASgEEg0KBXR1cm5zGAkgASgNEg0KBWNhbGxzGAogASgNEiYKBXVzYWdlGAsgASgLMhcudG9vbGhvc3QudG9vbC52MS5Vc2FnZRIMCgRjb3N0GAwgASgBEjUKEXBlbmRpbmdfZGVjaXNpb25zGA0gAygLMhouYWdlbnRkLnYxLlBlbmRpbmdEZWNpc2lvbhIVCg1wYXJlbnRfcnVuX2lkGA4gASgJEhMKC2ludGVycnVwdGVkGA8gASgIEhEKCXByaW5jaXBhbBgQIAEoCRISCgpmb3JlZ3JvdW5kGBEgASgIEisKC3NldHRsZW1lbnRzGBIgASgLMhYuYWdlbnRkLnYxLlNldHRsZW1lbnRzEhYKDnBhcmVudF9jYWxsX2lkGBMgASgJIkIKC1NldHRsZW1lbnRzEhAKCGhhcHBlbmVkGAEgASgNEhAKCHJlcGVhdGVkGAIgASgNEg8KB3Vua25vd24YAyABKA0ixQMKD1BlbmRpbmdEZWNpc2lvbhITCgtkZWNpc2lvbl9pZBgBIAEoCRIlCgRraW5kGAIgASgOMhcuYWdlbnRkLnYxLkRlY2lzaW9uS2luZBIPCgdjYWxsX2lkGAMgASgJEgwKBHRvb2wYBCABKAkSEQoJYXJndW1lbnRzGAUgASgMEg4KBnJlYXNvbhgGIAEoCRIPCgdvcHRpb25zGAcgAygJEgwKBHJ1bGUYCCABKAkSMAoMcmVxdWVzdF90aW1lGAkgASgLMhouZ29vZ2xlLnByb3RvYnVmLlRpbWVzdGFtcBIvCgtleHBpcmVfdGltZRgKIAEoCzIaLmdvb2dsZS5wcm90b2J1Zi5UaW1lc3RhbXASDgoGcnVuX2lkGAsgASgJEhQKDGRpc3BsYXlfbmFtZRgMIAEoCRIRCglmb3VyX2V5ZXMYDSABKAgSDgoGcGx1Z2luGA4gASgJEg4KBnNjaGVtYRgPIAEoDBIMCgRkaWZmGBAgASgJEjIKD3N0YW5kaW5nX29mZmVycxgRIAMoCzIZLmFnZW50ZC52MS5TdGFuZGluZ0Nob2ljZRIXCg9hcHByb3Zlcl9ncm91cHMYEiADKAkixAoKCFJ1bkV2ZW50EgsKA3NlcRgBIAEoBBINCgVpbmRleBgCIAEoBBIoCgR0aW1lGAMgASgLMhouZ29vZ2xlLnByb3RvYnVmLlRpbWVzdGFtcBIsCgtydW5fc3RhcnRlZBgEIAEoCzIVLmFnZW50ZC52MS5SdW5TdGFydGVkSAASLgoMdXNlcl9tZXNzYWdlGAUgASgLMhYuYWdlbnRkLnYxLlVzZXJNZXNzYWdlSAASKgoKdGV4dF9kZWx0YRgGIAEoCzIULmFnZW50ZC52MS5UZXh0RGVsdGFIABI4ChFhc3Npc3RhbnRfbWVzc2FnZRgHIAEoCzIbLmFnZW50ZC52MS5Bc3Npc3RhbnRNZXNzYWdlSAASLgoMY2FsbF9zdGFydGVkGAggASgLMhYuYWdlbnRkLnYxLkNhbGxTdGFydGVkSAASLAoLY2FsbF9zdGF0dXMYCSABKAsyFS5hZ2VudGQudjEuQ2FsbFN0YXR1c0gAEiwKC2NhbGxfcmVzdWx0GAogASgLMhUuYWdlbnRkLnYxLkNhbGxSZXN1bHRIABIqCgp0dXJuX3Jlc2V0GAsgASgLMhQuYWdlbnRkLnYxLlR1cm5SZXNldEgAEjYKEGNhbmNlbF9yZXF1ZXN0ZWQYDCABKAsyGi5hZ2VudGQudjEuQ2FuY2VsUmVxdWVzdGVkSAASLgoMcnVuX2ZpbmlzaGVkGA0gASgLMhYuYWdlbnRkLnYxLlJ1bkZpbmlzaGVkSAASOgoSZGVjaXNpb25fcmVxdWVzdGVkGA4gASgLMhwuYWdlbnRkLnYxLkRlY2lzaW9uUmVxdWVzdGVkSAASMAoNZGVjaXNpb25fbWFkZRgPIAEoCzIXLmFnZW50ZC52MS5EZWNpc2lvbk1hZGVIABIyCg5idWRnZXRfd2FybmluZxgQIAEoCzIYLmFnZW50ZC52MS5CdWRnZXRXYXJuaW5nSAASMgoOY29udGV4dF9jaGFuZ2UYESABKAsyGC5hZ2VudGQudjEuQ29udGV4dENoYW5nZUgAEiwKC3RvZG9fY2hhbmdlGBIgASgLMhUuYWdlbnRkLnYxLlRvZG9DaGFuZ2VIABIzCg9zdWJfcnVuX3N0YXJ0ZWQYEyABKAsyGC5hZ2VudGQudjEuU3ViUnVuU3RhcnRlZEgAEikKCWNvbXBhY3RlZBgUIAEoCzIULmFnZW50ZC52MS5Db21wYWN0ZWRIABIzCg9zdWJfcnVuX3dhaXRpbmcYFSABKAsyGC5hZ2VudGQudjEuU3ViUnVuV2FpdGluZ0gAEiwKC3J1bl9yZXN1bWVkGBYgASgLMhUuYWdlbnRkLnYxLlJ1blJlc3VtZWRIABIwCg1tb2RlbF9yZXBsaWVkGBcgASgLMhcuYWdlbnRkLnYxLk1vZGVsUmVwbGllZEgAEjQKD3JlYXNvbmluZ19kZWx0YRgYIAEoCzIZLmFnZW50ZC52MS5SZWFzb25pbmdEZWx0YUgAEjIKDmFyZ3VtZW50X2RlbHRhGBkgASgLMhguYWdlbnRkLnYxLkFyZ3VtZW50RGVsdGFIABIuCgxhbnN3ZXJfZGVsdGEYGiABKAsyFi5hZ2VudGQudjEuQW5zd2VyRGVsdGFIABI4ChFzdGFuZGluZ19hcHByb3ZlZBgbIAEoCzIbLmFnZW50ZC52MS5TdGFuZGluZ0FwcHJvdmVkSAASOAoRZGVjaXNpb25fZXh0ZW5kZWQYHCABKAsyGy5hZ2VudGQudjEuRGVjaXNpb25FeHRlbmRlZEgAQgcKBWV2ZW50IuICCgpSdW5TdGFydGVkEg4KBnJ1bl9pZBgBIAEoCRIOCgZwcm9tcHQYAiABKAkSDQoFbW9kZWwYAyABKAkSDwoHc2Vzc2lvbhgEIAEoCRIVCg1wYXJlbnRfcnVuX2lkGAUgASgJEhYKDnBhcmVudF9jYWxsX2lkGAYgASgJEg0KBWFnZW50GAcgASgJEhMKC3RyYWNlcGFyZW50GAggASgJEhEKCXByaW5jaXBhbBgJIAEoCRIRCglmYWxsYmFja3MYCiADKAkSJQoIc2FtcGxpbmcYCyABKAsyEy5hZ2VudGQudjEuU2FtcGxpbmcSFwoPcmVzcG9uc2Vfc2NoZW1hGA0gASgMEi4KC2F0dGFjaG1lbnRzGA4gAygLMhkuYWdlbnRkLnYxLkF0dGFjaG1lbnRJbmZvEisKDG1lbW9yeV9maWxlcxgPIAMoCzIVLmFnZW50ZC52MS5NZW1vcnlGaWxlIkwKCk1lbW9yeUZpbGUSDAoEbmFtZRgBIAEoCRIRCgl3b3Jrc3BhY2UYAiABKAgSDAoEc2l6ZRgDIAEoBBIPCgdwcm9ibGVtGAQgASgJIksKC1VzZXJNZXNzYWdlEgwKBHRleHQYASABKAkSLgoLYXR0YWNobWVudHMYAiADKAsyGS5hZ2VudGQudjEuQXR0YWNobWVudEluZm8iGQoJVGV4dERlbHRhEgwKBHRleHQYASABKAkiHgoOUmVhc29uaW5nRGVsdGESDAoEdGV4dBgBIAEoCSI8Cg1Bcmd1bWVudERlbHRhEg8KB2NhbGxfaWQYASABKAkSDAoEdG9vbBgCIAEoCRIMCgR0ZXh0GAMgASgJIh0KC0Fuc3dlckRlbHRhEg4KBmFuc3dlchgBIAEoDCLNAQoQQXNzaXN0YW50TWVzc2FnZRIMCgR0ZXh0GAEgASgJEiIKBWNhbGxzGAIgAygLMhMuYWdlbnRkLnYxLlRvb2xDYWxsEhMKC3N0b3BfcmVhc29uGAMgASgJEiYKBXVzYWdlGAQgASgLMhcudG9vbGhvc3QudG9vbC52MS5Vc2FnZRIMCgRjb3N0GAUgASgBEi0KDHdhc3RlZF91c2FnZRgGIAEoCzIXLnRvb2xob3N0LnRvb2wudjEuVXNhZ2USDQoFbW9kZWwYByABKAkiPAoIVG9vbENhbGwSDwoHY2FsbF9pZBgBIAEoCRIMCgR0b29sGAIgASgJEhEKCWFyZ3VtZW50cxgDIAEoDCJlCgtDYWxsU3RhcnRlZBIPCgdjYWxsX2lkGAEgASgJEgwKBHRvb2wYAiABKAkSDwoHYXR0ZW1wdBgDIAEoDRITCgt0cmFjZXBhcmVudBgEIAEoCRIRCglsZWRnZXJfaWQYBSABKAkiVQoKQ2FsbFN0YXR1cxIPCgdjYWxsX2lkGAEgASgJEgwKBHRvb2wYAiABKAkSKAoGc3RhdHVzGAMgASgLMhgudG9vbGhvc3QudG9vbC52MS5TdGF0dXMi1gEKCkNhbGxSZXN1bHQSDwoHY2FsbF9pZBgBIAEoCRIMCgR0b29sGAIgASgJEigKBnJlc3VsdBgDIAEoCzIYLnRvb2xob3N0LnRvb2wudjEuUmVzdWx0EiYKBWVycm9yGAQgASgLMhcudG9vbGhvc3QudG9vbC52MS5FcnJvchIOCgZwbHVnaW4YBSABKAkSEAoIaW5zdGFuY2UYBiABKAkSDgoGYW5zd2VyGAcgASgJEiUKB3NldHRsZWQYCCABKAsyFC50b29saG9zdC52MS5TZXR0bGVkIjsKCVR1cm5SZXNldBIOCgZyZWFzb24YASABKAkSDwoHYXR0ZW1wdBgCIAEoDRINCgVtb2RlbBgDIAEoCSJNCg9DYW5jZWxSZXF1ZXN0ZWQSDgoGcmVhc29uGAEgASgJEioKC3N0b3BfcmVhc29uGAIgASgOMhUuYWdlbnRkLnYxLlN0b3BSZWFzb24iQQoRRGVjaXNpb25SZXF1ZXN0ZWQSLAoIZGVjaXNpb24YASABKAsyGi5hZ2VudGQudjEuUGVuZGluZ0RlY2lzaW9uIpsBCgxNb2RlbFJlcGxpZWQSDwoHY2FsbF9pZBgBIAEoCRIMCgR0b29sGAIgASgJEg4KBnBsdWdpbhgDIAEoCRImCgV1c2FnZRgEIAEoCzIXLnRvb2xob3N0LnRvb2wudjEuVXNhZ2USDAoEY29zdBgFIAEoARImCgVlcnJvchgGIAEoCzIXLnRvb2xob3N0LnRvb2wudjEuRXJyb3IivQEKDERlY2lzaW9uTWFkZRITCgtkZWNpc2lvbl9pZBgBIAEoCRIjCgd2ZXJkaWN0GAIgASgOMhIuYWdlbnRkLnYxLlZlcmRpY3QSEQoJYXJndW1lbnRzGAMgASgMEgwKBHRleHQYBCABKAkSEgoKZGVjaWRlZF9ieRgFIAEoCRIRCglwcmluY2lwYWwYBiABKAkSKwoIc3RhbmRpbmcYByABKAsyGS5hZ2VudGQudjEuU3RhbmRpbmdDaG9pY2UiawoQRGVjaXNpb25FeHRlbmRlZBITCgtkZWNpc2lvbl9pZBgBIAEoCRIvCgtleHBpcmVfdGltZRgCIAEoCzIaLmdvb2dsZS5wcm90b2J1Zi5UaW1lc3RhbXASEQoJcHJpbmNpcGFsGAMgASgJIsYBChBTdGFuZGluZ0FwcHJvdmVkEhMKC2RlY2lzaW9uX2lkGAEgASgJEg8KB2NhbGxfaWQYAiABKAkSDAoEdG9vbBgDIAEoCRITCgthcHByb3ZhbF9pZBgEIAEoCRIQCghhcHByb3ZlchgFIAEoCRIvCgtleHBpcmVfdGltZRgGIAEoCzIaLmdvb2dsZS5wcm90b2J1Zi5UaW1lc3RhbXASJgoFZXJyb3IYByABKAsyFy50b29saG9zdC50b29sLnYxLkVycm9yIjwKDUJ1ZGdldFdhcm5pbmcSDgoGYnVkZ2V0GAEgASgJEgwKBHVzZWQYAiABKAESDQoFbGltaXQYAyABKAEihQEKDUNvbnRleHRDaGFuZ2USDAoEa2V5cxgBIAMoCRI2CgdyZWZ1c2VkGAIgAygLMiUuYWdlbnRkLnYxLkNvbnRleHRDaGFuZ2UuUmVmdXNlZEVudHJ5Gi4KDFJlZnVzZWRFbnRyeRILCgNrZXkYASABKAkSDQoFdmFsdWUYAiABKAk6AjgBIhsKClRvZG9DaGFuZ2USDQoFdG9kb3MYASABKAwiTwoNU3ViUnVuU3RhcnRlZBIPCgdjYWxsX2lkGAEgASgJEg4KBnJ1bl9pZBgCIAEoCRIOCgZwcm9tcHQYAyABKAkSDQoFYWdlbnQYBCABKAkiPQoKUnVuUmVzdW1lZBIvCgtiYWNrdXBfdGltZRgBIAEoCzIaLmdvb2dsZS5wcm90b2J1Zi5UaW1lc3RhbXAiRgoNU3ViUnVuV2FpdGluZxIPCgdjYWxsX2lkGAEgASgJEg4KBnJ1bl9pZBgCIAEoCRIUCgxkZWNpc2lvbl9pZHMYAyADKAkiuQEKCUNvbXBhY3RlZBIOCgZyZWFzb24YASABKAkSFwoPY2xlYXJlZF9yZXN1bHRzGAIgASgNEg8KB3N1bW1hcnkYAyABKAkSGQoRcmVwbGFjZWRfbWVzc2FnZXMYBCABKA0SEAoIb3ZlcmZsb3cYBSABKAgSDwoHZmFpbHVyZRgGIAEoCRImCgV1c2FnZRgHIAEoCzIXLnRvb2xob3N0LnRvb2wudjEuVXNhZ2USDAoEY29zdBgIIAEoASK8AQoLUnVuRmluaXNoZWQSKgoLc3RvcF9yZWFzb24YASABKA4yFS5hZ2VudGQudjEuU3RvcFJlYXNvbhIPCgdtZXNzYWdlGAIgASgJEgwKBHRleHQYAyABKAkSDQoFdHVybnMYBCABKA0SDQoFY2FsbHMYBSABKA0SJgoFdXNhZ2UYBiABKAsyFy50b29saG9zdC50b29sLnYxLlVzYWdlEgwKBGNvc3QYByABKAESDgoGcmVzdWx0GAggASgMKloKCkNvbXBsZXRpb24SGgoWQ09NUExFVElPTl9VTlNQRUNJRklFRBAAEhcKE0NPTVBMRVRJT05fRVhQTElDSVQQARIXChNDT01QTEVUSU9OX0VORF9UVVJOEAIqgQEKDVN0YW5kaW5nU2NvcGUSHgoaU1RBTkRJTkdfU0NPUEVfVU5TUEVDSUZJRUQQABIWChJTVEFORElOR19TQ09QRV9SVU4QARIaChZTVEFORElOR19TQ09QRV9TRVNTSU9OEAISHAoYU1RBTkRJTkdfU0NPUEVfUFJJTkNJUEFMEAMqsQEKDERlY2lzaW9uS2luZBIdChlERUNJU0lPTl9LSU5EX1VOU1BFQ0lGSUVEEAASGgoWREVDSVNJT05fS0lORF9BUFBST1ZBTBABEhoKFkRFQ0lTSU9OX0tJTkRfUVVFU1RJT04QAhIZChVERUNJU0lPTl9LSU5EX09VVENPTUUQAxIXChNERUNJU0lPTl9LSU5EX1BBVVNFEAQSFgoSREVDSVNJT05fS0lORF9UT09MEAUqdAoHVmVyZGljdBIXChNWRVJESUNUX1VOU1BFQ0lGSUVEEAASEwoPVkVSRElDVF9BUFBST1ZFEAESEgoOVkVSRElDVF9SRUpFQ1QQAhISCg5WRVJESUNUX0FOU1dFUhADEhMKD1ZFUkRJQ1RfRVhQSVJFRBAEKoYBCghSdW5TdGF0ZRIZChVSVU5fU1RBVEVfVU5TUEVDSUZJRUQQABIVChFSVU5fU1RBVEVfUlVOTklORxABEhYKElJVTl9TVEFURV9GSU5JU0hFRBACEhUKEVJVTl9TVEFURV9XQUlUSU5HEAMSGQoVUlVOX1NUQVRFX0lOVEVSUlVQVEVEEAQqwgUKClN0b3BSZWFzb24SGwoXU1RPUF9SRUFTT05fVU5TUEVDSUZJRUQQABIYChRTVE9QX1JFQVNPTl9FTkRfVFVSThABEhoKFlNUT1BfUkVBU09OX01BWF9UT0tFTlMQAhIXChNTVE9QX1JFQVNPTl9SRUZVU0FMEAMSHgoaU1RPUF9SRUFTT05fQ09OVEVOVF9GSUxURVIQBBIgChxTVE9QX1JFQVNPTl9DT05URVhUX09WRVJGTE9XEAUSGQoVU1RPUF9SRUFTT05fTUFYX1RVUk5TEAYSGQoVU1RPUF9SRUFTT05fTUFYX0NBTExTEAcSGQoVU1RPUF9SRUFTT05fQ0FOQ0VMTEVEEAgSGwoXU1RPUF9SRUFTT05fTU9ERUxfRVJST1IQCRIdChlTVE9QX1JFQVNPTl9SRVRVUk5fRElSRUNUEAoSHgoaU1RPUF9SRUFTT05fSU5URVJOQUxfRVJST1IQCxIZChVTVE9QX1JFQVNPTl9DT01QTEVURUQQDBIcChhTVE9QX1JFQVNPTl9UT0tFTl9CVURHRVQQDRIbChdTVE9QX1JFQVNPTl9DT1NUX0JVREdFVBAOEhkKFVNUT1BfUkVBU09OX1dBTExfVElNRRAPEhsKF1NUT1BfUkVBU09OX09VVFBVVF9TSVpFEBASGAoUU1RPUF9SRUFTT05fRkFJTFVSRVMQERIYChRTVE9QX1JFQVNPTl9USU1FT1VUUxASEhoKFlNUT1BfUkVBU09OX1JFUEVUSVRJT04QExIdChlTVE9QX1JFQVNPTl9OT19UT09MX0NBTExTEBQSHgoaU1RPUF9SRUFTT05fSU5WQUxJRF9BTlNXRVIQFRIeChpTVE9QX1JFQVNPTl9FTVBUWV9SRVNQT05TRRAWEhwKGFNUT1BfUkVBU09OX0NBTExfQVNfVEVYVBAXMqoICgxBZ2VudFNlcnZpY2USSgoIU3RhcnRSdW4SGi5hZ2VudGQudjEuU3RhcnRSdW5SZXF1ZXN0GhsuYWdlbnRkLnYxLlN0YXJ0UnVuUmVzcG9uc2UiBZK2GAEPElMKC1NlbmRNZXNzYWdlEh0uYWdlbnRkLnYxLlNlbmRNZXNzYWdlUmVxdWVzdBoeLmFnZW50ZC52MS5TZW5kTWVzc2FnZVJlc3BvbnNlIgWSthgBDxJNCghXYXRjaFJ1bhIaLmFnZW50ZC52MS5XYXRjaFJ1blJlcXVlc3QaGy5hZ2VudGQudjEuV2F0Y2hSdW5SZXNwb25zZSIGkrYYAhARMAESSAoHUmVzcG9uZBIZLmFnZW50ZC52MS5SZXNwb25kUmVxdWVzdBoaLmFnZW50ZC52MS5SZXNwb25kUmVzcG9uc2UiBpK2GAIQEhJOCglDYW5jZWxSdW4SGy5hZ2VudGQudjEuQ2FuY2VsUnVuUmVxdWVzdBocLmFnZW50ZC52MS5DYW5jZWxSdW5SZXNwb25zZSIGkrYYAhASEk4KCURlbGV0ZVJ1bhIbLmFnZW50ZC52MS5EZWxldGVSdW5SZXF1ZXN0GhwuYWdlbnRkLnYxLkRlbGV0ZVJ1blJlc3BvbnNlIgaSthgCEBkSRQoGR2V0UnVuEhguYWdlbnRkLnYxLkdldFJ1blJlcXVlc3QaGS5hZ2VudGQudjEuR2V0UnVuUmVzcG9uc2UiBpK2GAIQERJLCghMaXN0UnVucxIaLmFnZW50ZC52MS5MaXN0UnVuc1JlcXVlc3QaGy5hZ2VudGQudjEuTGlzdFJ1bnNSZXNwb25zZSIGkrYYAhARElAKCkdldFZlcnNpb24SHC5hZ2VudGQudjEuR2V0VmVyc2lvblJlcXVlc3QaHS5hZ2VudGQudjEuR2V0VmVyc2lvblJlc3BvbnNlIgWSthgBFBJECgZXaG9BbUkSGC5hZ2VudGQudjEuV2hvQW1JUmVxdWVzdBoZLmFnZW50ZC52MS5XaG9BbUlSZXNwb25zZSIFkrYYARYSRAoGUmVsb2FkEhguYWdlbnRkLnYxLlJlbG9hZFJlcXVlc3QaGS5hZ2VudGQudjEuUmVsb2FkUmVzcG9uc2UiBZK2GAEKEmUKEURpZmZDb25maWd1cmF0aW9uEiMuYWdlbnRkLnYxLkRpZmZDb25maWd1cmF0aW9uUmVxdWVzdBokLmFnZW50ZC52MS5EaWZmQ29uZmlndXJhdGlvblJlc3BvbnNlIgWSthgBCRJnChFDcmVhdGVDb25zb2xlQ29kZRIjLmFnZW50ZC52MS5DcmVhdGVDb25zb2xlQ29kZVJlcXVlc3QaJC5hZ2VudGQudjEuQ3JlYXRlQ29uc29sZUNvZGVSZXNwb25zZSIHkrYYAxAREkI4WjZnaXRodWIuY29tL3Rvb2xob3N0L3Rvb2xob3N0L2dlbi9nby9hZ2VudGQvdjE7YWdlbnRkdjFiBnByb3RvMw", [file_google_protobuf_duration, file_google_protobuf_timestamp, file_toolhost_tool_v1_caller, file_toolhost_tool_v1_error, file_toolhost_tool_v1_result, file_toolhost_tool_v1_right, file_toolhost_tool_v1_status, file_toolhost_tool_v1_version, file_toolhost_v1_settled]);
/**
 * Describes the message agentd.v1.CreateConsoleCodeRequest.
 * Use `create(CreateConsoleCodeRequestSchema)` to create a new message.
 */
export const CreateConsoleCodeRequestSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 0);
/**
 * Describes the message agentd.v1.CreateConsoleCodeResponse.
 * Use `create(CreateConsoleCodeResponseSchema)` to create a new message.
 */
export const CreateConsoleCodeResponseSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 1);
/**
 * Describes the message agentd.v1.ReloadRequest.
 * Use `create(ReloadRequestSchema)` to create a new message.
 */
export const ReloadRequestSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 2);
/**
 * Describes the message agentd.v1.ReloadResponse.
 * Use `create(ReloadResponseSchema)` to create a new message.
 */
export const ReloadResponseSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 3);
/**
 * Describes the message agentd.v1.DiffConfigurationRequest.
 * Use `create(DiffConfigurationRequestSchema)` to create a new message.
 */
export const DiffConfigurationRequestSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 4);
/**
 * Describes the message agentd.v1.DiffConfigurationResponse.
 * Use `create(DiffConfigurationResponseSchema)` to create a new message.
 */
export const DiffConfigurationResponseSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 5);
/**
 * Describes the message agentd.v1.ConfigurationChange.
 * Use `create(ConfigurationChangeSchema)` to create a new message.
 */
export const ConfigurationChangeSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 6);
/**
 * Describes the message agentd.v1.SettingChange.
 * Use `create(SettingChangeSchema)` to create a new message.
 */
export const SettingChangeSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 7);
/**
 * Describes the message agentd.v1.GetVersionRequest.
 * Use `create(GetVersionRequestSchema)` to create a new message.
 */
export const GetVersionRequestSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 8);
/**
 * Describes the message agentd.v1.GetVersionResponse.
 * Use `create(GetVersionResponseSchema)` to create a new message.
 */
export const GetVersionResponseSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 9);
/**
 * Describes the message agentd.v1.WhoAmIRequest.
 * Use `create(WhoAmIRequestSchema)` to create a new message.
 */
export const WhoAmIRequestSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 10);
/**
 * Describes the message agentd.v1.WhoAmIResponse.
 * Use `create(WhoAmIResponseSchema)` to create a new message.
 */
export const WhoAmIResponseSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 11);
/**
 * Describes the message agentd.v1.StartRunRequest.
 * Use `create(StartRunRequestSchema)` to create a new message.
 */
export const StartRunRequestSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 12);
/**
 * Describes the message agentd.v1.Attachment.
 * Use `create(AttachmentSchema)` to create a new message.
 */
export const AttachmentSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 13);
/**
 * Describes the message agentd.v1.ArtifactSource.
 * Use `create(ArtifactSourceSchema)` to create a new message.
 */
export const ArtifactSourceSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 14);
/**
 * Describes the message agentd.v1.AttachmentInfo.
 * Use `create(AttachmentInfoSchema)` to create a new message.
 */
export const AttachmentInfoSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 15);
/**
 * Describes the message agentd.v1.Sampling.
 * Use `create(SamplingSchema)` to create a new message.
 */
export const SamplingSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 16);
/**
 * Describes the message agentd.v1.Window.
 * Use `create(WindowSchema)` to create a new message.
 */
export const WindowSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 17);
/**
 * Describes the message agentd.v1.SystemTools.
 * Use `create(SystemToolsSchema)` to create a new message.
 */
export const SystemToolsSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 18);
/**
 * Describes the message agentd.v1.People.
 * Use `create(PeopleSchema)` to create a new message.
 */
export const PeopleSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 19);
/**
 * Describes the message agentd.v1.ToolChoice.
 * Use `create(ToolChoiceSchema)` to create a new message.
 */
export const ToolChoiceSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 20);
/**
 * Describes the message agentd.v1.Limits.
 * Use `create(LimitsSchema)` to create a new message.
 */
export const LimitsSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 21);
/**
 * Describes the message agentd.v1.StartRunResponse.
 * Use `create(StartRunResponseSchema)` to create a new message.
 */
export const StartRunResponseSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 22);
/**
 * Describes the message agentd.v1.SendMessageRequest.
 * Use `create(SendMessageRequestSchema)` to create a new message.
 */
export const SendMessageRequestSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 23);
/**
 * Describes the message agentd.v1.SendMessageResponse.
 * Use `create(SendMessageResponseSchema)` to create a new message.
 */
export const SendMessageResponseSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 24);
/**
 * Describes the message agentd.v1.WatchRunRequest.
 * Use `create(WatchRunRequestSchema)` to create a new message.
 */
export const WatchRunRequestSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 25);
/**
 * Describes the message agentd.v1.WatchRunResponse.
 * Use `create(WatchRunResponseSchema)` to create a new message.
 */
export const WatchRunResponseSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 26);
/**
 * Describes the message agentd.v1.RespondRequest.
 * Use `create(RespondRequestSchema)` to create a new message.
 */
export const RespondRequestSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 27);
/**
 * Describes the message agentd.v1.Decision.
 * Use `create(DecisionSchema)` to create a new message.
 */
export const DecisionSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 28);
/**
 * Describes the message agentd.v1.Approve.
 * Use `create(ApproveSchema)` to create a new message.
 */
export const ApproveSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 29);
/**
 * Describes the message agentd.v1.StandingChoice.
 * Use `create(StandingChoiceSchema)` to create a new message.
 */
export const StandingChoiceSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 30);
/**
 * Describes the message agentd.v1.StandingPattern.
 * Use `create(StandingPatternSchema)` to create a new message.
 */
export const StandingPatternSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 31);
/**
 * Describes the message agentd.v1.Reject.
 * Use `create(RejectSchema)` to create a new message.
 */
export const RejectSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 32);
/**
 * Describes the message agentd.v1.Answer.
 * Use `create(AnswerSchema)` to create a new message.
 */
export const AnswerSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 33);
/**
 * Describes the message agentd.v1.RespondResponse.
 * Use `create(RespondResponseSchema)` to create a new message.
 */
export const RespondResponseSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 34);
/**
 * Describes the message agentd.v1.CancelRunRequest.
 * Use `create(CancelRunRequestSchema)` to create a new message.
 */
export const CancelRunRequestSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 35);
/**
 * Describes the message agentd.v1.CancelRunResponse.
 * Use `create(CancelRunResponseSchema)` to create a new message.
 */
export const CancelRunResponseSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 36);
/**
 * Describes the message agentd.v1.DeleteRunRequest.
 * Use `create(DeleteRunRequestSchema)` to create a new message.
 */
export const DeleteRunRequestSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 37);
/**
 * Describes the message agentd.v1.DeleteRunResponse.
 * Use `create(DeleteRunResponseSchema)` to create a new message.
 */
export const DeleteRunResponseSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 38);
/**
 * Describes the message agentd.v1.GetRunRequest.
 * Use `create(GetRunRequestSchema)` to create a new message.
 */
export const GetRunRequestSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 39);
/**
 * Describes the message agentd.v1.GetRunResponse.
 * Use `create(GetRunResponseSchema)` to create a new message.
 */
export const GetRunResponseSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 40);
/**
 * Describes the message agentd.v1.ListRunsRequest.
 * Use `create(ListRunsRequestSchema)` to create a new message.
 */
export const ListRunsRequestSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 41);
/**
 * Describes the message agentd.v1.ListRunsResponse.
 * Use `create(ListRunsResponseSchema)` to create a new message.
 */
export const ListRunsResponseSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 42);
/**
 * Describes the message agentd.v1.Run.
 * Use `create(RunSchema)` to create a new message.
 */
export const RunSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 43);
/**
 * Describes the message agentd.v1.Settlements.
 * Use `create(SettlementsSchema)` to create a new message.
 */
export const SettlementsSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 44);
/**
 * Describes the message agentd.v1.PendingDecision.
 * Use `create(PendingDecisionSchema)` to create a new message.
 */
export const PendingDecisionSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 45);
/**
 * Describes the message agentd.v1.RunEvent.
 * Use `create(RunEventSchema)` to create a new message.
 */
export const RunEventSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 46);
/**
 * Describes the message agentd.v1.RunStarted.
 * Use `create(RunStartedSchema)` to create a new message.
 */
export const RunStartedSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 47);
/**
 * Describes the message agentd.v1.MemoryFile.
 * Use `create(MemoryFileSchema)` to create a new message.
 */
export const MemoryFileSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 48);
/**
 * Describes the message agentd.v1.UserMessage.
 * Use `create(UserMessageSchema)` to create a new message.
 */
export const UserMessageSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 49);
/**
 * Describes the message agentd.v1.TextDelta.
 * Use `create(TextDeltaSchema)` to create a new message.
 */
export const TextDeltaSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 50);
/**
 * Describes the message agentd.v1.ReasoningDelta.
 * Use `create(ReasoningDeltaSchema)` to create a new message.
 */
export const ReasoningDeltaSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 51);
/**
 * Describes the message agentd.v1.ArgumentDelta.
 * Use `create(ArgumentDeltaSchema)` to create a new message.
 */
export const ArgumentDeltaSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 52);
/**
 * Describes the message agentd.v1.AnswerDelta.
 * Use `create(AnswerDeltaSchema)` to create a new message.
 */
export const AnswerDeltaSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 53);
/**
 * Describes the message agentd.v1.AssistantMessage.
 * Use `create(AssistantMessageSchema)` to create a new message.
 */
export const AssistantMessageSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 54);
/**
 * Describes the message agentd.v1.ToolCall.
 * Use `create(ToolCallSchema)` to create a new message.
 */
export const ToolCallSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 55);
/**
 * Describes the message agentd.v1.CallStarted.
 * Use `create(CallStartedSchema)` to create a new message.
 */
export const CallStartedSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 56);
/**
 * Describes the message agentd.v1.CallStatus.
 * Use `create(CallStatusSchema)` to create a new message.
 */
export const CallStatusSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 57);
/**
 * Describes the message agentd.v1.CallResult.
 * Use `create(CallResultSchema)` to create a new message.
 */
export const CallResultSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 58);
/**
 * Describes the message agentd.v1.TurnReset.
 * Use `create(TurnResetSchema)` to create a new message.
 */
export const TurnResetSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 59);
/**
 * Describes the message agentd.v1.CancelRequested.
 * Use `create(CancelRequestedSchema)` to create a new message.
 */
export const CancelRequestedSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 60);
/**
 * Describes the message agentd.v1.DecisionRequested.
 * Use `create(DecisionRequestedSchema)` to create a new message.
 */
export const DecisionRequestedSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 61);
/**
 * Describes the message agentd.v1.ModelReplied.
 * Use `create(ModelRepliedSchema)` to create a new message.
 */
export const ModelRepliedSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 62);
/**
 * Describes the message agentd.v1.DecisionMade.
 * Use `create(DecisionMadeSchema)` to create a new message.
 */
export const DecisionMadeSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 63);
/**
 * Describes the message agentd.v1.DecisionExtended.
 * Use `create(DecisionExtendedSchema)` to create a new message.
 */
export const DecisionExtendedSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 64);
/**
 * Describes the message agentd.v1.StandingApproved.
 * Use `create(StandingApprovedSchema)` to create a new message.
 */
export const StandingApprovedSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 65);
/**
 * Describes the message agentd.v1.BudgetWarning.
 * Use `create(BudgetWarningSchema)` to create a new message.
 */
export const BudgetWarningSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 66);
/**
 * Describes the message agentd.v1.ContextChange.
 * Use `create(ContextChangeSchema)` to create a new message.
 */
export const ContextChangeSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 67);
/**
 * Describes the message agentd.v1.TodoChange.
 * Use `create(TodoChangeSchema)` to create a new message.
 */
export const TodoChangeSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 68);
/**
 * Describes the message agentd.v1.SubRunStarted.
 * Use `create(SubRunStartedSchema)` to create a new message.
 */
export const SubRunStartedSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 69);
/**
 * Describes the message agentd.v1.RunResumed.
 * Use `create(RunResumedSchema)` to create a new message.
 */
export const RunResumedSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 70);
/**
 * Describes the message agentd.v1.SubRunWaiting.
 * Use `create(SubRunWaitingSchema)` to create a new message.
 */
export const SubRunWaitingSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 71);
/**
 * Describes the message agentd.v1.Compacted.
 * Use `create(CompactedSchema)` to create a new message.
 */
export const CompactedSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 72);
/**
 * Describes the message agentd.v1.RunFinished.
 * Use `create(RunFinishedSchema)` to create a new message.
 */
export const RunFinishedSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 73);
/**
 * Completion says when a run has succeeded.
 *
 * @generated from enum agentd.v1.Completion
 */
export var Completion;
(function (Completion) {
    /**
     * Not set.
     *
     * @generated from enum value: COMPLETION_UNSPECIFIED = 0;
     */
    Completion[Completion["UNSPECIFIED"] = 0] = "UNSPECIFIED";
    /**
     * When the model calls `attempt_completion`. If the model responds without a call, agentd reminds
     * it; after three such responses the run pauses.
     *
     * @generated from enum value: COMPLETION_EXPLICIT = 1;
     */
    Completion[Completion["EXPLICIT"] = 1] = "EXPLICIT";
    /**
     * When the model responds without a call.
     *
     * @generated from enum value: COMPLETION_END_TURN = 2;
     */
    Completion[Completion["END_TURN"] = 2] = "END_TURN";
})(Completion || (Completion = {}));
/**
 * Describes the enum agentd.v1.Completion.
 */
export const CompletionSchema = /*@__PURE__*/ enumDesc(file_agentd_v1_agent_service, 0);
/**
 * StandingScope says for which calls a standing approval is valid.
 *
 * @generated from enum agentd.v1.StandingScope
 */
export var StandingScope;
(function (StandingScope) {
    /**
     * Not set.
     *
     * @generated from enum value: STANDING_SCOPE_UNSPECIFIED = 0;
     */
    StandingScope[StandingScope["UNSPECIFIED"] = 0] = "UNSPECIFIED";
    /**
     * The calls of this run, without its sub-runs.
     *
     * @generated from enum value: STANDING_SCOPE_RUN = 1;
     */
    StandingScope[StandingScope["RUN"] = 1] = "RUN";
    /**
     * The calls of the run's session.
     *
     * @generated from enum value: STANDING_SCOPE_SESSION = 2;
     */
    StandingScope[StandingScope["SESSION"] = 2] = "SESSION";
    /**
     * All calls of the principal until `expire_time`.
     *
     * @generated from enum value: STANDING_SCOPE_PRINCIPAL = 3;
     */
    StandingScope[StandingScope["PRINCIPAL"] = 3] = "PRINCIPAL";
})(StandingScope || (StandingScope = {}));
/**
 * Describes the enum agentd.v1.StandingScope.
 */
export const StandingScopeSchema = /*@__PURE__*/ enumDesc(file_agentd_v1_agent_service, 1);
/**
 * DecisionKind says what a person has to decide, and which verdicts fit.
 *
 * @generated from enum agentd.v1.DecisionKind
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
     * Whether a call may be executed: approve, optionally with other arguments, or reject.
     *
     * @generated from enum value: DECISION_KIND_APPROVAL = 1;
     */
    DecisionKind[DecisionKind["APPROVAL"] = 1] = "APPROVAL";
    /**
     * A question from the model: answer, or reject to leave it unanswered.
     *
     * @generated from enum value: DECISION_KIND_QUESTION = 2;
     */
    DecisionKind[DecisionKind["QUESTION"] = 2] = "QUESTION";
    /**
     * How to continue after a call with an unknown outcome: approve to execute it again, answer to
     * tell the model how it ended, or reject to leave the outcome unknown.
     *
     * @generated from enum value: DECISION_KIND_OUTCOME = 3;
     */
    DecisionKind[DecisionKind["OUTCOME"] = 3] = "OUTCOME";
    /**
     * Whether a paused run continues: approve, or reject to end it. A user message also makes it
     * continue.
     *
     * @generated from enum value: DECISION_KIND_PAUSE = 4;
     */
    DecisionKind[DecisionKind["PAUSE"] = 4] = "PAUSE";
    /**
     * A question of the tool of a running call: answer, or reject to decline. The text of the answer
     * is a JSON object that fits `schema`. If the schema has only one property, a text, the answer may
     * be that text. If toolhost refuses the answer, the run asks again.
     *
     * @generated from enum value: DECISION_KIND_TOOL = 5;
     */
    DecisionKind[DecisionKind["TOOL"] = 5] = "TOOL";
})(DecisionKind || (DecisionKind = {}));
/**
 * Describes the enum agentd.v1.DecisionKind.
 */
export const DecisionKindSchema = /*@__PURE__*/ enumDesc(file_agentd_v1_agent_service, 2);
/**
 * Verdict is the content of a decision.
 *
 * @generated from enum agentd.v1.Verdict
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
 * Describes the enum agentd.v1.Verdict.
 */
export const VerdictSchema = /*@__PURE__*/ enumDesc(file_agentd_v1_agent_service, 3);
/**
 * RunState is the state of a run.
 *
 * @generated from enum agentd.v1.RunState
 */
export var RunState;
(function (RunState) {
    /**
     * Not set, or the journal of the run cannot be read.
     *
     * @generated from enum value: RUN_STATE_UNSPECIFIED = 0;
     */
    RunState[RunState["UNSPECIFIED"] = 0] = "UNSPECIFIED";
    /**
     * An agentd is working on the run. The run may be waiting for a model or a tool.
     *
     * @generated from enum value: RUN_STATE_RUNNING = 1;
     */
    RunState[RunState["RUNNING"] = 1] = "RUNNING";
    /**
     * The run has ended. A user message makes it continue.
     *
     * @generated from enum value: RUN_STATE_FINISHED = 2;
     */
    RunState[RunState["FINISHED"] = 2] = "FINISHED";
    /**
     * The run waits for a person. Calls that need no decision may still be running.
     *
     * @generated from enum value: RUN_STATE_WAITING = 3;
     */
    RunState[RunState["WAITING"] = 3] = "WAITING";
    /**
     * The run has not ended, no agentd is working on it, and no decision is pending. `agentd serve`
     * continues such a run when it starts. `agentd resume` continues a run that `agentd run` or
     * `agentd chat` started.
     *
     * @generated from enum value: RUN_STATE_INTERRUPTED = 4;
     */
    RunState[RunState["INTERRUPTED"] = 4] = "INTERRUPTED";
})(RunState || (RunState = {}));
/**
 * Describes the enum agentd.v1.RunState.
 */
export const RunStateSchema = /*@__PURE__*/ enumDesc(file_agentd_v1_agent_service, 4);
/**
 * StopReason says why a run ended.
 *
 * @generated from enum agentd.v1.StopReason
 */
export var StopReason;
(function (StopReason) {
    /**
     * Not set.
     *
     * @generated from enum value: STOP_REASON_UNSPECIFIED = 0;
     */
    StopReason[StopReason["UNSPECIFIED"] = 0] = "UNSPECIFIED";
    /**
     * The model responded without a call.
     *
     * @generated from enum value: STOP_REASON_END_TURN = 1;
     */
    StopReason[StopReason["END_TURN"] = 1] = "END_TURN";
    /**
     * The model's response was truncated at its token limit twice.
     *
     * @generated from enum value: STOP_REASON_MAX_TOKENS = 2;
     */
    StopReason[StopReason["MAX_TOKENS"] = 2] = "MAX_TOKENS";
    /**
     * The model refused to respond.
     *
     * @generated from enum value: STOP_REASON_REFUSAL = 3;
     */
    StopReason[StopReason["REFUSAL"] = 3] = "REFUSAL";
    /**
     * The provider blocked the response.
     *
     * @generated from enum value: STOP_REASON_CONTENT_FILTER = 4;
     */
    StopReason[StopReason["CONTENT_FILTER"] = 4] = "CONTENT_FILTER";
    /**
     * The conversation no longer fits into the context window.
     *
     * @generated from enum value: STOP_REASON_CONTEXT_OVERFLOW = 5;
     */
    StopReason[StopReason["CONTEXT_OVERFLOW"] = 5] = "CONTEXT_OVERFLOW";
    /**
     * Limits.max_turns was reached.
     *
     * @generated from enum value: STOP_REASON_MAX_TURNS = 6;
     */
    StopReason[StopReason["MAX_TURNS"] = 6] = "MAX_TURNS";
    /**
     * Limits.max_calls was reached.
     *
     * @generated from enum value: STOP_REASON_MAX_CALLS = 7;
     */
    StopReason[StopReason["MAX_CALLS"] = 7] = "MAX_CALLS";
    /**
     * A client canceled the run.
     *
     * @generated from enum value: STOP_REASON_CANCELLED = 8;
     */
    StopReason[StopReason["CANCELLED"] = 8] = "CANCELLED";
    /**
     * The model request failed, or its response was unusable.
     *
     * @generated from enum value: STOP_REASON_MODEL_ERROR = 9;
     */
    StopReason[StopReason["MODEL_ERROR"] = 9] = "MODEL_ERROR";
    /**
     * A tool with `return_direct` returned the final answer.
     *
     * @generated from enum value: STOP_REASON_RETURN_DIRECT = 10;
     */
    StopReason[StopReason["RETURN_DIRECT"] = 10] = "RETURN_DIRECT";
    /**
     * A bug in agentd, or a journal that agentd cannot write.
     *
     * @generated from enum value: STOP_REASON_INTERNAL_ERROR = 11;
     */
    StopReason[StopReason["INTERNAL_ERROR"] = 11] = "INTERNAL_ERROR";
    /**
     * The model called `attempt_completion`, or its answer fits `StartRunRequest.response_schema`.
     *
     * @generated from enum value: STOP_REASON_COMPLETED = 12;
     */
    StopReason[StopReason["COMPLETED"] = 12] = "COMPLETED";
    /**
     * Limits.max_tokens was reached.
     *
     * @generated from enum value: STOP_REASON_TOKEN_BUDGET = 13;
     */
    StopReason[StopReason["TOKEN_BUDGET"] = 13] = "TOKEN_BUDGET";
    /**
     * Limits.max_cost was reached.
     *
     * @generated from enum value: STOP_REASON_COST_BUDGET = 14;
     */
    StopReason[StopReason["COST_BUDGET"] = 14] = "COST_BUDGET";
    /**
     * Limits.max_wall_time was reached.
     *
     * @generated from enum value: STOP_REASON_WALL_TIME = 15;
     */
    StopReason[StopReason["WALL_TIME"] = 15] = "WALL_TIME";
    /**
     * Limits.max_output was reached.
     *
     * @generated from enum value: STOP_REASON_OUTPUT_SIZE = 16;
     */
    StopReason[StopReason["OUTPUT_SIZE"] = 16] = "OUTPUT_SIZE";
    /**
     * Limits.max_failures was reached.
     *
     * @generated from enum value: STOP_REASON_FAILURES = 17;
     */
    StopReason[StopReason["FAILURES"] = 17] = "FAILURES";
    /**
     * Limits.max_timeouts was reached.
     *
     * @generated from enum value: STOP_REASON_TIMEOUTS = 18;
     */
    StopReason[StopReason["TIMEOUTS"] = 18] = "TIMEOUTS";
    /**
     * Limits.max_repeats was reached.
     *
     * @generated from enum value: STOP_REASON_REPETITION = 19;
     */
    StopReason[StopReason["REPETITION"] = 19] = "REPETITION";
    /**
     * The run requires explicit completion, but the model repeatedly responded without a call.
     *
     * @generated from enum value: STOP_REASON_NO_TOOL_CALLS = 20;
     */
    StopReason[StopReason["NO_TOOL_CALLS"] = 20] = "NO_TOOL_CALLS";
    /**
     * The answer did not fit `StartRunRequest.response_schema`, also after two repairs.
     *
     * @generated from enum value: STOP_REASON_INVALID_ANSWER = 21;
     */
    StopReason[StopReason["INVALID_ANSWER"] = 21] = "INVALID_ANSWER";
    /**
     * Two responses in a row had neither text nor a call.
     *
     * @generated from enum value: STOP_REASON_EMPTY_RESPONSE = 22;
     */
    StopReason[StopReason["EMPTY_RESPONSE"] = 22] = "EMPTY_RESPONSE";
    /**
     * Two responses in a row were a tool call as text, in the markup of a model. Nothing was called.
     *
     * @generated from enum value: STOP_REASON_CALL_AS_TEXT = 23;
     */
    StopReason[StopReason["CALL_AS_TEXT"] = 23] = "CALL_AS_TEXT";
})(StopReason || (StopReason = {}));
/**
 * Describes the enum agentd.v1.StopReason.
 */
export const StopReasonSchema = /*@__PURE__*/ enumDesc(file_agentd_v1_agent_service, 5);
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
export const AgentService = /*@__PURE__*/ serviceDesc(file_agentd_v1_agent_service, 0);
