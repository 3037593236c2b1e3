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
export const file_agentd_v1_agent_service = /*@__PURE__*/ fileDesc("Ch1hZ2VudGQvdjEvYWdlbnRfc2VydmljZS5wcm90bxIJYWdlbnRkLnYxIg8KDVJlbG9hZFJlcXVlc3QiRwoOUmVsb2FkUmVzcG9uc2USNQoNY29uZmlndXJhdGlvbhgBIAEoCzIeLmFnZW50ZC52MS5Db25maWd1cmF0aW9uQ2hhbmdlIhoKGERpZmZDb25maWd1cmF0aW9uUmVxdWVzdCJSChlEaWZmQ29uZmlndXJhdGlvblJlc3BvbnNlEjUKDWNvbmZpZ3VyYXRpb24YASABKAsyHi5hZ2VudGQudjEuQ29uZmlndXJhdGlvbkNoYW5nZSJfChNDb25maWd1cmF0aW9uQ2hhbmdlEgwKBGZpbGUYASABKAkSKQoHY2hhbmdlcxgCIAMoCzIYLmFnZW50ZC52MS5TZXR0aW5nQ2hhbmdlEg8KB3Byb2JsZW0YAyABKAkiRwoNU2V0dGluZ0NoYW5nZRILCgNrZXkYASABKAkSCwoDb2xkGAIgASgJEgsKA25ldxgDIAEoCRIPCgdyZXN0YXJ0GAQgASgIIhMKEUdldFZlcnNpb25SZXF1ZXN0IkQKEkdldFZlcnNpb25SZXNwb25zZRIuCgd2ZXJzaW9uGAEgASgLMh0udG9vbGhvc3QudG9vbC52MS5WZXJzaW9uSW5mbyIPCg1XaG9BbUlSZXF1ZXN0Ij4KDldob0FtSVJlc3BvbnNlEiwKBmNhbGxlchgBIAEoCzIcLnRvb2xob3N0LnRvb2wudjEuQ2FsbGVySW5mbyKLBQoPU3RhcnRSdW5SZXF1ZXN0Eg4KBnByb21wdBgBIAEoCRIOCgZydW5faWQYAiABKAkSFQoNc3lzdGVtX3Byb21wdBgDIAEoCRIkCgV0b29scxgEIAEoCzIVLmFnZW50ZC52MS5Ub29sQ2hvaWNlEiEKBmxpbWl0cxgFIAEoCzIRLmFnZW50ZC52MS5MaW1pdHMSDwoHc2Vzc2lvbhgGIAEoCRIhCgZwZW9wbGUYByABKAsyES5hZ2VudGQudjEuUGVvcGxlEjgKB2NvbnRleHQYCCADKAsyJy5hZ2VudGQudjEuU3RhcnRSdW5SZXF1ZXN0LkNvbnRleHRFbnRyeRIbChNleHBsaWNpdF9jb21wbGV0aW9uGAkgASgIEiEKBndpbmRvdxgKIAEoCzIRLmFnZW50ZC52MS5XaW5kb3cSLAoMc3lzdGVtX3Rvb2xzGAsgASgLMhYuYWdlbnRkLnYxLlN5c3RlbVRvb2xzEhUKCHN1Yl9ydW5zGAwgASgNSACIAQESDQoFYWdlbnQYDSABKAkSKQoKY29tcGxldGlvbhgOIAEoDjIVLmFnZW50ZC52MS5Db21wbGV0aW9uEhMKC3RyYWNlcGFyZW50GA8gASgJEg0KBW1vZGVsGBAgASgJEiUKCHNhbXBsaW5nGBEgASgLMhMuYWdlbnRkLnYxLlNhbXBsaW5nEhcKD3Jlc3BvbnNlX3NjaGVtYRgSIAEoDBIqCgthdHRhY2htZW50cxgTIAMoCzIVLmFnZW50ZC52MS5BdHRhY2htZW50Gi4KDENvbnRleHRFbnRyeRILCgNrZXkYASABKAkSDQoFdmFsdWUYAiABKAw6AjgBQgsKCV9zdWJfcnVucyJ3CgpBdHRhY2htZW50EgwKBG5hbWUYASABKAkSEQoJbWltZV90eXBlGAIgASgJEg4KBGRhdGEYAyABKAxIABItCghhcnRpZmFjdBgEIAEoCzIZLmFnZW50ZC52MS5BcnRpZmFjdFNvdXJjZUgAQgkKB2NvbnRlbnQiMQoOQXJ0aWZhY3RTb3VyY2USDgoGaGFuZGxlGAEgASgJEg8KB3Nlc3Npb24YAiABKAkiYQoOQXR0YWNobWVudEluZm8SDAoEbmFtZRgBIAEoCRIRCgltaW1lX3R5cGUYAiABKAkSDAoEc2l6ZRgDIAEoBBIOCgZzaGEyNTYYBCABKAkSEAoIYXJ0aWZhY3QYBSABKAkiYgoIU2FtcGxpbmcSGAoLdGVtcGVyYXR1cmUYASABKAFIAIgBARISCgV0b3BfcBgCIAEoAUgBiAEBEg4KBmVmZm9ydBgDIAEoCUIOCgxfdGVtcGVyYXR1cmVCCAoGX3RvcF9wIk4KBldpbmRvdxIOCgZ0b2tlbnMYASABKAQSEAoIY2xlYXJfYXQYAiABKAESFAoMc3VtbWFyaXplX2F0GAMgASgBEgwKBGtlZXAYBCABKA0iHAoLU3lzdGVtVG9vbHMSDQoFbmFtZXMYASADKAkiWgoGUGVvcGxlEhAKCGF0dGVuZGVkGAEgASgIEikKBmV4cGlyeRgCIAEoCzIZLmdvb2dsZS5wcm90b2J1Zi5EdXJhdGlvbhITCgthc2tfb3V0Y29tZRgDIAEoCCLNAQoKVG9vbENob2ljZRINCgVuYW1lcxgBIAMoCRISCgpjYXRlZ29yaWVzGAIgAygJEgwKBHRhZ3MYAyADKAkSFgoJZGFuZ2Vyb3VzGAQgASgISACIAQESHQoQbWF4X2Nvc3RfcGVyX3VzZRgFIAEoAUgBiAEBEhEKCW1heF90b29scxgGIAEoDRIPCgdwbHVnaW5zGAcgAygJEhAKCGV4Y2x1ZGVkGAggAygJQgwKCl9kYW5nZXJvdXNCEwoRX21heF9jb3N0X3Blcl91c2Ui+AEKBkxpbWl0cxIRCgltYXhfdHVybnMYASABKA0SEQoJbWF4X2NhbGxzGAIgASgNEhsKE21heF9yZXNwb25zZV90b2tlbnMYAyABKA0SEgoKbWF4X3Rva2VucxgEIAEoBBIQCghtYXhfY29zdBgFIAEoARIwCg1tYXhfd2FsbF90aW1lGAYgASgLMhkuZ29vZ2xlLnByb3RvYnVmLkR1cmF0aW9uEhIKCm1heF9vdXRwdXQYByABKAQSFAoMbWF4X2ZhaWx1cmVzGAggASgNEhQKDG1heF90aW1lb3V0cxgJIAEoDRITCgttYXhfcmVwZWF0cxgKIAEoDSIiChBTdGFydFJ1blJlc3BvbnNlEg4KBnJ1bl9pZBgBIAEoCSJyChJTZW5kTWVzc2FnZVJlcXVlc3QSDgoGcnVuX2lkGAEgASgJEgwKBHRleHQYAiABKAkSKgoLYXR0YWNobWVudHMYAyADKAsyFS5hZ2VudGQudjEuQXR0YWNobWVudBISCgptZXNzYWdlX2lkGAQgASgJIiIKE1NlbmRNZXNzYWdlUmVzcG9uc2USCwoDc2VxGAEgASgEIjQKD1dhdGNoUnVuUmVxdWVzdBIOCgZydW5faWQYASABKAkSEQoJYWZ0ZXJfc2VxGAIgASgEIjYKEFdhdGNoUnVuUmVzcG9uc2USIgoFZXZlbnQYASABKAsyEy5hZ2VudGQudjEuUnVuRXZlbnQiXAoOUmVzcG9uZFJlcXVlc3QSDgoGcnVuX2lkGAEgASgJEiYKCWRlY2lzaW9ucxgCIAMoCzITLmFnZW50ZC52MS5EZWNpc2lvbhISCgpkZWNpZGVkX2J5GAMgASgJIpsBCghEZWNpc2lvbhITCgtkZWNpc2lvbl9pZBgBIAEoCRIlCgdhcHByb3ZlGAIgASgLMhIuYWdlbnRkLnYxLkFwcHJvdmVIABIjCgZyZWplY3QYAyABKAsyES5hZ2VudGQudjEuUmVqZWN0SAASIwoGYW5zd2VyGAQgASgLMhEuYWdlbnRkLnYxLkFuc3dlckgAQgkKB3ZlcmRpY3QiWQoHQXBwcm92ZRIRCglhcmd1bWVudHMYASABKAwSDgoGcmVhc29uGAIgASgJEisKCHN0YW5kaW5nGAMgASgLMhkuYWdlbnRkLnYxLlN0YW5kaW5nQ2hvaWNlIq8BCg5TdGFuZGluZ0Nob2ljZRInCgVzY29wZRgBIAEoDjIYLmFnZW50ZC52MS5TdGFuZGluZ1Njb3BlEhUKDWFueV9hcmd1bWVudHMYAiABKAgSLAoIcGF0dGVybnMYAyADKAsyGi5hZ2VudGQudjEuU3RhbmRpbmdQYXR0ZXJuEi8KC2V4cGlyZV90aW1lGAQgASgLMhouZ29vZ2xlLnByb3RvYnVmLlRpbWVzdGFtcCJjCg9TdGFuZGluZ1BhdHRlcm4SEAoIYXJndW1lbnQYASABKAkSFQoLcGF0aF9wcmVmaXgYAiABKAlIABIQCgZvcmlnaW4YAyABKAlIABINCgNhbnkYBCABKAhIAEIGCgRmb3JtIhgKBlJlamVjdBIOCgZyZWFzb24YASABKAkiFgoGQW5zd2VyEgwKBHRleHQYASABKAkiHgoPUmVzcG9uZFJlc3BvbnNlEgsKA3NlcRgBIAEoBCIyChBDYW5jZWxSdW5SZXF1ZXN0Eg4KBnJ1bl9pZBgBIAEoCRIOCgZyZWFzb24YAiABKAkiEwoRQ2FuY2VsUnVuUmVzcG9uc2UiIgoQRGVsZXRlUnVuUmVxdWVzdBIOCgZydW5faWQYASABKAkiJAoRRGVsZXRlUnVuUmVzcG9uc2USDwoHcnVuX2lkcxgBIAMoCSIfCg1HZXRSdW5SZXF1ZXN0Eg4KBnJ1bl9pZBgBIAEoCSItCg5HZXRSdW5SZXNwb25zZRIbCgNydW4YASABKAsyDi5hZ2VudGQudjEuUnVuIoUBCg9MaXN0UnVuc1JlcXVlc3QSEQoJcGFnZV9zaXplGAEgASgFEhIKCnBhZ2VfdG9rZW4YAiABKAkSIwoGc3RhdGVzGAMgAygOMhMuYWdlbnRkLnYxLlJ1blN0YXRlEhUKDXBhcmVudF9ydW5faWQYBCABKAkSDwoHdGVuYW50cxgFIAMoCSJJChBMaXN0UnVuc1Jlc3BvbnNlEhwKBHJ1bnMYASADKAsyDi5hZ2VudGQudjEuUnVuEhcKD25leHRfcGFnZV90b2tlbhgCIAEoCSKaBAoDUnVuEg4KBnJ1bl9pZBgBIAEoCRIOCgZwcm9tcHQYAiABKAkSDQoFbW9kZWwYAyABKAkSIgoFc3RhdGUYBCABKA4yEy5hZ2VudGQudjEuUnVuU3RhdGUSKgoLc3RvcF9yZWFzb24YBSABKA4yFS5hZ2VudGQudjEuU3RvcFJlYXNvbhIuCgpzdGFydF90aW1lGAYgASgLMhouZ29vZ2xlLnByb3RvYnVmLlRpbWVzdGFtcBIvCgt1cGRhdGVfdGltZRgHIAEoCzIaLmdvb2dsZS5wcm90b2J1Zi5UaW1lc3RhbXASEAoIbGFzdF9zZXEYCCABKAQSDQoFdHVybnMYCSABKA0SDQoFY2FsbHMYCiABKA0SJgoFdXNhZ2UYCyABKAsyFy50b29saG9zdC50b29sLnYxLlVzYWdlEgwKBGNvc3QYDCABKAESNQoRcGVuZGluZ19kZWNpc2lvbnMYDSADKAsyGi5hZ2VudGQudjEuUGVuZGluZ0RlY2lzaW9uEhUKDXBhcmVudF9ydW5faWQYDiABKAkSEwoLaW50ZXJydXB0ZWQYDyABKAgSEQoJcHJpbmNpcGFsGBAgASgJEhIKCmZvcmVncm91bmQYESABKAgSKwoLc2V0dGxlbWVudHMYEiABKAsyFi5hZ2VudGQudjEuU2V0dGxlbWVudHMSFgoOcGFyZW50X2NhbGxfaWQYEyABKAkiQgoLU2V0dGxlbWVudHMSEAoIaGFwcGVuZWQYASABKA0SEAoIcmVwZWF0ZWQYAiABKA0SDwoHdW5rbm93bhgDIAEoDSLFAwoPUGVuZGluZ0RlY2lzaW9uEhMKC2RlY2lzaW9uX2lkGAEgASgJEiUKBGtpbmQYAiABKA4yFy5hZ2VudGQudjEuRGVjaXNpb25LaW5kEg8KB2NhbGxfaWQYAyABKAkSDAoEdG9vbBgEIAEoCRIRCglhcmd1bWVudHMYBSABKAwSDgoGcmVhc29uGAYgASgJEg8KB29wdGlvbnMYByADKAkSDAoEcnVsZRgIIAEoCRIwCgxyZXF1ZXN0X3RpbWUYCSABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wEi8KC2V4cGlyZV90aW1lGAogASgLMhouZ29vZ2xlLnByb3RvYnVmLlRpbWVzdGFtcBIOCgZydW5faWQYCyABKAkSFAoMZGlzcGxheV9uYW1lGAwgASgJEhEKCWZvdXJfZXllcxgNIAEoCBIOCgZwbHVnaW4YDiABKAkSDgoGc2NoZW1hGA8gASgMEgwKBGRpZmYYECABKAkSMgoPc3RhbmRpbmdfb2ZmZXJzGBEgAygLMhkuYWdlbnRkLnYxLlN0YW5kaW5nQ2hvaWNlEhcKD2FwcHJvdmVyX2dyb3VwcxgSIAMoCSKKCgoIUnVuRXZlbnQSCwoDc2VxGAEgASgEEg0KBWluZGV4GAIgASgEEigKBHRpbWUYAyABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wEiwKC3J1bl9zdGFydGVkGAQgASgLMhUuYWdlbnRkLnYxLlJ1blN0YXJ0ZWRIABIuCgx1c2VyX21lc3NhZ2UYBSABKAsyFi5hZ2VudGQudjEuVXNlck1lc3NhZ2VIABIqCgp0ZXh0X2RlbHRhGAYgASgLMhQuYWdlbnRkLnYxLlRleHREZWx0YUgAEjgKEWFzc2lzdGFudF9tZXNzYWdlGAcgASgLMhsuYWdlbnRkLnYxLkFzc2lzdGFudE1lc3NhZ2VIABIuCgxjYWxsX3N0YXJ0ZWQYCCABKAsyFi5hZ2VudGQudjEuQ2FsbFN0YXJ0ZWRIABIsCgtjYWxsX3N0YXR1cxgJIAEoCzIVLmFnZW50ZC52MS5DYWxsU3RhdHVzSAASLAoLY2FsbF9yZXN1bHQYCiABKAsyFS5hZ2VudGQudjEuQ2FsbFJlc3VsdEgAEioKCnR1cm5fcmVzZXQYCyABKAsyFC5hZ2VudGQudjEuVHVyblJlc2V0SAASNgoQY2FuY2VsX3JlcXVlc3RlZBgMIAEoCzIaLmFnZW50ZC52MS5DYW5jZWxSZXF1ZXN0ZWRIABIuCgxydW5fZmluaXNoZWQYDSABKAsyFi5hZ2VudGQudjEuUnVuRmluaXNoZWRIABI6ChJkZWNpc2lvbl9yZXF1ZXN0ZWQYDiABKAsyHC5hZ2VudGQudjEuRGVjaXNpb25SZXF1ZXN0ZWRIABIwCg1kZWNpc2lvbl9tYWRlGA8gASgLMhcuYWdlbnRkLnYxLkRlY2lzaW9uTWFkZUgAEjIKDmJ1ZGdldF93YXJuaW5nGBAgASgLMhguYWdlbnRkLnYxLkJ1ZGdldFdhcm5pbmdIABIyCg5jb250ZXh0X2NoYW5nZRgRIAEoCzIYLmFnZW50ZC52MS5Db250ZXh0Q2hhbmdlSAASLAoLdG9kb19jaGFuZ2UYEiABKAsyFS5hZ2VudGQudjEuVG9kb0NoYW5nZUgAEjMKD3N1Yl9ydW5fc3RhcnRlZBgTIAEoCzIYLmFnZW50ZC52MS5TdWJSdW5TdGFydGVkSAASKQoJY29tcGFjdGVkGBQgASgLMhQuYWdlbnRkLnYxLkNvbXBhY3RlZEgAEjMKD3N1Yl9ydW5fd2FpdGluZxgVIAEoCzIYLmFnZW50ZC52MS5TdWJSdW5XYWl0aW5nSAASLAoLcnVuX3Jlc3VtZWQYFiABKAsyFS5hZ2VudGQudjEuUnVuUmVzdW1lZEgAEjAKDW1vZGVsX3JlcGxpZWQYFyABKAsyFy5hZ2VudGQudjEuTW9kZWxSZXBsaWVkSAASNAoPcmVhc29uaW5nX2RlbHRhGBggASgLMhkuYWdlbnRkLnYxLlJlYXNvbmluZ0RlbHRhSAASMgoOYXJndW1lbnRfZGVsdGEYGSABKAsyGC5hZ2VudGQudjEuQXJndW1lbnREZWx0YUgAEi4KDGFuc3dlcl9kZWx0YRgaIAEoCzIWLmFnZW50ZC52MS5BbnN3ZXJEZWx0YUgAEjgKEXN0YW5kaW5nX2FwcHJvdmVkGBsgASgLMhsuYWdlbnRkLnYxLlN0YW5kaW5nQXBwcm92ZWRIAEIHCgVldmVudCLiAgoKUnVuU3RhcnRlZBIOCgZydW5faWQYASABKAkSDgoGcHJvbXB0GAIgASgJEg0KBW1vZGVsGAMgASgJEg8KB3Nlc3Npb24YBCABKAkSFQoNcGFyZW50X3J1bl9pZBgFIAEoCRIWCg5wYXJlbnRfY2FsbF9pZBgGIAEoCRINCgVhZ2VudBgHIAEoCRITCgt0cmFjZXBhcmVudBgIIAEoCRIRCglwcmluY2lwYWwYCSABKAkSEQoJZmFsbGJhY2tzGAogAygJEiUKCHNhbXBsaW5nGAsgASgLMhMuYWdlbnRkLnYxLlNhbXBsaW5nEhcKD3Jlc3BvbnNlX3NjaGVtYRgNIAEoDBIuCgthdHRhY2htZW50cxgOIAMoCzIZLmFnZW50ZC52MS5BdHRhY2htZW50SW5mbxIrCgxtZW1vcnlfZmlsZXMYDyADKAsyFS5hZ2VudGQudjEuTWVtb3J5RmlsZSJMCgpNZW1vcnlGaWxlEgwKBG5hbWUYASABKAkSEQoJd29ya3NwYWNlGAIgASgIEgwKBHNpemUYAyABKAQSDwoHcHJvYmxlbRgEIAEoCSJLCgtVc2VyTWVzc2FnZRIMCgR0ZXh0GAEgASgJEi4KC2F0dGFjaG1lbnRzGAIgAygLMhkuYWdlbnRkLnYxLkF0dGFjaG1lbnRJbmZvIhkKCVRleHREZWx0YRIMCgR0ZXh0GAEgASgJIh4KDlJlYXNvbmluZ0RlbHRhEgwKBHRleHQYASABKAkiPAoNQXJndW1lbnREZWx0YRIPCgdjYWxsX2lkGAEgASgJEgwKBHRvb2wYAiABKAkSDAoEdGV4dBgDIAEoCSIdCgtBbnN3ZXJEZWx0YRIOCgZhbnN3ZXIYASABKAwizQEKEEFzc2lzdGFudE1lc3NhZ2USDAoEdGV4dBgBIAEoCRIiCgVjYWxscxgCIAMoCzITLmFnZW50ZC52MS5Ub29sQ2FsbBITCgtzdG9wX3JlYXNvbhgDIAEoCRImCgV1c2FnZRgEIAEoCzIXLnRvb2xob3N0LnRvb2wudjEuVXNhZ2USDAoEY29zdBgFIAEoARItCgx3YXN0ZWRfdXNhZ2UYBiABKAsyFy50b29saG9zdC50b29sLnYxLlVzYWdlEg0KBW1vZGVsGAcgASgJIjwKCFRvb2xDYWxsEg8KB2NhbGxfaWQYASABKAkSDAoEdG9vbBgCIAEoCRIRCglhcmd1bWVudHMYAyABKAwiZQoLQ2FsbFN0YXJ0ZWQSDwoHY2FsbF9pZBgBIAEoCRIMCgR0b29sGAIgASgJEg8KB2F0dGVtcHQYAyABKA0SEwoLdHJhY2VwYXJlbnQYBCABKAkSEQoJbGVkZ2VyX2lkGAUgASgJIlUKCkNhbGxTdGF0dXMSDwoHY2FsbF9pZBgBIAEoCRIMCgR0b29sGAIgASgJEigKBnN0YXR1cxgDIAEoCzIYLnRvb2xob3N0LnRvb2wudjEuU3RhdHVzItYBCgpDYWxsUmVzdWx0Eg8KB2NhbGxfaWQYASABKAkSDAoEdG9vbBgCIAEoCRIoCgZyZXN1bHQYAyABKAsyGC50b29saG9zdC50b29sLnYxLlJlc3VsdBImCgVlcnJvchgEIAEoCzIXLnRvb2xob3N0LnRvb2wudjEuRXJyb3ISDgoGcGx1Z2luGAUgASgJEhAKCGluc3RhbmNlGAYgASgJEg4KBmFuc3dlchgHIAEoCRIlCgdzZXR0bGVkGAggASgLMhQudG9vbGhvc3QudjEuU2V0dGxlZCI7CglUdXJuUmVzZXQSDgoGcmVhc29uGAEgASgJEg8KB2F0dGVtcHQYAiABKA0SDQoFbW9kZWwYAyABKAkiTQoPQ2FuY2VsUmVxdWVzdGVkEg4KBnJlYXNvbhgBIAEoCRIqCgtzdG9wX3JlYXNvbhgCIAEoDjIVLmFnZW50ZC52MS5TdG9wUmVhc29uIkEKEURlY2lzaW9uUmVxdWVzdGVkEiwKCGRlY2lzaW9uGAEgASgLMhouYWdlbnRkLnYxLlBlbmRpbmdEZWNpc2lvbiKbAQoMTW9kZWxSZXBsaWVkEg8KB2NhbGxfaWQYASABKAkSDAoEdG9vbBgCIAEoCRIOCgZwbHVnaW4YAyABKAkSJgoFdXNhZ2UYBCABKAsyFy50b29saG9zdC50b29sLnYxLlVzYWdlEgwKBGNvc3QYBSABKAESJgoFZXJyb3IYBiABKAsyFy50b29saG9zdC50b29sLnYxLkVycm9yIr0BCgxEZWNpc2lvbk1hZGUSEwoLZGVjaXNpb25faWQYASABKAkSIwoHdmVyZGljdBgCIAEoDjISLmFnZW50ZC52MS5WZXJkaWN0EhEKCWFyZ3VtZW50cxgDIAEoDBIMCgR0ZXh0GAQgASgJEhIKCmRlY2lkZWRfYnkYBSABKAkSEQoJcHJpbmNpcGFsGAYgASgJEisKCHN0YW5kaW5nGAcgASgLMhkuYWdlbnRkLnYxLlN0YW5kaW5nQ2hvaWNlIsYBChBTdGFuZGluZ0FwcHJvdmVkEhMKC2RlY2lzaW9uX2lkGAEgASgJEg8KB2NhbGxfaWQYAiABKAkSDAoEdG9vbBgDIAEoCRITCgthcHByb3ZhbF9pZBgEIAEoCRIQCghhcHByb3ZlchgFIAEoCRIvCgtleHBpcmVfdGltZRgGIAEoCzIaLmdvb2dsZS5wcm90b2J1Zi5UaW1lc3RhbXASJgoFZXJyb3IYByABKAsyFy50b29saG9zdC50b29sLnYxLkVycm9yIjwKDUJ1ZGdldFdhcm5pbmcSDgoGYnVkZ2V0GAEgASgJEgwKBHVzZWQYAiABKAESDQoFbGltaXQYAyABKAEihQEKDUNvbnRleHRDaGFuZ2USDAoEa2V5cxgBIAMoCRI2CgdyZWZ1c2VkGAIgAygLMiUuYWdlbnRkLnYxLkNvbnRleHRDaGFuZ2UuUmVmdXNlZEVudHJ5Gi4KDFJlZnVzZWRFbnRyeRILCgNrZXkYASABKAkSDQoFdmFsdWUYAiABKAk6AjgBIhsKClRvZG9DaGFuZ2USDQoFdG9kb3MYASABKAwiTwoNU3ViUnVuU3RhcnRlZBIPCgdjYWxsX2lkGAEgASgJEg4KBnJ1bl9pZBgCIAEoCRIOCgZwcm9tcHQYAyABKAkSDQoFYWdlbnQYBCABKAkiPQoKUnVuUmVzdW1lZBIvCgtiYWNrdXBfdGltZRgBIAEoCzIaLmdvb2dsZS5wcm90b2J1Zi5UaW1lc3RhbXAiRgoNU3ViUnVuV2FpdGluZxIPCgdjYWxsX2lkGAEgASgJEg4KBnJ1bl9pZBgCIAEoCRIUCgxkZWNpc2lvbl9pZHMYAyADKAkiuQEKCUNvbXBhY3RlZBIOCgZyZWFzb24YASABKAkSFwoPY2xlYXJlZF9yZXN1bHRzGAIgASgNEg8KB3N1bW1hcnkYAyABKAkSGQoRcmVwbGFjZWRfbWVzc2FnZXMYBCABKA0SEAoIb3ZlcmZsb3cYBSABKAgSDwoHZmFpbHVyZRgGIAEoCRImCgV1c2FnZRgHIAEoCzIXLnRvb2xob3N0LnRvb2wudjEuVXNhZ2USDAoEY29zdBgIIAEoASK8AQoLUnVuRmluaXNoZWQSKgoLc3RvcF9yZWFzb24YASABKA4yFS5hZ2VudGQudjEuU3RvcFJlYXNvbhIPCgdtZXNzYWdlGAIgASgJEgwKBHRleHQYAyABKAkSDQoFdHVybnMYBCABKA0SDQoFY2FsbHMYBSABKA0SJgoFdXNhZ2UYBiABKAsyFy50b29saG9zdC50b29sLnYxLlVzYWdlEgwKBGNvc3QYByABKAESDgoGcmVzdWx0GAggASgMKloKCkNvbXBsZXRpb24SGgoWQ09NUExFVElPTl9VTlNQRUNJRklFRBAAEhcKE0NPTVBMRVRJT05fRVhQTElDSVQQARIXChNDT01QTEVUSU9OX0VORF9UVVJOEAIqgQEKDVN0YW5kaW5nU2NvcGUSHgoaU1RBTkRJTkdfU0NPUEVfVU5TUEVDSUZJRUQQABIWChJTVEFORElOR19TQ09QRV9SVU4QARIaChZTVEFORElOR19TQ09QRV9TRVNTSU9OEAISHAoYU1RBTkRJTkdfU0NPUEVfUFJJTkNJUEFMEAMqsQEKDERlY2lzaW9uS2luZBIdChlERUNJU0lPTl9LSU5EX1VOU1BFQ0lGSUVEEAASGgoWREVDSVNJT05fS0lORF9BUFBST1ZBTBABEhoKFkRFQ0lTSU9OX0tJTkRfUVVFU1RJT04QAhIZChVERUNJU0lPTl9LSU5EX09VVENPTUUQAxIXChNERUNJU0lPTl9LSU5EX1BBVVNFEAQSFgoSREVDSVNJT05fS0lORF9UT09MEAUqdAoHVmVyZGljdBIXChNWRVJESUNUX1VOU1BFQ0lGSUVEEAASEwoPVkVSRElDVF9BUFBST1ZFEAESEgoOVkVSRElDVF9SRUpFQ1QQAhISCg5WRVJESUNUX0FOU1dFUhADEhMKD1ZFUkRJQ1RfRVhQSVJFRBAEKoYBCghSdW5TdGF0ZRIZChVSVU5fU1RBVEVfVU5TUEVDSUZJRUQQABIVChFSVU5fU1RBVEVfUlVOTklORxABEhYKElJVTl9TVEFURV9GSU5JU0hFRBACEhUKEVJVTl9TVEFURV9XQUlUSU5HEAMSGQoVUlVOX1NUQVRFX0lOVEVSUlVQVEVEEAQqwgUKClN0b3BSZWFzb24SGwoXU1RPUF9SRUFTT05fVU5TUEVDSUZJRUQQABIYChRTVE9QX1JFQVNPTl9FTkRfVFVSThABEhoKFlNUT1BfUkVBU09OX01BWF9UT0tFTlMQAhIXChNTVE9QX1JFQVNPTl9SRUZVU0FMEAMSHgoaU1RPUF9SRUFTT05fQ09OVEVOVF9GSUxURVIQBBIgChxTVE9QX1JFQVNPTl9DT05URVhUX09WRVJGTE9XEAUSGQoVU1RPUF9SRUFTT05fTUFYX1RVUk5TEAYSGQoVU1RPUF9SRUFTT05fTUFYX0NBTExTEAcSGQoVU1RPUF9SRUFTT05fQ0FOQ0VMTEVEEAgSGwoXU1RPUF9SRUFTT05fTU9ERUxfRVJST1IQCRIdChlTVE9QX1JFQVNPTl9SRVRVUk5fRElSRUNUEAoSHgoaU1RPUF9SRUFTT05fSU5URVJOQUxfRVJST1IQCxIZChVTVE9QX1JFQVNPTl9DT01QTEVURUQQDBIcChhTVE9QX1JFQVNPTl9UT0tFTl9CVURHRVQQDRIbChdTVE9QX1JFQVNPTl9DT1NUX0JVREdFVBAOEhkKFVNUT1BfUkVBU09OX1dBTExfVElNRRAPEhsKF1NUT1BfUkVBU09OX09VVFBVVF9TSVpFEBASGAoUU1RPUF9SRUFTT05fRkFJTFVSRVMQERIYChRTVE9QX1JFQVNPTl9USU1FT1VUUxASEhoKFlNUT1BfUkVBU09OX1JFUEVUSVRJT04QExIdChlTVE9QX1JFQVNPTl9OT19UT09MX0NBTExTEBQSHgoaU1RPUF9SRUFTT05fSU5WQUxJRF9BTlNXRVIQFRIeChpTVE9QX1JFQVNPTl9FTVBUWV9SRVNQT05TRRAWEhwKGFNUT1BfUkVBU09OX0NBTExfQVNfVEVYVBAXMsEHCgxBZ2VudFNlcnZpY2USSgoIU3RhcnRSdW4SGi5hZ2VudGQudjEuU3RhcnRSdW5SZXF1ZXN0GhsuYWdlbnRkLnYxLlN0YXJ0UnVuUmVzcG9uc2UiBZK2GAEPElMKC1NlbmRNZXNzYWdlEh0uYWdlbnRkLnYxLlNlbmRNZXNzYWdlUmVxdWVzdBoeLmFnZW50ZC52MS5TZW5kTWVzc2FnZVJlc3BvbnNlIgWSthgBDxJNCghXYXRjaFJ1bhIaLmFnZW50ZC52MS5XYXRjaFJ1blJlcXVlc3QaGy5hZ2VudGQudjEuV2F0Y2hSdW5SZXNwb25zZSIGkrYYAhARMAESSAoHUmVzcG9uZBIZLmFnZW50ZC52MS5SZXNwb25kUmVxdWVzdBoaLmFnZW50ZC52MS5SZXNwb25kUmVzcG9uc2UiBpK2GAIQEhJOCglDYW5jZWxSdW4SGy5hZ2VudGQudjEuQ2FuY2VsUnVuUmVxdWVzdBocLmFnZW50ZC52MS5DYW5jZWxSdW5SZXNwb25zZSIGkrYYAhASEk4KCURlbGV0ZVJ1bhIbLmFnZW50ZC52MS5EZWxldGVSdW5SZXF1ZXN0GhwuYWdlbnRkLnYxLkRlbGV0ZVJ1blJlc3BvbnNlIgaSthgCEBkSRQoGR2V0UnVuEhguYWdlbnRkLnYxLkdldFJ1blJlcXVlc3QaGS5hZ2VudGQudjEuR2V0UnVuUmVzcG9uc2UiBpK2GAIQERJLCghMaXN0UnVucxIaLmFnZW50ZC52MS5MaXN0UnVuc1JlcXVlc3QaGy5hZ2VudGQudjEuTGlzdFJ1bnNSZXNwb25zZSIGkrYYAhARElAKCkdldFZlcnNpb24SHC5hZ2VudGQudjEuR2V0VmVyc2lvblJlcXVlc3QaHS5hZ2VudGQudjEuR2V0VmVyc2lvblJlc3BvbnNlIgWSthgBFBJECgZXaG9BbUkSGC5hZ2VudGQudjEuV2hvQW1JUmVxdWVzdBoZLmFnZW50ZC52MS5XaG9BbUlSZXNwb25zZSIFkrYYARYSRAoGUmVsb2FkEhguYWdlbnRkLnYxLlJlbG9hZFJlcXVlc3QaGS5hZ2VudGQudjEuUmVsb2FkUmVzcG9uc2UiBZK2GAEKEmUKEURpZmZDb25maWd1cmF0aW9uEiMuYWdlbnRkLnYxLkRpZmZDb25maWd1cmF0aW9uUmVxdWVzdBokLmFnZW50ZC52MS5EaWZmQ29uZmlndXJhdGlvblJlc3BvbnNlIgWSthgBCUI4WjZnaXRodWIuY29tL3Rvb2xob3N0L3Rvb2xob3N0L2dlbi9nby9hZ2VudGQvdjE7YWdlbnRkdjFiBnByb3RvMw", [file_google_protobuf_duration, file_google_protobuf_timestamp, file_toolhost_tool_v1_caller, file_toolhost_tool_v1_error, file_toolhost_tool_v1_result, file_toolhost_tool_v1_right, file_toolhost_tool_v1_status, file_toolhost_tool_v1_version, file_toolhost_v1_settled]);
/**
 * Describes the message agentd.v1.ReloadRequest.
 * Use `create(ReloadRequestSchema)` to create a new message.
 */
