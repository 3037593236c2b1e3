// The API that toolhost serves to callers of tools.
import { enumDesc, fileDesc, messageDesc, serviceDesc } from "@bufbuild/protobuf/codegenv2";
import { file_google_protobuf_duration, file_google_protobuf_timestamp } from "@bufbuild/protobuf/wkt";
import { file_toolhost_tool_v1_caller } from "../tool/v1/caller_pb.js";
import { file_toolhost_tool_v1_error } from "../tool/v1/error_pb.js";
import { file_toolhost_tool_v1_principal } from "../tool/v1/principal_pb.js";
import { file_toolhost_tool_v1_question } from "../tool/v1/question_pb.js";
import { file_toolhost_tool_v1_result } from "../tool/v1/result_pb.js";
import { file_toolhost_tool_v1_right } from "../tool/v1/right_pb.js";
import { file_toolhost_tool_v1_spec } from "../tool/v1/spec_pb.js";
import { file_toolhost_tool_v1_status } from "../tool/v1/status_pb.js";
import { file_toolhost_tool_v1_version } from "../tool/v1/version_pb.js";
import { file_toolhost_v1_resources } from "./resources_pb.js";
import { file_toolhost_v1_settled } from "./settled_pb.js";
/**
 * Describes the file toolhost/v1/tool_service.proto.
 */
