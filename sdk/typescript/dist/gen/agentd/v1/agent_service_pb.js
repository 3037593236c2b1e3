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
export const file_agentd_v1_agent_service = /*@__PURE__*/ fileDesc("Ch1hZ2VudGQvdjEvYWdlbnRfc2VydmljZS5wcm90bxIJYWdlbnRkLnYxIhoKGENyZWF0ZUNvbnNvbGVDb2RlUmVxdWVzdCJnChlDcmVhdGVDb25zb2xlQ29kZVJlc3BvbnNlEgwKBGNvZGUYASABKAkSLwoLZXhwaXJlX3RpbWUYAiABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wEgsKA3VybBgDIAEoCSIPCg1SZWxvYWRSZXF1ZXN0IkcKDlJlbG9hZFJlc3BvbnNlEjUKDWNvbmZpZ3VyYXRpb24YASABKAsyHi5hZ2VudGQudjEuQ29uZmlndXJhdGlvbkNoYW5nZSIaChhEaWZmQ29uZmlndXJhdGlvblJlcXVlc3QiUgoZRGlmZkNvbmZpZ3VyYXRpb25SZXNwb25zZRI1Cg1jb25maWd1cmF0aW9uGAEgASgLMh4uYWdlbnRkLnYxLkNvbmZpZ3VyYXRpb25DaGFuZ2UiXwoTQ29uZmlndXJhdGlvbkNoYW5nZRIMCgRmaWxlGAEgASgJEikKB2NoYW5nZXMYAiADKAsyGC5hZ2VudGQudjEuU2V0dGluZ0NoYW5nZRIPCgdwcm9ibGVtGAMgASgJIkcKDVNldHRpbmdDaGFuZ2USCwoDa2V5GAEgASgJEgsKA29sZBgCIAEoCRILCgNuZXcYAyABKAkSDwoHcmVzdGFydBgEIAEoCCITChFHZXRWZXJzaW9uUmVxdWVzdCJEChJHZXRWZXJzaW9uUmVzcG9uc2USLgoHdmVyc2lvbhgBIAEoCzIdLnRvb2xob3N0LnRvb2wudjEuVmVyc2lvbkluZm8iDwoNV2hvQW1JUmVxdWVzdCI+Cg5XaG9BbUlSZXNwb25zZRIsCgZjYWxsZXIYASABKAsyHC50b29saG9zdC50b29sLnYxLkNhbGxlckluZm8iiwUKD1N0YXJ0UnVuUmVxdWVzdBIOCgZwcm9tcHQYASABKAkSDgoGcnVuX2lkGAIgASgJEhUKDXN5c3RlbV9wcm9tcHQYAyABKAkSJAoFdG9vbHMYBCABKAsyFS5hZ2VudGQudjEuVG9vbENob2ljZRIhCgZsaW1pdHMYBSABKAsyES5hZ2VudGQudjEuTGltaXRzEg8KB3Nlc3Npb24YBiABKAkSIQoGcGVvcGxlGAcgASgLMhEuYWdlbnRkLnYxLlBlb3BsZRI4Cgdjb250ZXh0GAggAygLMicuYWdlbnRkLnYxLlN0YXJ0UnVuUmVxdWVzdC5Db250ZXh0RW50cnkSGwoTZXhwbGljaXRfY29tcGxldGlvbhgJIAEoCBIhCgZ3aW5kb3cYCiABKAsyES5hZ2VudGQudjEuV2luZG93EiwKDHN5c3RlbV90b29scxgLIAEoCzIWLmFnZW50ZC52MS5TeXN0ZW1Ub29scxIVCghzdWJfcnVucxgMIAEoDUgAiAEBEg0KBWFnZW50GA0gASgJEikKCmNvbXBsZXRpb24YDiABKA4yFS5hZ2VudGQudjEuQ29tcGxldGlvbhITCgt0cmFjZXBhcmVudBgPIAEoCRINCgVtb2RlbBgQIAEoCRIlCghzYW1wbGluZxgRIAEoCzITLmFnZW50ZC52MS5TYW1wbGluZxIXCg9yZXNwb25zZV9zY2hlbWEYEiABKAwSKgoLYXR0YWNobWVudHMYEyADKAsyFS5hZ2VudGQudjEuQXR0YWNobWVudBouCgxDb250ZXh0RW50cnkSCwoDa2V5GAEgASgJEg0KBXZhbHVlGAIgASgMOgI4AUILCglfc3ViX3J1bnMidwoKQXR0YWNobWVudBIMCgRuYW1lGAEgASgJEhEKCW1pbWVfdHlwZRgCIAEoCRIOCgRkYXRhGAMgASgMSAASLQoIYXJ0aWZhY3QYBCABKAsyGS5hZ2VudGQudjEuQXJ0aWZhY3RTb3VyY2VIAEIJCgdjb250ZW50IjEKDkFydGlmYWN0U291cmNlEg4KBmhhbmRsZRgBIAEoCRIPCgdzZXNzaW9uGAIgASgJImEKDkF0dGFjaG1lbnRJbmZvEgwKBG5hbWUYASABKAkSEQoJbWltZV90eXBlGAIgASgJEgwKBHNpemUYAyABKAQSDgoGc2hhMjU2GAQgASgJEhAKCGFydGlmYWN0GAUgASgJImIKCFNhbXBsaW5nEhgKC3RlbXBlcmF0dXJlGAEgASgBSACIAQESEgoFdG9wX3AYAiABKAFIAYgBARIOCgZlZmZvcnQYAyABKAlCDgoMX3RlbXBlcmF0dXJlQggKBl90b3BfcCJOCgZXaW5kb3cSDgoGdG9rZW5zGAEgASgEEhAKCGNsZWFyX2F0GAIgASgBEhQKDHN1bW1hcml6ZV9hdBgDIAEoARIMCgRrZWVwGAQgASgNIhwKC1N5c3RlbVRvb2xzEg0KBW5hbWVzGAEgAygJIloKBlBlb3BsZRIQCghhdHRlbmRlZBgBIAEoCBIpCgZleHBpcnkYAiABKAsyGS5nb29nbGUucHJvdG9idWYuRHVyYXRpb24SEwoLYXNrX291dGNvbWUYAyABKAgizQEKClRvb2xDaG9pY2USDQoFbmFtZXMYASADKAkSEgoKY2F0ZWdvcmllcxgCIAMoCRIMCgR0YWdzGAMgAygJEhYKCWRhbmdlcm91cxgEIAEoCEgAiAEBEh0KEG1heF9jb3N0X3Blcl91c2UYBSABKAFIAYgBARIRCgltYXhfdG9vbHMYBiABKA0SDwoHcGx1Z2lucxgHIAMoCRIQCghleGNsdWRlZBgIIAMoCUIMCgpfZGFuZ2Vyb3VzQhMKEV9tYXhfY29zdF9wZXJfdXNlIvgBCgZMaW1pdHMSEQoJbWF4X3R1cm5zGAEgASgNEhEKCW1heF9jYWxscxgCIAEoDRIbChNtYXhfcmVzcG9uc2VfdG9rZW5zGAMgASgNEhIKCm1heF90b2tlbnMYBCABKAQSEAoIbWF4X2Nvc3QYBSABKAESMAoNbWF4X3dhbGxfdGltZRgGIAEoCzIZLmdvb2dsZS5wcm90b2J1Zi5EdXJhdGlvbhISCgptYXhfb3V0cHV0GAcgASgEEhQKDG1heF9mYWlsdXJlcxgIIAEoDRIUCgxtYXhfdGltZW91dHMYCSABKA0SEwoLbWF4X3JlcGVhdHMYCiABKA0iIgoQU3RhcnRSdW5SZXNwb25zZRIOCgZydW5faWQYASABKAkicgoSU2VuZE1lc3NhZ2VSZXF1ZXN0Eg4KBnJ1bl9pZBgBIAEoCRIMCgR0ZXh0GAIgASgJEioKC2F0dGFjaG1lbnRzGAMgAygLMhUuYWdlbnRkLnYxLkF0dGFjaG1lbnQSEgoKbWVzc2FnZV9pZBgEIAEoCSIiChNTZW5kTWVzc2FnZVJlc3BvbnNlEgsKA3NlcRgBIAEoBCI0Cg9XYXRjaFJ1blJlcXVlc3QSDgoGcnVuX2lkGAEgASgJEhEKCWFmdGVyX3NlcRgCIAEoBCI2ChBXYXRjaFJ1blJlc3BvbnNlEiIKBWV2ZW50GAEgASgLMhMuYWdlbnRkLnYxLlJ1bkV2ZW50IlwKDlJlc3BvbmRSZXF1ZXN0Eg4KBnJ1bl9pZBgBIAEoCRImCglkZWNpc2lvbnMYAiADKAsyEy5hZ2VudGQudjEuRGVjaXNpb24SEgoKZGVjaWRlZF9ieRgDIAEoCSKbAQoIRGVjaXNpb24SEwoLZGVjaXNpb25faWQYASABKAkSJQoHYXBwcm92ZRgCIAEoCzISLmFnZW50ZC52MS5BcHByb3ZlSAASIwoGcmVqZWN0GAMgASgLMhEuYWdlbnRkLnYxLlJlamVjdEgAEiMKBmFuc3dlchgEIAEoCzIRLmFnZW50ZC52MS5BbnN3ZXJIAEIJCgd2ZXJkaWN0IlkKB0FwcHJvdmUSEQoJYXJndW1lbnRzGAEgASgMEg4KBnJlYXNvbhgCIAEoCRIrCghzdGFuZGluZxgDIAEoCzIZLmFnZW50ZC52MS5TdGFuZGluZ0Nob2ljZSKvAQoOU3RhbmRpbmdDaG9pY2USJwoFc2NvcGUYASABKA4yGC5hZ2VudGQudjEuU3RhbmRpbmdTY29wZRIVCg1hbnlfYXJndW1lbnRzGAIgASgIEiwKCHBhdHRlcm5zGAMgAygLMhouYWdlbnRkLnYxLlN0YW5kaW5nUGF0dGVybhIvCgtleHBpcmVfdGltZRgEIAEoCzIaLmdvb2dsZS5wcm90b2J1Zi5UaW1lc3RhbXAiYwoPU3RhbmRpbmdQYXR0ZXJuEhAKCGFyZ3VtZW50GAEgASgJEhUKC3BhdGhfcHJlZml4GAIgASgJSAASEAoGb3JpZ2luGAMgASgJSAASDQoDYW55GAQgASgISABCBgoEZm9ybSIYCgZSZWplY3QSDgoGcmVhc29uGAEgASgJIhYKBkFuc3dlchIMCgR0ZXh0GAEgASgJIh4KD1Jlc3BvbmRSZXNwb25zZRILCgNzZXEYASABKAQiMgoQQ2FuY2VsUnVuUmVxdWVzdBIOCgZydW5faWQYASABKAkSDgoGcmVhc29uGAIgASgJIhMKEUNhbmNlbFJ1blJlc3BvbnNlIiIKEERlbGV0ZVJ1blJlcXVlc3QSDgoGcnVuX2lkGAEgASgJIiQKEURlbGV0ZVJ1blJlc3BvbnNlEg8KB3J1bl9pZHMYASADKAkiHwoNR2V0UnVuUmVxdWVzdBIOCgZydW5faWQYASABKAkiLQoOR2V0UnVuUmVzcG9uc2USGwoDcnVuGAEgASgLMg4uYWdlbnRkLnYxLlJ1biKFAQoPTGlzdFJ1bnNSZXF1ZXN0EhEKCXBhZ2Vfc2l6ZRgBIAEoBRISCgpwYWdlX3Rva2VuGAIgASgJEiMKBnN0YXRlcxgDIAMoDjITLmFnZW50ZC52MS5SdW5TdGF0ZRIVCg1wYXJlbnRfcnVuX2lkGAQgASgJEg8KB3RlbmFudHMYBSADKAkiSQoQTGlzdFJ1bnNSZXNwb25zZRIcCgRydW5zGAEgAygLMg4uYWdlbnRkLnYxLlJ1bhIXCg9uZXh0X3BhZ2VfdG9rZW4YAiABKAkiqgQKA1J1bhIOCgZydW5faWQYASABKAkSDgoGcHJvbXB0GAIgASgJEg0KBW1vZGVsGAMgASgJEiIKBXN0YXRlGAQgASgOMhMuYWdlbnRkLnYxLlJ1blN0YXRlEioKC3N0b3BfcmVhc29uGAUgASgOMhUuYWdlbnRkLnYxLlN0b3BSZWFzb24SLgoKc3RhcnRfdGltZRgGIAEoCzIaLmdvb2dsZS5wcm90b2J1Zi5UaW1lc3RhbXASLwoLdXBkYXRlX3RpbWUYByABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wEhAKCGxhc3Rfc2VxGAggASgEEg0KBXR1cm5zGAkgASgNEg0KBWNhbGxzGAogASgNEiYKBXVzYWdlGAsgASgLMhcudG9vbGhvc3QudG9vbC52MS5Vc2FnZRIMCgRjb3N0GAwgASgBEjUKEXBlbmRpbmdfZGVjaXNpb25zGA0gAygLMhouYWdlbnRkLnYxLlBlbmRpbmdEZWNpc2lvbhIVCg1wYXJlbnRfcnVuX2lkGA4gASgJEhMKC2ludGVycnVwdGVkGA8gASgIEhEKCXByaW5jaXBhbBgQIAEoCRISCgpmb3JlZ3JvdW5kGBEgASgIEisKC3NldHRsZW1lbnRzGBIgASgLMhYuYWdlbnRkLnYxLlNldHRsZW1lbnRzEhYKDnBhcmVudF9jYWxsX2lkGBMgASgJEg4KBnBhcmtlZBgUIAEoCSJCCgtTZXR0bGVtZW50cxIQCghoYXBwZW5lZBgBIAEoDRIQCghyZXBlYXRlZBgCIAEoDRIPCgd1bmtub3duGAMgASgNIsUDCg9QZW5kaW5nRGVjaXNpb24SEwoLZGVjaXNpb25faWQYASABKAkSJQoEa2luZBgCIAEoDjIXLmFnZW50ZC52MS5EZWNpc2lvbktpbmQSDwoHY2FsbF9pZBgDIAEoCRIMCgR0b29sGAQgASgJEhEKCWFyZ3VtZW50cxgFIAEoDBIOCgZyZWFzb24YBiABKAkSDwoHb3B0aW9ucxgHIAMoCRIMCgRydWxlGAggASgJEjAKDHJlcXVlc3RfdGltZRgJIAEoCzIaLmdvb2dsZS5wcm90b2J1Zi5UaW1lc3RhbXASLwoLZXhwaXJlX3RpbWUYCiABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wEg4KBnJ1bl9pZBgLIAEoCRIUCgxkaXNwbGF5X25hbWUYDCABKAkSEQoJZm91cl9leWVzGA0gASgIEg4KBnBsdWdpbhgOIAEoCRIOCgZzY2hlbWEYDyABKAwSDAoEZGlmZhgQIAEoCRIyCg9zdGFuZGluZ19vZmZlcnMYESADKAsyGS5hZ2VudGQudjEuU3RhbmRpbmdDaG9pY2USFwoPYXBwcm92ZXJfZ3JvdXBzGBIgAygJIsQKCghSdW5FdmVudBILCgNzZXEYASABKAQSDQoFaW5kZXgYAiABKAQSKAoEdGltZRgDIAEoCzIaLmdvb2dsZS5wcm90b2J1Zi5UaW1lc3RhbXASLAoLcnVuX3N0YXJ0ZWQYBCABKAsyFS5hZ2VudGQudjEuUnVuU3RhcnRlZEgAEi4KDHVzZXJfbWVzc2FnZRgFIAEoCzIWLmFnZW50ZC52MS5Vc2VyTWVzc2FnZUgAEioKCnRleHRfZGVsdGEYBiABKAsyFC5hZ2VudGQudjEuVGV4dERlbHRhSAASOAoRYXNzaXN0YW50X21lc3NhZ2UYByABKAsyGy5hZ2VudGQudjEuQXNzaXN0YW50TWVzc2FnZUgAEi4KDGNhbGxfc3RhcnRlZBgIIAEoCzIWLmFnZW50ZC52MS5DYWxsU3RhcnRlZEgAEiwKC2NhbGxfc3RhdHVzGAkgASgLMhUuYWdlbnRkLnYxLkNhbGxTdGF0dXNIABIsCgtjYWxsX3Jlc3VsdBgKIAEoCzIVLmFnZW50ZC52MS5DYWxsUmVzdWx0SAASKgoKdHVybl9yZXNldBgLIAEoCzIULmFnZW50ZC52MS5UdXJuUmVzZXRIABI2ChBjYW5jZWxfcmVxdWVzdGVkGAwgASgLMhouYWdlbnRkLnYxLkNhbmNlbFJlcXVlc3RlZEgAEi4KDHJ1bl9maW5pc2hlZBgNIAEoCzIWLmFnZW50ZC52MS5SdW5GaW5pc2hlZEgAEjoKEmRlY2lzaW9uX3JlcXVlc3RlZBgOIAEoCzIcLmFnZW50ZC52MS5EZWNpc2lvblJlcXVlc3RlZEgAEjAKDWRlY2lzaW9uX21hZGUYDyABKAsyFy5hZ2VudGQudjEuRGVjaXNpb25NYWRlSAASMgoOYnVkZ2V0X3dhcm5pbmcYECABKAsyGC5hZ2VudGQudjEuQnVkZ2V0V2FybmluZ0gAEjIKDmNvbnRleHRfY2hhbmdlGBEgASgLMhguYWdlbnRkLnYxLkNvbnRleHRDaGFuZ2VIABIsCgt0b2RvX2NoYW5nZRgSIAEoCzIVLmFnZW50ZC52MS5Ub2RvQ2hhbmdlSAASMwoPc3ViX3J1bl9zdGFydGVkGBMgASgLMhguYWdlbnRkLnYxLlN1YlJ1blN0YXJ0ZWRIABIpCgljb21wYWN0ZWQYFCABKAsyFC5hZ2VudGQudjEuQ29tcGFjdGVkSAASMwoPc3ViX3J1bl93YWl0aW5nGBUgASgLMhguYWdlbnRkLnYxLlN1YlJ1bldhaXRpbmdIABIsCgtydW5fcmVzdW1lZBgWIAEoCzIVLmFnZW50ZC52MS5SdW5SZXN1bWVkSAASMAoNbW9kZWxfcmVwbGllZBgXIAEoCzIXLmFnZW50ZC52MS5Nb2RlbFJlcGxpZWRIABI0Cg9yZWFzb25pbmdfZGVsdGEYGCABKAsyGS5hZ2VudGQudjEuUmVhc29uaW5nRGVsdGFIABIyCg5hcmd1bWVudF9kZWx0YRgZIAEoCzIYLmFnZW50ZC52MS5Bcmd1bWVudERlbHRhSAASLgoMYW5zd2VyX2RlbHRhGBogASgLMhYuYWdlbnRkLnYxLkFuc3dlckRlbHRhSAASOAoRc3RhbmRpbmdfYXBwcm92ZWQYGyABKAsyGy5hZ2VudGQudjEuU3RhbmRpbmdBcHByb3ZlZEgAEjgKEWRlY2lzaW9uX2V4dGVuZGVkGBwgASgLMhsuYWdlbnRkLnYxLkRlY2lzaW9uRXh0ZW5kZWRIAEIHCgVldmVudCLiAgoKUnVuU3RhcnRlZBIOCgZydW5faWQYASABKAkSDgoGcHJvbXB0GAIgASgJEg0KBW1vZGVsGAMgASgJEg8KB3Nlc3Npb24YBCABKAkSFQoNcGFyZW50X3J1bl9pZBgFIAEoCRIWCg5wYXJlbnRfY2FsbF9pZBgGIAEoCRINCgVhZ2VudBgHIAEoCRITCgt0cmFjZXBhcmVudBgIIAEoCRIRCglwcmluY2lwYWwYCSABKAkSEQoJZmFsbGJhY2tzGAogAygJEiUKCHNhbXBsaW5nGAsgASgLMhMuYWdlbnRkLnYxLlNhbXBsaW5nEhcKD3Jlc3BvbnNlX3NjaGVtYRgNIAEoDBIuCgthdHRhY2htZW50cxgOIAMoCzIZLmFnZW50ZC52MS5BdHRhY2htZW50SW5mbxIrCgxtZW1vcnlfZmlsZXMYDyADKAsyFS5hZ2VudGQudjEuTWVtb3J5RmlsZSJMCgpNZW1vcnlGaWxlEgwKBG5hbWUYASABKAkSEQoJd29ya3NwYWNlGAIgASgIEgwKBHNpemUYAyABKAQSDwoHcHJvYmxlbRgEIAEoCSJLCgtVc2VyTWVzc2FnZRIMCgR0ZXh0GAEgASgJEi4KC2F0dGFjaG1lbnRzGAIgAygLMhkuYWdlbnRkLnYxLkF0dGFjaG1lbnRJbmZvIhkKCVRleHREZWx0YRIMCgR0ZXh0GAEgASgJIh4KDlJlYXNvbmluZ0RlbHRhEgwKBHRleHQYASABKAkiPAoNQXJndW1lbnREZWx0YRIPCgdjYWxsX2lkGAEgASgJEgwKBHRvb2wYAiABKAkSDAoEdGV4dBgDIAEoCSIdCgtBbnN3ZXJEZWx0YRIOCgZhbnN3ZXIYASABKAwizQEKEEFzc2lzdGFudE1lc3NhZ2USDAoEdGV4dBgBIAEoCRIiCgVjYWxscxgCIAMoCzITLmFnZW50ZC52MS5Ub29sQ2FsbBITCgtzdG9wX3JlYXNvbhgDIAEoCRImCgV1c2FnZRgEIAEoCzIXLnRvb2xob3N0LnRvb2wudjEuVXNhZ2USDAoEY29zdBgFIAEoARItCgx3YXN0ZWRfdXNhZ2UYBiABKAsyFy50b29saG9zdC50b29sLnYxLlVzYWdlEg0KBW1vZGVsGAcgASgJIjwKCFRvb2xDYWxsEg8KB2NhbGxfaWQYASABKAkSDAoEdG9vbBgCIAEoCRIRCglhcmd1bWVudHMYAyABKAwiZQoLQ2FsbFN0YXJ0ZWQSDwoHY2FsbF9pZBgBIAEoCRIMCgR0b29sGAIgASgJEg8KB2F0dGVtcHQYAyABKA0SEwoLdHJhY2VwYXJlbnQYBCABKAkSEQoJbGVkZ2VyX2lkGAUgASgJIlUKCkNhbGxTdGF0dXMSDwoHY2FsbF9pZBgBIAEoCRIMCgR0b29sGAIgASgJEigKBnN0YXR1cxgDIAEoCzIYLnRvb2xob3N0LnRvb2wudjEuU3RhdHVzItYBCgpDYWxsUmVzdWx0Eg8KB2NhbGxfaWQYASABKAkSDAoEdG9vbBgCIAEoCRIoCgZyZXN1bHQYAyABKAsyGC50b29saG9zdC50b29sLnYxLlJlc3VsdBImCgVlcnJvchgEIAEoCzIXLnRvb2xob3N0LnRvb2wudjEuRXJyb3ISDgoGcGx1Z2luGAUgASgJEhAKCGluc3RhbmNlGAYgASgJEg4KBmFuc3dlchgHIAEoCRIlCgdzZXR0bGVkGAggASgLMhQudG9vbGhvc3QudjEuU2V0dGxlZCI7CglUdXJuUmVzZXQSDgoGcmVhc29uGAEgASgJEg8KB2F0dGVtcHQYAiABKA0SDQoFbW9kZWwYAyABKAkiTQoPQ2FuY2VsUmVxdWVzdGVkEg4KBnJlYXNvbhgBIAEoCRIqCgtzdG9wX3JlYXNvbhgCIAEoDjIVLmFnZW50ZC52MS5TdG9wUmVhc29uIkEKEURlY2lzaW9uUmVxdWVzdGVkEiwKCGRlY2lzaW9uGAEgASgLMhouYWdlbnRkLnYxLlBlbmRpbmdEZWNpc2lvbiKbAQoMTW9kZWxSZXBsaWVkEg8KB2NhbGxfaWQYASABKAkSDAoEdG9vbBgCIAEoCRIOCgZwbHVnaW4YAyABKAkSJgoFdXNhZ2UYBCABKAsyFy50b29saG9zdC50b29sLnYxLlVzYWdlEgwKBGNvc3QYBSABKAESJgoFZXJyb3IYBiABKAsyFy50b29saG9zdC50b29sLnYxLkVycm9yIr0BCgxEZWNpc2lvbk1hZGUSEwoLZGVjaXNpb25faWQYASABKAkSIwoHdmVyZGljdBgCIAEoDjISLmFnZW50ZC52MS5WZXJkaWN0EhEKCWFyZ3VtZW50cxgDIAEoDBIMCgR0ZXh0GAQgASgJEhIKCmRlY2lkZWRfYnkYBSABKAkSEQoJcHJpbmNpcGFsGAYgASgJEisKCHN0YW5kaW5nGAcgASgLMhkuYWdlbnRkLnYxLlN0YW5kaW5nQ2hvaWNlImsKEERlY2lzaW9uRXh0ZW5kZWQSEwoLZGVjaXNpb25faWQYASABKAkSLwoLZXhwaXJlX3RpbWUYAiABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wEhEKCXByaW5jaXBhbBgDIAEoCSLGAQoQU3RhbmRpbmdBcHByb3ZlZBITCgtkZWNpc2lvbl9pZBgBIAEoCRIPCgdjYWxsX2lkGAIgASgJEgwKBHRvb2wYAyABKAkSEwoLYXBwcm92YWxfaWQYBCABKAkSEAoIYXBwcm92ZXIYBSABKAkSLwoLZXhwaXJlX3RpbWUYBiABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wEiYKBWVycm9yGAcgASgLMhcudG9vbGhvc3QudG9vbC52MS5FcnJvciI8Cg1CdWRnZXRXYXJuaW5nEg4KBmJ1ZGdldBgBIAEoCRIMCgR1c2VkGAIgASgBEg0KBWxpbWl0GAMgASgBIoUBCg1Db250ZXh0Q2hhbmdlEgwKBGtleXMYASADKAkSNgoHcmVmdXNlZBgCIAMoCzIlLmFnZW50ZC52MS5Db250ZXh0Q2hhbmdlLlJlZnVzZWRFbnRyeRouCgxSZWZ1c2VkRW50cnkSCwoDa2V5GAEgASgJEg0KBXZhbHVlGAIgASgJOgI4ASIbCgpUb2RvQ2hhbmdlEg0KBXRvZG9zGAEgASgMIk8KDVN1YlJ1blN0YXJ0ZWQSDwoHY2FsbF9pZBgBIAEoCRIOCgZydW5faWQYAiABKAkSDgoGcHJvbXB0GAMgASgJEg0KBWFnZW50GAQgASgJIj0KClJ1blJlc3VtZWQSLwoLYmFja3VwX3RpbWUYASABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wIkYKDVN1YlJ1bldhaXRpbmcSDwoHY2FsbF9pZBgBIAEoCRIOCgZydW5faWQYAiABKAkSFAoMZGVjaXNpb25faWRzGAMgAygJIrkBCglDb21wYWN0ZWQSDgoGcmVhc29uGAEgASgJEhcKD2NsZWFyZWRfcmVzdWx0cxgCIAEoDRIPCgdzdW1tYXJ5GAMgASgJEhkKEXJlcGxhY2VkX21lc3NhZ2VzGAQgASgNEhAKCG92ZXJmbG93GAUgASgIEg8KB2ZhaWx1cmUYBiABKAkSJgoFdXNhZ2UYByABKAsyFy50b29saG9zdC50b29sLnYxLlVzYWdlEgwKBGNvc3QYCCABKAEivAEKC1J1bkZpbmlzaGVkEioKC3N0b3BfcmVhc29uGAEgASgOMhUuYWdlbnRkLnYxLlN0b3BSZWFzb24SDwoHbWVzc2FnZRgCIAEoCRIMCgR0ZXh0GAMgASgJEg0KBXR1cm5zGAQgASgNEg0KBWNhbGxzGAUgASgNEiYKBXVzYWdlGAYgASgLMhcudG9vbGhvc3QudG9vbC52MS5Vc2FnZRIMCgRjb3N0GAcgASgBEg4KBnJlc3VsdBgIIAEoDCpaCgpDb21wbGV0aW9uEhoKFkNPTVBMRVRJT05fVU5TUEVDSUZJRUQQABIXChNDT01QTEVUSU9OX0VYUExJQ0lUEAESFwoTQ09NUExFVElPTl9FTkRfVFVSThACKoEBCg1TdGFuZGluZ1Njb3BlEh4KGlNUQU5ESU5HX1NDT1BFX1VOU1BFQ0lGSUVEEAASFgoSU1RBTkRJTkdfU0NPUEVfUlVOEAESGgoWU1RBTkRJTkdfU0NPUEVfU0VTU0lPThACEhwKGFNUQU5ESU5HX1NDT1BFX1BSSU5DSVBBTBADKrEBCgxEZWNpc2lvbktpbmQSHQoZREVDSVNJT05fS0lORF9VTlNQRUNJRklFRBAAEhoKFkRFQ0lTSU9OX0tJTkRfQVBQUk9WQUwQARIaChZERUNJU0lPTl9LSU5EX1FVRVNUSU9OEAISGQoVREVDSVNJT05fS0lORF9PVVRDT01FEAMSFwoTREVDSVNJT05fS0lORF9QQVVTRRAEEhYKEkRFQ0lTSU9OX0tJTkRfVE9PTBAFKnQKB1ZlcmRpY3QSFwoTVkVSRElDVF9VTlNQRUNJRklFRBAAEhMKD1ZFUkRJQ1RfQVBQUk9WRRABEhIKDlZFUkRJQ1RfUkVKRUNUEAISEgoOVkVSRElDVF9BTlNXRVIQAxITCg9WRVJESUNUX0VYUElSRUQQBCqGAQoIUnVuU3RhdGUSGQoVUlVOX1NUQVRFX1VOU1BFQ0lGSUVEEAASFQoRUlVOX1NUQVRFX1JVTk5JTkcQARIWChJSVU5fU1RBVEVfRklOSVNIRUQQAhIVChFSVU5fU1RBVEVfV0FJVElORxADEhkKFVJVTl9TVEFURV9JTlRFUlJVUFRFRBAEKsIFCgpTdG9wUmVhc29uEhsKF1NUT1BfUkVBU09OX1VOU1BFQ0lGSUVEEAASGAoUU1RPUF9SRUFTT05fRU5EX1RVUk4QARIaChZTVE9QX1JFQVNPTl9NQVhfVE9LRU5TEAISFwoTU1RPUF9SRUFTT05fUkVGVVNBTBADEh4KGlNUT1BfUkVBU09OX0NPTlRFTlRfRklMVEVSEAQSIAocU1RPUF9SRUFTT05fQ09OVEVYVF9PVkVSRkxPVxAFEhkKFVNUT1BfUkVBU09OX01BWF9UVVJOUxAGEhkKFVNUT1BfUkVBU09OX01BWF9DQUxMUxAHEhkKFVNUT1BfUkVBU09OX0NBTkNFTExFRBAIEhsKF1NUT1BfUkVBU09OX01PREVMX0VSUk9SEAkSHQoZU1RPUF9SRUFTT05fUkVUVVJOX0RJUkVDVBAKEh4KGlNUT1BfUkVBU09OX0lOVEVSTkFMX0VSUk9SEAsSGQoVU1RPUF9SRUFTT05fQ09NUExFVEVEEAwSHAoYU1RPUF9SRUFTT05fVE9LRU5fQlVER0VUEA0SGwoXU1RPUF9SRUFTT05fQ09TVF9CVURHRVQQDhIZChVTVE9QX1JFQVNPTl9XQUxMX1RJTUUQDxIbChdTVE9QX1JFQVNPTl9PVVRQVVRfU0laRRAQEhgKFFNUT1BfUkVBU09OX0ZBSUxVUkVTEBESGAoUU1RPUF9SRUFTT05fVElNRU9VVFMQEhIaChZTVE9QX1JFQVNPTl9SRVBFVElUSU9OEBMSHQoZU1RPUF9SRUFTT05fTk9fVE9PTF9DQUxMUxAUEh4KGlNUT1BfUkVBU09OX0lOVkFMSURfQU5TV0VSEBUSHgoaU1RPUF9SRUFTT05fRU1QVFlfUkVTUE9OU0UQFhIcChhTVE9QX1JFQVNPTl9DQUxMX0FTX1RFWFQQFzKqCAoMQWdlbnRTZXJ2aWNlEkoKCFN0YXJ0UnVuEhouYWdlbnRkLnYxLlN0YXJ0UnVuUmVxdWVzdBobLmFnZW50ZC52MS5TdGFydFJ1blJlc3BvbnNlIgWSthgBDxJTCgtTZW5kTWVzc2FnZRIdLmFnZW50ZC52MS5TZW5kTWVzc2FnZVJlcXVlc3QaHi5hZ2VudGQudjEuU2VuZE1lc3NhZ2VSZXNwb25zZSIFkrYYAQ8STQoIV2F0Y2hSdW4SGi5hZ2VudGQudjEuV2F0Y2hSdW5SZXF1ZXN0GhsuYWdlbnRkLnYxLldhdGNoUnVuUmVzcG9uc2UiBpK2GAIQETABEkgKB1Jlc3BvbmQSGS5hZ2VudGQudjEuUmVzcG9uZFJlcXVlc3QaGi5hZ2VudGQudjEuUmVzcG9uZFJlc3BvbnNlIgaSthgCEBISTgoJQ2FuY2VsUnVuEhsuYWdlbnRkLnYxLkNhbmNlbFJ1blJlcXVlc3QaHC5hZ2VudGQudjEuQ2FuY2VsUnVuUmVzcG9uc2UiBpK2GAIQEhJOCglEZWxldGVSdW4SGy5hZ2VudGQudjEuRGVsZXRlUnVuUmVxdWVzdBocLmFnZW50ZC52MS5EZWxldGVSdW5SZXNwb25zZSIGkrYYAhAZEkUKBkdldFJ1bhIYLmFnZW50ZC52MS5HZXRSdW5SZXF1ZXN0GhkuYWdlbnRkLnYxLkdldFJ1blJlc3BvbnNlIgaSthgCEBESSwoITGlzdFJ1bnMSGi5hZ2VudGQudjEuTGlzdFJ1bnNSZXF1ZXN0GhsuYWdlbnRkLnYxLkxpc3RSdW5zUmVzcG9uc2UiBpK2GAIQERJQCgpHZXRWZXJzaW9uEhwuYWdlbnRkLnYxLkdldFZlcnNpb25SZXF1ZXN0Gh0uYWdlbnRkLnYxLkdldFZlcnNpb25SZXNwb25zZSIFkrYYARQSRAoGV2hvQW1JEhguYWdlbnRkLnYxLldob0FtSVJlcXVlc3QaGS5hZ2VudGQudjEuV2hvQW1JUmVzcG9uc2UiBZK2GAEWEkQKBlJlbG9hZBIYLmFnZW50ZC52MS5SZWxvYWRSZXF1ZXN0GhkuYWdlbnRkLnYxLlJlbG9hZFJlc3BvbnNlIgWSthgBChJlChFEaWZmQ29uZmlndXJhdGlvbhIjLmFnZW50ZC52MS5EaWZmQ29uZmlndXJhdGlvblJlcXVlc3QaJC5hZ2VudGQudjEuRGlmZkNvbmZpZ3VyYXRpb25SZXNwb25zZSIFkrYYAQkSZwoRQ3JlYXRlQ29uc29sZUNvZGUSIy5hZ2VudGQudjEuQ3JlYXRlQ29uc29sZUNvZGVSZXF1ZXN0GiQuYWdlbnRkLnYxLkNyZWF0ZUNvbnNvbGVDb2RlUmVzcG9uc2UiB5K2GAMQERJCOFo2Z2l0aHViLmNvbS90b29saG9zdC90b29saG9zdC9nZW4vZ28vYWdlbnRkL3YxO2FnZW50ZHYxYgZwcm90bzM", [file_google_protobuf_duration, file_google_protobuf_timestamp, file_toolhost_tool_v1_caller, file_toolhost_tool_v1_error, file_toolhost_tool_v1_result, file_toolhost_tool_v1_right, file_toolhost_tool_v1_status, file_toolhost_tool_v1_version, file_toolhost_v1_settled]);
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