export const ReloadRequestSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 0);
/**
 * Describes the message agentd.v1.ReloadResponse.
 * Use `create(ReloadResponseSchema)` to create a new message.
 */
export const ReloadResponseSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 1);
/**
 * Describes the message agentd.v1.DiffConfigurationRequest.
 * Use `create(DiffConfigurationRequestSchema)` to create a new message.
 */
export const DiffConfigurationRequestSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 2);
/**
 * Describes the message agentd.v1.DiffConfigurationResponse.
 * Use `create(DiffConfigurationResponseSchema)` to create a new message.
 */
export const DiffConfigurationResponseSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 3);
/**
 * Describes the message agentd.v1.ConfigurationChange.
 * Use `create(ConfigurationChangeSchema)` to create a new message.
 */
export const ConfigurationChangeSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 4);
/**
 * Describes the message agentd.v1.SettingChange.
 * Use `create(SettingChangeSchema)` to create a new message.
 */
export const SettingChangeSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 5);
/**
 * Describes the message agentd.v1.GetVersionRequest.
 * Use `create(GetVersionRequestSchema)` to create a new message.
 */
export const GetVersionRequestSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 6);
/**
 * Describes the message agentd.v1.GetVersionResponse.
 * Use `create(GetVersionResponseSchema)` to create a new message.
 */