export const file_toolhost_v1_tool_service = /*@__PURE__*/ fileDesc("Ch50b29saG9zdC92MS90b29sX3NlcnZpY2UucHJvdG8SC3Rvb2xob3N0LnYxIhMKEUdldFZlcnNpb25SZXF1ZXN0IkQKEkdldFZlcnNpb25SZXNwb25zZRIuCgd2ZXJzaW9uGAEgASgLMh0udG9vbGhvc3QudG9vbC52MS5WZXJzaW9uSW5mbyIPCg1XaG9BbUlSZXF1ZXN0Ij4KDldob0FtSVJlc3BvbnNlEiwKBmNhbGxlchgBIAEoCzIcLnRvb2xob3N0LnRvb2wudjEuQ2FsbGVySW5mbyKFAQoEVG9vbBIoCgRzcGVjGAEgASgLMhoudG9vbGhvc3QudG9vbC52MS5Ub29sU3BlYxIOCgZwbHVnaW4YAiABKAkSFgoOcGx1Z2luX3ZlcnNpb24YAyABKAkSGgoSdW5hdmFpbGFibGVfcmVhc29uGAQgASgJEg8KB2ZpbHRlcnMYBSADKAkiywIKDVRvb2xTZWxlY3Rpb24SDQoFbmFtZXMYASADKAkSEgoKY2F0ZWdvcmllcxgCIAMoCRIMCgR0YWdzGAMgAygJEhYKCWRhbmdlcm91cxgEIAEoCEgAiAEBEh0KEG1heF9jb3N0X3Blcl91c2UYBSABKAFIAYgBARIRCgltYXhfdG9vbHMYBiABKAUSDwoHc2Vzc2lvbhgHIAEoCRI4Cgdjb250ZXh0GAggAygLMicudG9vbGhvc3QudjEuVG9vbFNlbGVjdGlvbi5Db250ZXh0RW50cnkSDwoHcGx1Z2lucxgJIAMoCRIQCghleGNsdWRlZBgKIAMoCRouCgxDb250ZXh0RW50cnkSCwoDa2V5GAEgASgJEg0KBXZhbHVlGAIgASgMOgI4AUIMCgpfZGFuZ2Vyb3VzQhMKEV9tYXhfY29zdF9wZXJfdXNlIssBChBMaXN0VG9vbHNSZXF1ZXN0EhEKCXBhZ2Vfc2l6ZRgBIAEoBRISCgpwYWdlX3Rva2VuGAIgASgJEi0KCXNlbGVjdGlvbhgDIAEoCzIaLnRvb2xob3N0LnYxLlRvb2xTZWxlY3Rpb24SMQoMb25fYmVoYWxmX29mGAQgASgLMhsudG9vbGhvc3QudG9vbC52MS5QcmluY2lwYWwSGwoOa25vd25fcmV2aXNpb24YBSABKAlIAIgBAUIRCg9fa25vd25fcmV2aXNpb24iuAEKEUxpc3RUb29sc1Jlc3BvbnNlEiAKBXRvb2xzGAEgAygLMhEudG9vbGhvc3QudjEuVG9vbBIXCg9uZXh0X3BhZ2VfdG9rZW4YAiABKAkSEQoJbGVkZ2VyX2lkGAMgASgJEhEKCXdvcmtzcGFjZRgEIAEoCRIYChB3cml0YWJsZV9mb2xkZXJzGAUgAygJEhYKDmhpZGRlbl9mb2xkZXJzGAYgAygJEhAKCHJldmlzaW9uGAcgASgJIs0BCg5HZXRUb29sUmVxdWVzdBIMCgRuYW1lGAEgASgJEg8KB3Nlc3Npb24YAiABKAkSOQoHY29udGV4dBgDIAMoCzIoLnRvb2xob3N0LnYxLkdldFRvb2xSZXF1ZXN0LkNvbnRleHRFbnRyeRIxCgxvbl9iZWhhbGZfb2YYBCABKAsyGy50b29saG9zdC50b29sLnYxLlByaW5jaXBhbBouCgxDb250ZXh0RW50cnkSCwoDa2V5GAEgASgJEg0KBXZhbHVlGAIgASgMOgI4ASIyCg9HZXRUb29sUmVzcG9uc2USHwoEdG9vbBgBIAEoCzIRLnRvb2xob3N0LnYxLlRvb2wihQEKElNlYXJjaFRvb2xzUmVxdWVzdBINCgVxdWVyeRgBIAEoCRItCglzZWxlY3Rpb24YAiABKAsyGi50b29saG9zdC52MS5Ub29sU2VsZWN0aW9uEjEKDG9uX2JlaGFsZl9vZhgDIAEoCzIbLnRvb2xob3N0LnRvb2wudjEuUHJpbmNpcGFsIj4KE1NlYXJjaFRvb2xzUmVzcG9uc2USJwoHbWF0Y2hlcxgBIAMoCzIWLnRvb2xob3N0LnYxLlRvb2xNYXRjaCI7CglUb29sTWF0Y2gSHwoEdG9vbBgBIAEoCzIRLnRvb2xob3N0LnYxLlRvb2wSDQoFc2NvcmUYAiABKAEinwEKElJlbmRlclRvb2xzUmVxdWVzdBInCgZmb3JtYXQYASABKA4yFy50b29saG9zdC52MS5Ub29sRm9ybWF0Ei0KCXNlbGVjdGlvbhgCIAEoCzIaLnRvb2xob3N0LnYxLlRvb2xTZWxlY3Rpb24SMQoMb25fYmVoYWxmX29mGAMgASgLMhsudG9vbGhvc3QudG9vbC52MS5QcmluY2lwYWwidAoTUmVuZGVyVG9vbHNSZXNwb25zZRIPCgdjb250ZW50GAEgASgMEhIKCm1lZGlhX3R5cGUYAiABKAkSDQoFdG9vbHMYAyADKAkSKQoHb21pdHRlZBgEIAMoCzIYLnRvb2xob3N0LnYxLk9taXR0ZWRUb29sIisKC09taXR0ZWRUb29sEgwKBG5hbWUYASABKAkSDgoGcmVhc29uGAIgASgJInoKEFdhdGNoQ2FsbFJlcXVlc3QSDwoHY2FsbF9pZBgBIAEoCRIPCgdzZXNzaW9uGAIgASgJEhEKCWFmdGVyX3NlcRgDIAEoBBIxCgxvbl9iZWhhbGZfb2YYBCABKAsyGy50b29saG9zdC50b29sLnYxLlByaW5jaXBhbCI6ChFXYXRjaENhbGxSZXNwb25zZRIlCgVldmVudBgBIAEoCzIWLnRvb2xob3N0LnYxLkNhbGxFdmVudCJ4ChFDYW5jZWxDYWxsUmVxdWVzdBIPCgdjYWxsX2lkGAEgASgJEg8KB3Nlc3Npb24YAiABKAkSDgoGcmVhc29uGAMgASgJEjEKDG9uX2JlaGFsZl9vZhgEIAEoCzIbLnRvb2xob3N0LnRvb2wudjEuUHJpbmNpcGFsIhQKEkNhbmNlbENhbGxSZXNwb25zZSKoAQoVQW5zd2VyUXVlc3Rpb25SZXF1ZXN0Eg8KB2NhbGxfaWQYASABKAkSDwoHc2Vzc2lvbhgCIAEoCRIQCghxdWVzdGlvbhgDIAEoDRIoCgZhbnN3ZXIYBCABKAsyGC50b29saG9zdC50b29sLnYxLkFuc3dlchIxCgxvbl9iZWhhbGZfb2YYBSABKAsyGy50b29saG9zdC50b29sLnYxLlByaW5jaXBhbCIYChZBbnN3ZXJRdWVzdGlvblJlc3BvbnNlIogBChNSZWFkQXJ0aWZhY3RSZXF1ZXN0Eg4KBmhhbmRsZRgBIAEoCRIPCgdzZXNzaW9uGAIgASgJEg4KBm9mZnNldBgDIAEoBBINCgVsaW1pdBgEIAEoDRIxCgxvbl9iZWhhbGZfb2YYBSABKAsyGy50b29saG9zdC50b29sLnYxLlByaW5jaXBhbCJUChRSZWFkQXJ0aWZhY3RSZXNwb25zZRIMCgRkYXRhGAEgASgMEhIKCm1lZGlhX3R5cGUYAiABKAkSDAoEc2l6ZRgDIAEoBBIMCgRuYW1lGAQgASgJIpIECgtDYWxsT3B0aW9ucxIPCgdjYWxsX2lkGAEgASgJEg8KB3Nlc3Npb24YAiABKAkSKgoHdGltZW91dBgDIAEoCzIZLmdvb2dsZS5wcm90b2J1Zi5EdXJhdGlvbhInCghhcHByb3ZhbBgEIAEoCzIVLnRvb2xob3N0LnYxLkFwcHJvdmFsEjYKB2NvbnRleHQYBSADKAsyJS50b29saG9zdC52MS5DYWxsT3B0aW9ucy5Db250ZXh0RW50cnkSEwoLdHJhY2VwYXJlbnQYBiABKAkSHAoPbWF4X3Nob3duX2J5dGVzGAcgASgESACIAQESFAoMb3V0Y29tZV9vbmx5GAggASgIEhEKCWxlZGdlcl9pZBgJIAEoCRIzCg9maXJzdF9zZW50X3RpbWUYCiABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wEjEKDG9uX2JlaGFsZl9vZhgLIAEoCzIbLnRvb2xob3N0LnRvb2wudjEuUHJpbmNpcGFsEjAKB2Fuc3dlcnMYDCABKAsyHy50b29saG9zdC50b29sLnYxLlF1ZXN0aW9uS2luZHMSDQoFYWdlbnQYDSABKAkSCwoDcnVuGA4gASgJGi4KDENvbnRleHRFbnRyeRILCgNrZXkYASABKAkSDQoFdmFsdWUYAiABKAw6AjgBQhIKEF9tYXhfc2hvd25fYnl0ZXMitQEKCEFwcHJvdmFsEhMKC2FwcHJvdmVkX2J5GAEgASgJEg4KBnJlYXNvbhgCIAEoCRIoCgR0aW1lGAMgASgLMhouZ29vZ2xlLnByb3RvYnVmLlRpbWVzdGFtcBIRCglhcmd1bWVudHMYBCABKAwSGAoQYXJndW1lbnRzX3NoYTI1NhgFIAEoCRItCghhcHByb3ZlchgGIAEoCzIbLnRvb2xob3N0LnRvb2wudjEuUHJpbmNpcGFsIlkKC0NhbGxSZXF1ZXN0EgwKBHRvb2wYASABKAkSEQoJYXJndW1lbnRzGAIgASgMEikKB29wdGlvbnMYAyABKAsyGC50b29saG9zdC52MS5DYWxsT3B0aW9ucyJ9CgxDYWxsUmVzcG9uc2USDwoHY2FsbF9pZBgBIAEoCRIOCgZwbHVnaW4YAiABKAkSEAoIaW5zdGFuY2UYAyABKAkSKAoGcmVzdWx0GAQgASgLMhgudG9vbGhvc3QudG9vbC52MS5SZXN1bHQSEAoIcmVwbGF5ZWQYBSABKAgiXwoRUmV2aWV3Q2FsbFJlcXVlc3QSDAoEdG9vbBgBIAEoCRIRCglhcmd1bWVudHMYAiABKAwSKQoHb3B0aW9ucxgDIAEoCzIYLnRvb2xob3N0LnYxLkNhbGxPcHRpb25zIj4KElJldmlld0NhbGxSZXNwb25zZRIoCgZyZXN1bHQYASABKAsyGC50b29saG9zdC50b29sLnYxLlJlc3VsdCJpCglTdGFydENhbGwSDAoEdG9vbBgBIAEoCRIRCglhcmd1bWVudHMYAiABKAwSEAoIY29tcGxldGUYAyABKAgSKQoHb3B0aW9ucxgEIAEoCzIYLnRvb2xob3N0LnYxLkNhbGxPcHRpb25zIh8KD0FwcGVuZEFyZ3VtZW50cxIMCgR0ZXh0GAEgASgMIhMKEUNvbXBsZXRlQXJndW1lbnRzIhwKCkNhbmNlbENhbGwSDgoGcmVhc29uGAEgASgJItEBCg5FeGVjdXRlUmVxdWVzdBInCgVzdGFydBgBIAEoCzIWLnRvb2xob3N0LnYxLlN0YXJ0Q2FsbEgAEi4KBmFwcGVuZBgCIAEoCzIcLnRvb2xob3N0LnYxLkFwcGVuZEFyZ3VtZW50c0gAEjIKCGNvbXBsZXRlGAMgASgLMh4udG9vbGhvc3QudjEuQ29tcGxldGVBcmd1bWVudHNIABIpCgZjYW5jZWwYBCABKAsyFy50b29saG9zdC52MS5DYW5jZWxDYWxsSABCBwoFZnJhbWUiOAoPRXhlY3V0ZVJlc3BvbnNlEiUKBWV2ZW50GAEgASgLMhYudG9vbGhvc3QudjEuQ2FsbEV2ZW50ItcCCg5Db25uZWN0UmVxdWVzdBIMCgRjYWxsGAEgASgNEicKBXN0YXJ0GAIgASgLMhYudG9vbGhvc3QudjEuU3RhcnRDYWxsSAASLgoGYXBwZW5kGAMgASgLMhwudG9vbGhvc3QudjEuQXBwZW5kQXJndW1lbnRzSAASMgoIY29tcGxldGUYBCABKAsyHi50b29saG9zdC52MS5Db21wbGV0ZUFyZ3VtZW50c0gAEikKBmNhbmNlbBgFIAEoCzIXLnRvb2xob3N0LnYxLkNhbmNlbENhbGxIABIqCgZjcmVkaXQYBiABKAsyGC50b29saG9zdC52MS5HcmFudENyZWRpdEgAEioKBWJhdGNoGAcgAygLMhsudG9vbGhvc3QudjEuQ29ubmVjdFJlcXVlc3QSEQoJYWNrX3Rva2VuGAggASgGEgsKA2FjaxgJIAEoBkIHCgVmcmFtZSIcCgtHcmFudENyZWRpdBINCgVieXRlcxgBIAEoDSKTAQoPQ29ubmVjdFJlc3BvbnNlEgwKBGNhbGwYASABKA0SJQoFZXZlbnQYAiABKAsyFi50b29saG9zdC52MS5DYWxsRXZlbnQSKwoFYmF0Y2gYAyADKAsyHC50b29saG9zdC52MS5Db25uZWN0UmVzcG9uc2USEQoJYWNrX3Rva2VuGAQgASgGEgsKA2FjaxgFIAEoBiKMAwoJQ2FsbEV2ZW50EgsKA3NlcRgBIAEoBBIoCgR0aW1lGAIgASgLMhouZ29vZ2xlLnByb3RvYnVmLlRpbWVzdGFtcBIrCgdzdGFydGVkGAMgASgLMhgudG9vbGhvc3QudjEuQ2FsbFN0YXJ0ZWRIABIqCgZzdGF0dXMYBCABKAsyGC50b29saG9zdC50b29sLnYxLlN0YXR1c0gAEioKA2xvZxgFIAEoCzIbLnRvb2xob3N0LnRvb2wudjEuTG9nUmVjb3JkSAASKgoFY2h1bmsYBiABKAsyGS50b29saG9zdC52MS5Db250ZW50Q2h1bmtIABInCgVlbmRlZBgHIAEoCzIWLnRvb2xob3N0LnYxLkNhbGxFbmRlZEgAEi0KCHF1ZXN0aW9uGAggASgLMhkudG9vbGhvc3QudjEuQ2FsbFF1ZXN0aW9uSAASNgoPcXVlc3Rpb25fY2xvc2VkGAkgASgLMhsudG9vbGhvc3QudjEuUXVlc3Rpb25DbG9zZWRIAEIHCgVldmVudCKAAQoLQ2FsbFN0YXJ0ZWQSDwoHY2FsbF9pZBgBIAEoCRIOCgZwbHVnaW4YAiABKAkSEAoIaW5zdGFuY2UYAyABKAkSDwoHYXR0ZW1wdBgEIAEoDRItCgRhc2tzGAUgASgLMh8udG9vbGhvc3QudG9vbC52MS5RdWVzdGlvbktpbmRzIqsCCgxDYWxsUXVlc3Rpb24SCgoCaWQYASABKA0SDwoHY2FsbF9pZBgCIAEoCRIOCgZwbHVnaW4YAyABKAkSDAoEdG9vbBgEIAEoCRIvCgtleHBpcmVfdGltZRgFIAEoCzIaLmdvb2dsZS5wcm90b2J1Zi5UaW1lc3RhbXASMgoGcGVyc29uGAYgASgLMiAudG9vbGhvc3QudG9vbC52MS5QZXJzb25RdWVzdGlvbkgAEjAKBW1vZGVsGAcgASgLMh8udG9vbGhvc3QudG9vbC52MS5Nb2RlbFF1ZXN0aW9uSAASMAoFcm9vdHMYCCABKAsyHy50b29saG9zdC50b29sLnYxLlJvb3RzUXVlc3Rpb25IABILCgNrZXkYCSABKAlCCgoIcXVlc3Rpb24iTAoOUXVlc3Rpb25DbG9zZWQSEAoIcXVlc3Rpb24YASABKA0SKAoGcmVhc29uGAIgASgOMhgudG9vbGhvc3QudjEuUXVlc3Rpb25FbmQiKwoMQ29udGVudENodW5rEg0KBWluZGV4GAEgASgNEgwKBGRhdGEYAiABKAwi2AEKCUNhbGxFbmRlZBIPCgdjYWxsX2lkGAEgASgJEg4KBnBsdWdpbhgCIAEoCRIQCghpbnN0YW5jZRgDIAEoCRIqCgZyZXN1bHQYBCABKAsyGC50b29saG9zdC50b29sLnYxLlJlc3VsdEgAEigKBWVycm9yGAUgASgLMhcudG9vbGhvc3QudG9vbC52MS5FcnJvckgAEhAKCHJlcGxheWVkGAYgASgIEiUKB3NldHRsZWQYByABKAsyFC50b29saG9zdC52MS5TZXR0bGVkQgkKB291dGNvbWUqxQEKClRvb2xGb3JtYXQSGwoXVE9PTF9GT1JNQVRfVU5TUEVDSUZJRUQQABIWChJUT09MX0ZPUk1BVF9PUEVOQUkQARIgChxUT09MX0ZPUk1BVF9PUEVOQUlfUkVTUE9OU0VTEAISGQoVVE9PTF9GT1JNQVRfQU5USFJPUElDEAMSEwoPVE9PTF9GT1JNQVRfTUNQEAQSGAoUVE9PTF9GT1JNQVRfTUFSS0RPV04QBRIWChJUT09MX0ZPUk1BVF9HRU1JTkkQBip8CgtRdWVzdGlvbkVuZBIcChhRVUVTVElPTl9FTkRfVU5TUEVDSUZJRUQQABIZChVRVUVTVElPTl9FTkRfQU5TV0VSRUQQARIYChRRVUVTVElPTl9FTkRfRVhQSVJFRBACEhoKFlFVRVNUSU9OX0VORF9BQkFORE9ORUQQAzLODgoLVG9vbFNlcnZpY2USUQoJTGlzdFRvb2xzEh0udG9vbGhvc3QudjEuTGlzdFRvb2xzUmVxdWVzdBoeLnRvb2xob3N0LnYxLkxpc3RUb29sc1Jlc3BvbnNlIgWSthgBARJLCgdHZXRUb29sEhsudG9vbGhvc3QudjEuR2V0VG9vbFJlcXVlc3QaHC50b29saG9zdC52MS5HZXRUb29sUmVzcG9uc2UiBZK2GAEBEkIKBENhbGwSGC50b29saG9zdC52MS5DYWxsUmVxdWVzdBoZLnRvb2xob3N0LnYxLkNhbGxSZXNwb25zZSIFkrYYAQISVAoKUmV2aWV3Q2FsbBIeLnRvb2xob3N0LnYxLlJldmlld0NhbGxSZXF1ZXN0Gh8udG9vbGhvc3QudjEuUmV2aWV3Q2FsbFJlc3BvbnNlIgWSthgBAhJXCgtTZWFyY2hUb29scxIfLnRvb2xob3N0LnYxLlNlYXJjaFRvb2xzUmVxdWVzdBogLnRvb2xob3N0LnYxLlNlYXJjaFRvb2xzUmVzcG9uc2UiBZK2GAEBElcKC1JlbmRlclRvb2xzEh8udG9vbGhvc3QudjEuUmVuZGVyVG9vbHNSZXF1ZXN0GiAudG9vbGhvc3QudjEuUmVuZGVyVG9vbHNSZXNwb25zZSIFkrYYAQESTwoHRXhlY3V0ZRIbLnRvb2xob3N0LnYxLkV4ZWN1dGVSZXF1ZXN0GhwudG9vbGhvc3QudjEuRXhlY3V0ZVJlc3BvbnNlIgWSthgBAigBMAESUwoJV2F0Y2hDYWxsEh0udG9vbGhvc3QudjEuV2F0Y2hDYWxsUmVxdWVzdBoeLnRvb2xob3N0LnYxLldhdGNoQ2FsbFJlc3BvbnNlIgWSthgBAzABElQKCkNhbmNlbENhbGwSHi50b29saG9zdC52MS5DYW5jZWxDYWxsUmVxdWVzdBofLnRvb2xob3N0LnYxLkNhbmNlbENhbGxSZXNwb25zZSIFkrYYAQMSYAoOQW5zd2VyUXVlc3Rpb24SIi50b29saG9zdC52MS5BbnN3ZXJRdWVzdGlvblJlcXVlc3QaIy50b29saG9zdC52MS5BbnN3ZXJRdWVzdGlvblJlc3BvbnNlIgWSthgBAxJaCgxSZWFkQXJ0aWZhY3QSIC50b29saG9zdC52MS5SZWFkQXJ0aWZhY3RSZXF1ZXN0GiEudG9vbGhvc3QudjEuUmVhZEFydGlmYWN0UmVzcG9uc2UiBZK2GAEDEl0KDUxpc3RSZXNvdXJjZXMSIS50b29saG9zdC52MS5MaXN0UmVzb3VyY2VzUmVxdWVzdBoiLnRvb2xob3N0LnYxLkxpc3RSZXNvdXJjZXNSZXNwb25zZSIFkrYYAQESdQoVTGlzdFJlc291cmNlVGVtcGxhdGVzEikudG9vbGhvc3QudjEuTGlzdFJlc291cmNlVGVtcGxhdGVzUmVxdWVzdBoqLnRvb2xob3N0LnYxLkxpc3RSZXNvdXJjZVRlbXBsYXRlc1Jlc3BvbnNlIgWSthgBARJaCgxSZWFkUmVzb3VyY2USIC50b29saG9zdC52MS5SZWFkUmVzb3VyY2VSZXF1ZXN0GiEudG9vbGhvc3QudjEuUmVhZFJlc291cmNlUmVzcG9uc2UiBZK2GAECElcKC0xpc3RQcm9tcHRzEh8udG9vbGhvc3QudjEuTGlzdFByb21wdHNSZXF1ZXN0GiAudG9vbGhvc3QudjEuTGlzdFByb21wdHNSZXNwb25zZSIFkrYYAQESUQoJR2V0UHJvbXB0Eh0udG9vbGhvc3QudjEuR2V0UHJvbXB0UmVxdWVzdBoeLnRvb2xob3N0LnYxLkdldFByb21wdFJlc3BvbnNlIgWSthgBAhJmChBDb21wbGV0ZUFyZ3VtZW50EiQudG9vbGhvc3QudjEuQ29tcGxldGVBcmd1bWVudFJlcXVlc3QaJS50b29saG9zdC52MS5Db21wbGV0ZUFyZ3VtZW50UmVzcG9uc2UiBZK2GAECEmIKDldhdGNoUmVzb3VyY2VzEiIudG9vbGhvc3QudjEuV2F0Y2hSZXNvdXJjZXNSZXF1ZXN0GiMudG9vbGhvc3QudjEuV2F0Y2hSZXNvdXJjZXNSZXNwb25zZSIFkrYYAQIwARJPCgdDb25uZWN0EhsudG9vbGhvc3QudjEuQ29ubmVjdFJlcXVlc3QaHC50b29saG9zdC52MS5Db25uZWN0UmVzcG9uc2UiBZK2GAECKAEwARJUCgpHZXRWZXJzaW9uEh4udG9vbGhvc3QudjEuR2V0VmVyc2lvblJlcXVlc3QaHy50b29saG9zdC52MS5HZXRWZXJzaW9uUmVzcG9uc2UiBZK2GAEUEkgKBldob0FtSRIaLnRvb2xob3N0LnYxLldob0FtSVJlcXVlc3QaGy50b29saG9zdC52MS5XaG9BbUlSZXNwb25zZSIFkrYYARZCPFo6Z2l0aHViLmNvbS90b29saG9zdC90b29saG9zdC9nZW4vZ28vdG9vbGhvc3QvdjE7dG9vbGhvc3R2MWIGcHJvdG8z", [file_google_protobuf_duration, file_google_protobuf_timestamp, file_toolhost_tool_v1_caller, file_toolhost_tool_v1_error, file_toolhost_tool_v1_principal, file_toolhost_tool_v1_question, file_toolhost_tool_v1_result, file_toolhost_tool_v1_right, file_toolhost_tool_v1_spec, file_toolhost_tool_v1_status, file_toolhost_tool_v1_version, file_toolhost_v1_resources, file_toolhost_v1_settled]);
/**
 * Describes the message toolhost.v1.GetVersionRequest.
 * Use `create(GetVersionRequestSchema)` to create a new message.
 */
export const GetVersionRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 0);
/**
 * Describes the message toolhost.v1.GetVersionResponse.
 * Use `create(GetVersionResponseSchema)` to create a new message.
 */
export const GetVersionResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 1);
/**
 * Describes the message toolhost.v1.WhoAmIRequest.
 * Use `create(WhoAmIRequestSchema)` to create a new message.
 */
export const WhoAmIRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 2);
/**
 * Describes the message toolhost.v1.WhoAmIResponse.
 * Use `create(WhoAmIResponseSchema)` to create a new message.
 */
export const WhoAmIResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 3);
/**
 * Describes the message toolhost.v1.Tool.
 * Use `create(ToolSchema)` to create a new message.
 */
export const ToolSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 4);
/**
 * Describes the message toolhost.v1.ToolSelection.
 * Use `create(ToolSelectionSchema)` to create a new message.
 */
export const ToolSelectionSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 5);
/**
 * Describes the message toolhost.v1.ListToolsRequest.
 * Use `create(ListToolsRequestSchema)` to create a new message.
 */
export const ListToolsRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 6);
/**
 * Describes the message toolhost.v1.ListToolsResponse.
 * Use `create(ListToolsResponseSchema)` to create a new message.
 */
export const ListToolsResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 7);
/**
 * Describes the message toolhost.v1.GetToolRequest.
 * Use `create(GetToolRequestSchema)` to create a new message.
 */