export const GetVersionResponseSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 7);
/**
 * Describes the message agentd.v1.WhoAmIRequest.
 * Use `create(WhoAmIRequestSchema)` to create a new message.
 */
export const WhoAmIRequestSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 8);
/**
 * Describes the message agentd.v1.WhoAmIResponse.
 * Use `create(WhoAmIResponseSchema)` to create a new message.
 */
export const WhoAmIResponseSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 9);
/**
 * Describes the message agentd.v1.StartRunRequest.
 * Use `create(StartRunRequestSchema)` to create a new message.
 */
export const StartRunRequestSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 10);
/**
 * Describes the message agentd.v1.Attachment.
 * Use `create(AttachmentSchema)` to create a new message.
 */
export const AttachmentSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 11);
/**
 * Describes the message agentd.v1.ArtifactSource.
 * Use `create(ArtifactSourceSchema)` to create a new message.
 */
export const ArtifactSourceSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 12);
/**
 * Describes the message agentd.v1.AttachmentInfo.
 * Use `create(AttachmentInfoSchema)` to create a new message.
 */
export const AttachmentInfoSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 13);
/**
 * Describes the message agentd.v1.Sampling.
 * Use `create(SamplingSchema)` to create a new message.
 */
export const SamplingSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 14);
/**
 * Describes the message agentd.v1.Window.
 * Use `create(WindowSchema)` to create a new message.
 */