export const GetToolRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 8);
/**
 * Describes the message toolhost.v1.GetToolResponse.
 * Use `create(GetToolResponseSchema)` to create a new message.
 */
export const GetToolResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 9);
/**
 * Describes the message toolhost.v1.SearchToolsRequest.
 * Use `create(SearchToolsRequestSchema)` to create a new message.
 */
export const SearchToolsRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 10);
/**
 * Describes the message toolhost.v1.SearchToolsResponse.
 * Use `create(SearchToolsResponseSchema)` to create a new message.
 */
export const SearchToolsResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 11);
/**
 * Describes the message toolhost.v1.ToolMatch.
 * Use `create(ToolMatchSchema)` to create a new message.
 */
export const ToolMatchSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 12);
/**
 * Describes the message toolhost.v1.RenderToolsRequest.
 * Use `create(RenderToolsRequestSchema)` to create a new message.
 */
export const RenderToolsRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 13);
/**
 * Describes the message toolhost.v1.RenderToolsResponse.
 * Use `create(RenderToolsResponseSchema)` to create a new message.
 */
export const RenderToolsResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 14);
/**
 * Describes the message toolhost.v1.OmittedTool.
 * Use `create(OmittedToolSchema)` to create a new message.
 */
export const OmittedToolSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 15);
/**
 * Describes the message toolhost.v1.WatchCallRequest.
 * Use `create(WatchCallRequestSchema)` to create a new message.
 */
export const WatchCallRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 16);
/**
 * Describes the message toolhost.v1.WatchCallResponse.
 * Use `create(WatchCallResponseSchema)` to create a new message.
 */
export const WatchCallResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 17);
/**
 * Describes the message toolhost.v1.CancelCallRequest.
 * Use `create(CancelCallRequestSchema)` to create a new message.
 */
export const CancelCallRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 18);
/**
 * Describes the message toolhost.v1.CancelCallResponse.
 * Use `create(CancelCallResponseSchema)` to create a new message.
 */
export const CancelCallResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 19);
/**
 * Describes the message toolhost.v1.AnswerQuestionRequest.
 * Use `create(AnswerQuestionRequestSchema)` to create a new message.
 */
export const AnswerQuestionRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 20);
/**
 * Describes the message toolhost.v1.AnswerQuestionResponse.
 * Use `create(AnswerQuestionResponseSchema)` to create a new message.
 */
export const AnswerQuestionResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 21);
/**
 * Describes the message toolhost.v1.ReadArtifactRequest.
 * Use `create(ReadArtifactRequestSchema)` to create a new message.
 */
export const ReadArtifactRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 22);
/**
 * Describes the message toolhost.v1.ReadArtifactResponse.
 * Use `create(ReadArtifactResponseSchema)` to create a new message.
 */