export const WindowSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 15);
/**
 * Describes the message agentd.v1.SystemTools.
 * Use `create(SystemToolsSchema)` to create a new message.
 */
export const SystemToolsSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 16);
/**
 * Describes the message agentd.v1.People.
 * Use `create(PeopleSchema)` to create a new message.
 */
export const PeopleSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 17);
/**
 * Describes the message agentd.v1.ToolChoice.
 * Use `create(ToolChoiceSchema)` to create a new message.
 */
export const ToolChoiceSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 18);
/**
 * Describes the message agentd.v1.Limits.
 * Use `create(LimitsSchema)` to create a new message.
 */
export const LimitsSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 19);
/**
 * Describes the message agentd.v1.StartRunResponse.
 * Use `create(StartRunResponseSchema)` to create a new message.
 */
export const StartRunResponseSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 20);
/**
 * Describes the message agentd.v1.SendMessageRequest.
 * Use `create(SendMessageRequestSchema)` to create a new message.
 */
export const SendMessageRequestSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 21);
/**
 * Describes the message agentd.v1.SendMessageResponse.
 * Use `create(SendMessageResponseSchema)` to create a new message.
 */
export const SendMessageResponseSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 22);
/**
 * Describes the message agentd.v1.WatchRunRequest.
 * Use `create(WatchRunRequestSchema)` to create a new message.
 */
export const WatchRunRequestSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 23);
/**
 * Describes the message agentd.v1.WatchRunResponse.
 * Use `create(WatchRunResponseSchema)` to create a new message.
 */
export const WatchRunResponseSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 24);
/**
 * Describes the message agentd.v1.RespondRequest.
 * Use `create(RespondRequestSchema)` to create a new message.
 */
export const RespondRequestSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 25);
/**
 * Describes the message agentd.v1.Decision.
 * Use `create(DecisionSchema)` to create a new message.
 */
export const DecisionSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 26);
/**
 * Describes the message agentd.v1.Approve.
 * Use `create(ApproveSchema)` to create a new message.
 */
export const ApproveSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 27);
/**
 * Describes the message agentd.v1.StandingChoice.
 * Use `create(StandingChoiceSchema)` to create a new message.
 */
export const StandingChoiceSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 28);
/**
 * Describes the message agentd.v1.StandingPattern.
 * Use `create(StandingPatternSchema)` to create a new message.
 */
export const StandingPatternSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 29);
/**
 * Describes the message agentd.v1.Reject.
 * Use `create(RejectSchema)` to create a new message.
 */
export const RejectSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 30);
/**
 * Describes the message agentd.v1.Answer.
 * Use `create(AnswerSchema)` to create a new message.
 */