export const ReadArtifactResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 23);
/**
 * Describes the message toolhost.v1.CallOptions.
 * Use `create(CallOptionsSchema)` to create a new message.
 */
export const CallOptionsSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 24);
/**
 * Describes the message toolhost.v1.Approval.
 * Use `create(ApprovalSchema)` to create a new message.
 */
export const ApprovalSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 25);
/**
 * Describes the message toolhost.v1.CallRequest.
 * Use `create(CallRequestSchema)` to create a new message.
 */
export const CallRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 26);
/**
 * Describes the message toolhost.v1.CallResponse.
 * Use `create(CallResponseSchema)` to create a new message.
 */
export const CallResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 27);
/**
 * Describes the message toolhost.v1.ReviewCallRequest.
 * Use `create(ReviewCallRequestSchema)` to create a new message.
 */
export const ReviewCallRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 28);
/**
 * Describes the message toolhost.v1.ReviewCallResponse.
 * Use `create(ReviewCallResponseSchema)` to create a new message.
 */
export const ReviewCallResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 29);
/**
 * Describes the message toolhost.v1.StartCall.
 * Use `create(StartCallSchema)` to create a new message.
 */
export const StartCallSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 30);
/**
 * Describes the message toolhost.v1.AppendArguments.
 * Use `create(AppendArgumentsSchema)` to create a new message.
 */