export const AnswerSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 31);
/**
 * Describes the message agentd.v1.RespondResponse.
 * Use `create(RespondResponseSchema)` to create a new message.
 */
export const RespondResponseSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 32);
/**
 * Describes the message agentd.v1.CancelRunRequest.
 * Use `create(CancelRunRequestSchema)` to create a new message.
 */
export const CancelRunRequestSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 33);
/**
 * Describes the message agentd.v1.CancelRunResponse.
 * Use `create(CancelRunResponseSchema)` to create a new message.
 */
export const CancelRunResponseSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 34);
/**
 * Describes the message agentd.v1.DeleteRunRequest.
 * Use `create(DeleteRunRequestSchema)` to create a new message.
 */
export const DeleteRunRequestSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 35);
/**
 * Describes the message agentd.v1.DeleteRunResponse.
 * Use `create(DeleteRunResponseSchema)` to create a new message.
 */
export const DeleteRunResponseSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 36);
/**
 * Describes the message agentd.v1.GetRunRequest.
 * Use `create(GetRunRequestSchema)` to create a new message.
 */
export const GetRunRequestSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 37);
/**
 * Describes the message agentd.v1.GetRunResponse.
 * Use `create(GetRunResponseSchema)` to create a new message.
 */
export const GetRunResponseSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 38);
/**
 * Describes the message agentd.v1.ListRunsRequest.
 * Use `create(ListRunsRequestSchema)` to create a new message.
 */
export const ListRunsRequestSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 39);
/**
 * Describes the message agentd.v1.ListRunsResponse.
 * Use `create(ListRunsResponseSchema)` to create a new message.
 */
export const ListRunsResponseSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 40);
/**
 * Describes the message agentd.v1.Run.
 * Use `create(RunSchema)` to create a new message.
 */
export const RunSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 41);
/**
 * Describes the message agentd.v1.Settlements.
 * Use `create(SettlementsSchema)` to create a new message.
 */
export const SettlementsSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 42);
/**
 * Describes the message agentd.v1.PendingDecision.
 * Use `create(PendingDecisionSchema)` to create a new message.
 */
export const PendingDecisionSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 43);
/**
 * Describes the message agentd.v1.RunEvent.
 * Use `create(RunEventSchema)` to create a new message.
 */
export const RunEventSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 44);
/**
 * Describes the message agentd.v1.RunStarted.
 * Use `create(RunStartedSchema)` to create a new message.
 */
export const RunStartedSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 45);
/**
 * Describes the message agentd.v1.MemoryFile.
 * Use `create(MemoryFileSchema)` to create a new message.
 */
export const MemoryFileSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 46);
/**
 * Describes the message agentd.v1.UserMessage.
 * Use `create(UserMessageSchema)` to create a new message.
 */