export const AppendArgumentsSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 31);
/**
 * Describes the message toolhost.v1.CompleteArguments.
 * Use `create(CompleteArgumentsSchema)` to create a new message.
 */
export const CompleteArgumentsSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 32);
/**
 * Describes the message toolhost.v1.CancelCall.
 * Use `create(CancelCallSchema)` to create a new message.
 */
export const CancelCallSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 33);
/**
 * Describes the message toolhost.v1.ExecuteRequest.
 * Use `create(ExecuteRequestSchema)` to create a new message.
 */
export const ExecuteRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 34);
/**
 * Describes the message toolhost.v1.ExecuteResponse.
 * Use `create(ExecuteResponseSchema)` to create a new message.
 */
export const ExecuteResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 35);
/**
 * Describes the message toolhost.v1.ConnectRequest.
 * Use `create(ConnectRequestSchema)` to create a new message.
 */
export const ConnectRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 36);
/**
 * Describes the message toolhost.v1.GrantCredit.
 * Use `create(GrantCreditSchema)` to create a new message.
 */
export const GrantCreditSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 37);
/**
 * Describes the message toolhost.v1.ConnectResponse.
 * Use `create(ConnectResponseSchema)` to create a new message.
 */
export const ConnectResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 38);
/**
 * Describes the message toolhost.v1.CallEvent.
 * Use `create(CallEventSchema)` to create a new message.
 */
export const CallEventSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 39);
/**
 * Describes the message toolhost.v1.CallStarted.
 * Use `create(CallStartedSchema)` to create a new message.
 */
export const CallStartedSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 40);
/**
 * Describes the message toolhost.v1.CallQuestion.
 * Use `create(CallQuestionSchema)` to create a new message.
 */
export const CallQuestionSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 41);
/**
 * Describes the message toolhost.v1.QuestionClosed.
 * Use `create(QuestionClosedSchema)` to create a new message.
 */