export const UserMessageSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 47);
/**
 * Describes the message agentd.v1.TextDelta.
 * Use `create(TextDeltaSchema)` to create a new message.
 */
export const TextDeltaSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 48);
/**
 * Describes the message agentd.v1.ReasoningDelta.
 * Use `create(ReasoningDeltaSchema)` to create a new message.
 */
export const ReasoningDeltaSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 49);
/**
 * Describes the message agentd.v1.ArgumentDelta.
 * Use `create(ArgumentDeltaSchema)` to create a new message.
 */
export const ArgumentDeltaSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 50);
/**
 * Describes the message agentd.v1.AnswerDelta.
 * Use `create(AnswerDeltaSchema)` to create a new message.
 */
export const AnswerDeltaSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 51);
/**
 * Describes the message agentd.v1.AssistantMessage.
 * Use `create(AssistantMessageSchema)` to create a new message.
 */
export const AssistantMessageSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 52);
/**
 * Describes the message agentd.v1.ToolCall.
 * Use `create(ToolCallSchema)` to create a new message.
 */
export const ToolCallSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 53);
/**
 * Describes the message agentd.v1.CallStarted.
 * Use `create(CallStartedSchema)` to create a new message.
 */
export const CallStartedSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 54);
/**
 * Describes the message agentd.v1.CallStatus.
 * Use `create(CallStatusSchema)` to create a new message.
 */
export const CallStatusSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 55);
/**
 * Describes the message agentd.v1.CallResult.
 * Use `create(CallResultSchema)` to create a new message.
 */
export const CallResultSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 56);
/**
 * Describes the message agentd.v1.TurnReset.
 * Use `create(TurnResetSchema)` to create a new message.
 */
export const TurnResetSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 57);
/**
 * Describes the message agentd.v1.CancelRequested.
 * Use `create(CancelRequestedSchema)` to create a new message.
 */
export const CancelRequestedSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 58);
/**
 * Describes the message agentd.v1.DecisionRequested.
 * Use `create(DecisionRequestedSchema)` to create a new message.
 */
export const DecisionRequestedSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 59);
/**
 * Describes the message agentd.v1.ModelReplied.
 * Use `create(ModelRepliedSchema)` to create a new message.
 */
export const ModelRepliedSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 60);
/**
 * Describes the message agentd.v1.DecisionMade.
 * Use `create(DecisionMadeSchema)` to create a new message.
 */
export const DecisionMadeSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 61);
/**
 * Describes the message agentd.v1.StandingApproved.
 * Use `create(StandingApprovedSchema)` to create a new message.
 */
export const StandingApprovedSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 62);
/**
 * Describes the message agentd.v1.BudgetWarning.
 * Use `create(BudgetWarningSchema)` to create a new message.
 */
export const BudgetWarningSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 63);
/**
 * Describes the message agentd.v1.ContextChange.
 * Use `create(ContextChangeSchema)` to create a new message.
 */
export const ContextChangeSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 64);
/**
 * Describes the message agentd.v1.TodoChange.
 * Use `create(TodoChangeSchema)` to create a new message.
 */
export const TodoChangeSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 65);
/**
 * Describes the message agentd.v1.SubRunStarted.
 * Use `create(SubRunStartedSchema)` to create a new message.
 */
export const SubRunStartedSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 66);
/**
 * Describes the message agentd.v1.RunResumed.
 * Use `create(RunResumedSchema)` to create a new message.
 */
export const RunResumedSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 67);
/**
 * Describes the message agentd.v1.SubRunWaiting.
 * Use `create(SubRunWaitingSchema)` to create a new message.
 */
export const SubRunWaitingSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 68);
/**
 * Describes the message agentd.v1.Compacted.
 * Use `create(CompactedSchema)` to create a new message.
 */
export const CompactedSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 69);
/**
 * Describes the message agentd.v1.RunFinished.
 * Use `create(RunFinishedSchema)` to create a new message.
 */
export const RunFinishedSchema = /*@__PURE__*/ messageDesc(file_agentd_v1_agent_service, 70);
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