export const QuestionClosedSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 42);
/**
 * Describes the message toolhost.v1.ContentChunk.
 * Use `create(ContentChunkSchema)` to create a new message.
 */
export const ContentChunkSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 43);
/**
 * Describes the message toolhost.v1.CallEnded.
 * Use `create(CallEndedSchema)` to create a new message.
 */
export const CallEndedSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_tool_service, 44);
/**
 * ToolFormat is a format in which tools are passed to a model.
 *
 * @generated from enum toolhost.v1.ToolFormat
 */
export var ToolFormat;
(function (ToolFormat) {
    /**
     * Not set. RenderTools fails with INVALID_ARGUMENT.
     *
     * @generated from enum value: TOOL_FORMAT_UNSPECIFIED = 0;
     */
    ToolFormat[ToolFormat["UNSPECIFIED"] = 0] = "UNSPECIFIED";
    /**
     * The value of `tools` in a request of OpenAI's Chat Completions API.
     *
     * @generated from enum value: TOOL_FORMAT_OPENAI = 1;
     */
    ToolFormat[ToolFormat["OPENAI"] = 1] = "OPENAI";
    /**
     * The value of `tools` in a request of OpenAI's Responses API.
     *
     * @generated from enum value: TOOL_FORMAT_OPENAI_RESPONSES = 2;
     */
    ToolFormat[ToolFormat["OPENAI_RESPONSES"] = 2] = "OPENAI_RESPONSES";
    /**
     * The value of `tools` in a request of Anthropic's Messages API.
     *
     * @generated from enum value: TOOL_FORMAT_ANTHROPIC = 3;
     */
    ToolFormat[ToolFormat["ANTHROPIC"] = 3] = "ANTHROPIC";
    /**
     * The result of `tools/list` of the Model Context Protocol.
     *
     * @generated from enum value: TOOL_FORMAT_MCP = 4;
     */
    ToolFormat[ToolFormat["MCP"] = 4] = "MCP";
    /**
     * Markdown text for a prompt.
     *
     * @generated from enum value: TOOL_FORMAT_MARKDOWN = 5;
     */
    ToolFormat[ToolFormat["MARKDOWN"] = 5] = "MARKDOWN";
    /**
     * The value of `tools` in a request of the Gemini API.
     *
     * @generated from enum value: TOOL_FORMAT_GEMINI = 6;
     */
    ToolFormat[ToolFormat["GEMINI"] = 6] = "GEMINI";
})(ToolFormat || (ToolFormat = {}));
/**
 * Describes the enum toolhost.v1.ToolFormat.
 */
export const ToolFormatSchema = /*@__PURE__*/ enumDesc(file_toolhost_v1_tool_service, 0);
/**
 * QuestionEnd says why a question closed.
 *
 * @generated from enum toolhost.v1.QuestionEnd
 */
export var QuestionEnd;
(function (QuestionEnd) {
    /**
     * Not set.
     *
     * @generated from enum value: QUESTION_END_UNSPECIFIED = 0;
     */
    QuestionEnd[QuestionEnd["UNSPECIFIED"] = 0] = "UNSPECIFIED";
    /**
     * The caller answered it.
     *
     * @generated from enum value: QUESTION_END_ANSWERED = 1;
     */
    QuestionEnd[QuestionEnd["ANSWERED"] = 1] = "ANSWERED";
    /**
     * No answer came in time.
     *
     * @generated from enum value: QUESTION_END_EXPIRED = 2;
     */
    QuestionEnd[QuestionEnd["EXPIRED"] = 2] = "EXPIRED";
    /**
     * The call ended, was canceled, or lost its plugin.
     *
     * @generated from enum value: QUESTION_END_ABANDONED = 3;
     */
    QuestionEnd[QuestionEnd["ABANDONED"] = 3] = "ABANDONED";
})(QuestionEnd || (QuestionEnd = {}));
/**
 * Describes the enum toolhost.v1.QuestionEnd.
 */
export const QuestionEndSchema = /*@__PURE__*/ enumDesc(file_toolhost_v1_tool_service, 1);
/**
 * ToolService lists and calls tools.
 *
 * Call ids. The caller may choose the id of a call. toolhost executes a call id at most once within
 * one principal and session. A second request with the same id, tool and arguments joins the
 * running call or returns its stored outcome. A request with the same id and another tool or other
 * arguments fails with CONFLICT.
 *
 * Errors. An infrastructure failure is a toolhost.tool.v1.Error: unary RPCs return it as a detail
 * of the gRPC status, streams in the event `ended`. A failure that the tool reports is a Result
 * with `is_error`.
 *
 * Delegation. A principal with the right `delegate`, such as agentd, may act for others: it sets
 * `on_behalf_of`. What the request creates then belongs to that principal, and the caller is its
 * delegate. toolhost refuses the field with DENIED if the caller does not have the right in the
 * tenant of that principal. Policy, filters, tools and the audit log see both principals.
 *
 * @generated from service toolhost.v1.ToolService
 */
export const ToolService = /*@__PURE__*/ serviceDesc(file_toolhost_v1_tool_service, 0);
