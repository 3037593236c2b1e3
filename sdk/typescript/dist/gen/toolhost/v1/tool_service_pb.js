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
export const file_toolhost_v1_tool_service = /*@__PURE__*/ fileDesc("Ch50b29saG9zdC92MS90b29sX3NlcnZpY2UucHJvdG8SC3Rvb2xob3N0LnYxIhMKEUdldFZlcnNpb25SZXF1ZXN0IkQKEkdldFZlcnNpb25SZXNwb25zZRIuCgd2ZXJzaW9uGAEgASgLMh0udG9vbGhvc3QudG9vbC52MS5WZXJzaW9uSW5mbyIPCg1XaG9BbUlSZXF1ZXN0Ij4KDldob0FtSVJlc3BvbnNlEiwKBmNhbGxlchgBIAEoCzIcLnRvb2xob3N0LnRvb2wudjEuQ2FsbGVySW5mbyKFAQoEVG9vbBIoCgRzcGVjGAEgASgLMhoudG9vbGhvc3QudG9vbC52MS5Ub29sU3BlYxIOCgZwbHVnaW4YAiABKAkSFgoOcGx1Z2luX3ZlcnNpb24YAyABKAkSGgoSdW5hdmFpbGFibGVfcmVhc29uGAQgASgJEg8KB2ZpbHRlcnMYBSADKAkiywIKDVRvb2xTZWxlY3Rpb24SDQoFbmFtZXMYASADKAkSEgoKY2F0ZWdvcmllcxgCIAMoCRIMCgR0YWdzGAMgAygJEhYKCWRhbmdlcm91cxgEIAEoCEgAiAEBEh0KEG1heF9jb3N0X3Blcl91c2UYBSABKAFIAYgBARIRCgltYXhfdG9vbHMYBiABKAUSDwoHc2Vzc2lvbhgHIAEoCRI4Cgdjb250ZXh0GAggAygLMicudG9vbGhvc3QudjEuVG9vbFNlbGVjdGlvbi5Db250ZXh0RW50cnkSDwoHcGx1Z2lucxgJIAMoCRIQCghleGNsdWRlZBgKIAMoCRouCgxDb250ZXh0RW50cnkSCwoDa2V5GAEgASgJEg0KBXZhbHVlGAIgASgMOgI4AUIMCgpfZGFuZ2Vyb3VzQhMKEV9tYXhfY29zdF9wZXJfdXNlIssBChBMaXN0VG9vbHNSZXF1ZXN0EhEKCXBhZ2Vfc2l6ZRgBIAEoBRISCgpwYWdlX3Rva2VuGAIgASgJEi0KCXNlbGVjdGlvbhgDIAEoCzIaLnRvb2xob3N0LnYxLlRvb2xTZWxlY3Rpb24SMQoMb25fYmVoYWxmX29mGAQgASgLMhsudG9vbGhvc3QudG9vbC52MS5QcmluY2lwYWwSGwoOa25vd25fcmV2aXNpb24YBSABKAlIAIgBAUIRCg9fa25vd25fcmV2aXNpb24iuAEKEUxpc3RUb29sc1Jlc3BvbnNlEiAKBXRvb2xzGAEgAygLMhEudG9vbGhvc3QudjEuVG9vbBIXCg9uZXh0X3BhZ2VfdG9rZW4YAiABKAkSEQoJbGVkZ2VyX2lkGAMgASgJEhEKCXdvcmtzcGFjZRgEIAEoCRIYChB3cml0YWJsZV9mb2xkZXJzGAUgAygJEhYKDmhpZGRlbl9mb2xkZXJzGAYgAygJEhAKCHJldmlzaW9uGAcgASgJIs0BCg5HZXRUb29sUmVxdWVzdBIMCgRuYW1lGAEgASgJEg8KB3Nlc3Npb24YAiABKAkSOQoHY29udGV4dBgDIAMoCzIoLnRvb2xob3N0LnYxLkdldFRvb2xSZXF1ZXN0LkNvbnRleHRFbnRyeRIxCgxvbl9iZWhhbGZfb2YYBCABKAsyGy50b29saG9zdC50b29sLnYxLlByaW5jaXBhbBouCgxDb250ZXh0RW50cnkSCwoDa2V5GAEgASgJEg0KBXZhbHVlGAIgASgMOgI4ASIyCg9HZXRUb29sUmVzcG9uc2USHwoEdG9vbBgBIAEoCzIRLnRvb2xob3N0LnYxLlRvb2wihQEKElNlYXJjaFRvb2xzUmVxdWVzdBINCgVxdWVyeRgBIAEoCRItCglzZWxlY3Rpb24YAiABKAsyGi50b29saG9zdC52MS5Ub29sU2VsZWN0aW9uEjEKDG9uX2JlaGFsZl9vZhgDIAEoCzIbLnRvb2xob3N0LnRvb2wudjEuUHJpbmNpcGFsIj4KE1NlYXJjaFRvb2xzUmVzcG9uc2USJwoHbWF0Y2hlcxgBIAMoCzIWLnRvb2xob3N0LnYxLlRvb2xNYXRjaCI7CglUb29sTWF0Y2gSHwoEdG9vbBgBIAEoCzIRLnRvb2xob3N0LnYxLlRvb2wSDQoFc2NvcmUYAiABKAEinwEKElJlbmRlclRvb2xzUmVxdWVzdBInCgZmb3JtYXQYASABKA4yFy50b29saG9zdC52MS5Ub29sRm9ybWF0Ei0KCXNlbGVjdGlvbhgCIAEoCzIaLnRvb2xob3N0LnYxLlRvb2xTZWxlY3Rpb24SMQoMb25fYmVoYWxmX29mGAMgASgLMhsudG9vbGhvc3QudG9vbC52MS5QcmluY2lwYWwidAoTUmVuZGVyVG9vbHNSZXNwb25zZRIPCgdjb250ZW50GAEgASgMEhIKCm1lZGlhX3R5cGUYAiABKAkSDQoFdG9vbHMYAyADKAkSKQoHb21pdHRlZBgEIAMoCzIYLnRvb2xob3N0LnYxLk9taXR0ZWRUb29sIisKC09taXR0ZWRUb29sEgwKBG5hbWUYASABKAkSDgoGcmVhc29uGAIgASgJInoKEFdhdGNoQ2FsbFJlcXVlc3QSDwoHY2FsbF9pZBgBIAEoCRIPCgdzZXNzaW9uGAIgASgJEhEKCWFmdGVyX3NlcRgDIAEoBBIxCgxvbl9iZWhhbGZfb2YYBCABKAsyGy50b29saG9zdC50b29sLnYxLlByaW5jaXBhbCI6ChFXYXRjaENhbGxSZXNwb25zZRIlCgVldmVudBgBIAEoCzIWLnRvb2xob3N0LnYxLkNhbGxFdmVudCJ4ChFDYW5jZWxDYWxsUmVxdWVzdBIPCgdjYWxsX2lkGAEgASgJEg8KB3Nlc3Npb24YAiABKAkSDgoGcmVhc29uGAMgASgJEjEKDG9uX2JlaGFsZl9vZhgEIAEoCzIbLnRvb2xob3N0LnRvb2wudjEuUHJpbmNpcGFsIhQKEkNhbmNlbENhbGxSZXNwb25zZSKoAQoVQW5zd2VyUXVlc3Rpb25SZXF1ZXN0Eg8KB2NhbGxfaWQYASABKAkSDwoHc2Vzc2lvbhgCIAEoCRIQCghxdWVzdGlvbhgDIAEoDRIoCgZhbnN3ZXIYBCABKAsyGC50b29saG9zdC50b29sLnYxLkFuc3dlchIxCgxvbl9iZWhhbGZfb2YYBSABKAsyGy50b29saG9zdC50b29sLnYxLlByaW5jaXBhbCIYChZBbnN3ZXJRdWVzdGlvblJlc3BvbnNlIogBChNSZWFkQXJ0aWZhY3RSZXF1ZXN0Eg4KBmhhbmRsZRgBIAEoCRIPCgdzZXNzaW9uGAIgASgJEg4KBm9mZnNldBgDIAEoBBINCgVsaW1pdBgEIAEoDRIxCgxvbl9iZWhhbGZfb2YYBSABKAsyGy50b29saG9zdC50b29sLnYxLlByaW5jaXBhbCJUChRSZWFkQXJ0aWZhY3RSZXNwb25zZRIMCgRkYXRhGAEgASgMEhIKCm1lZGlhX3R5cGUYAiABKAkSDAoEc2l6ZRgDIAEoBBIMCgRuYW1lGAQgASgJItgECgtDYWxsT3B0aW9ucxIPCgdjYWxsX2lkGAEgASgJEg8KB3Nlc3Npb24YAiABKAkSKgoHdGltZW91dBgDIAEoCzIZLmdvb2dsZS5wcm90b2J1Zi5EdXJhdGlvbhInCghhcHByb3ZhbBgEIAEoCzIVLnRvb2xob3N0LnYxLkFwcHJvdmFsEjYKB2NvbnRleHQYBSADKAsyJS50b29saG9zdC52MS5DYWxsT3B0aW9ucy5Db250ZXh0RW50cnkSEwoLdHJhY2VwYXJlbnQYBiABKAkSHAoPbWF4X3Nob3duX2J5dGVzGAcgASgESACIAQESFAoMb3V0Y29tZV9vbmx5GAggASgIEhEKCWxlZGdlcl9pZBgJIAEoCRIzCg9maXJzdF9zZW50X3RpbWUYCiABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wEjEKDG9uX2JlaGFsZl9vZhgLIAEoCzIbLnRvb2xob3N0LnRvb2wudjEuUHJpbmNpcGFsEjAKB2Fuc3dlcnMYDCABKAsyHy50b29saG9zdC50b29sLnYxLlF1ZXN0aW9uS2luZHMSDQoFYWdlbnQYDSABKAkSCwoDcnVuGA4gASgJEjAKDWFwcHJvdmFsX3dhaXQYDyABKAsyGS5nb29nbGUucHJvdG9idWYuRHVyYXRpb24SEgoKc3VwZXJzZWRlcxgQIAMoCRouCgxDb250ZXh0RW50cnkSCwoDa2V5GAEgASgJEg0KBXZhbHVlGAIgASgMOgI4AUISChBfbWF4X3Nob3duX2J5dGVzIssBCghBcHByb3ZhbBITCgthcHByb3ZlZF9ieRgBIAEoCRIOCgZyZWFzb24YAiABKAkSKAoEdGltZRgDIAEoCzIaLmdvb2dsZS5wcm90b2J1Zi5UaW1lc3RhbXASEQoJYXJndW1lbnRzGAQgASgMEhgKEGFyZ3VtZW50c19zaGEyNTYYBSABKAkSLQoIYXBwcm92ZXIYBiABKAsyGy50b29saG9zdC50b29sLnYxLlByaW5jaXBhbBIUCgxzZXNzaW9uX21vdmUYByABKAkiWQoLQ2FsbFJlcXVlc3QSDAoEdG9vbBgBIAEoCRIRCglhcmd1bWVudHMYAiABKAwSKQoHb3B0aW9ucxgDIAEoCzIYLnRvb2xob3N0LnYxLkNhbGxPcHRpb25zIn0KDENhbGxSZXNwb25zZRIPCgdjYWxsX2lkGAEgASgJEg4KBnBsdWdpbhgCIAEoCRIQCghpbnN0YW5jZRgDIAEoCRIoCgZyZXN1bHQYBCABKAsyGC50b29saG9zdC50b29sLnYxLlJlc3VsdBIQCghyZXBsYXllZBgFIAEoCCJfChFSZXZpZXdDYWxsUmVxdWVzdBIMCgR0b29sGAEgASgJEhEKCWFyZ3VtZW50cxgCIAEoDBIpCgdvcHRpb25zGAMgASgLMhgudG9vbGhvc3QudjEuQ2FsbE9wdGlvbnMiPgoSUmV2aWV3Q2FsbFJlc3BvbnNlEigKBnJlc3VsdBgBIAEoCzIYLnRvb2xob3N0LnRvb2wudjEuUmVzdWx0ImkKCVN0YXJ0Q2FsbBIMCgR0b29sGAEgASgJEhEKCWFyZ3VtZW50cxgCIAEoDBIQCghjb21wbGV0ZRgDIAEoCBIpCgdvcHRpb25zGAQgASgLMhgudG9vbGhvc3QudjEuQ2FsbE9wdGlvbnMiHwoPQXBwZW5kQXJndW1lbnRzEgwKBHRleHQYASABKAwiEwoRQ29tcGxldGVBcmd1bWVudHMiHAoKQ2FuY2VsQ2FsbBIOCgZyZWFzb24YASABKAki0QEKDkV4ZWN1dGVSZXF1ZXN0EicKBXN0YXJ0GAEgASgLMhYudG9vbGhvc3QudjEuU3RhcnRDYWxsSAASLgoGYXBwZW5kGAIgASgLMhwudG9vbGhvc3QudjEuQXBwZW5kQXJndW1lbnRzSAASMgoIY29tcGxldGUYAyABKAsyHi50b29saG9zdC52MS5Db21wbGV0ZUFyZ3VtZW50c0gAEikKBmNhbmNlbBgEIAEoCzIXLnRvb2xob3N0LnYxLkNhbmNlbENhbGxIAEIHCgVmcmFtZSI4Cg9FeGVjdXRlUmVzcG9uc2USJQoFZXZlbnQYASABKAsyFi50b29saG9zdC52MS5DYWxsRXZlbnQi1wIKDkNvbm5lY3RSZXF1ZXN0EgwKBGNhbGwYASABKA0SJwoFc3RhcnQYAiABKAsyFi50b29saG9zdC52MS5TdGFydENhbGxIABIuCgZhcHBlbmQYAyABKAsyHC50b29saG9zdC52MS5BcHBlbmRBcmd1bWVudHNIABIyCghjb21wbGV0ZRgEIAEoCzIeLnRvb2xob3N0LnYxLkNvbXBsZXRlQXJndW1lbnRzSAASKQoGY2FuY2VsGAUgASgLMhcudG9vbGhvc3QudjEuQ2FuY2VsQ2FsbEgAEioKBmNyZWRpdBgGIAEoCzIYLnRvb2xob3N0LnYxLkdyYW50Q3JlZGl0SAASKgoFYmF0Y2gYByADKAsyGy50b29saG9zdC52MS5Db25uZWN0UmVxdWVzdBIRCglhY2tfdG9rZW4YCCABKAYSCwoDYWNrGAkgASgGQgcKBWZyYW1lIhwKC0dyYW50Q3JlZGl0Eg0KBWJ5dGVzGAEgASgNIpMBCg9Db25uZWN0UmVzcG9uc2USDAoEY2FsbBgBIAEoDRIlCgVldmVudBgCIAEoCzIWLnRvb2xob3N0LnYxLkNhbGxFdmVudBIrCgViYXRjaBgDIAMoCzIcLnRvb2xob3N0LnYxLkNvbm5lY3RSZXNwb25zZRIRCglhY2tfdG9rZW4YBCABKAYSCwoDYWNrGAUgASgGIowDCglDYWxsRXZlbnQSCwoDc2VxGAEgASgEEigKBHRpbWUYAiABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wEisKB3N0YXJ0ZWQYAyABKAsyGC50b29saG9zdC52MS5DYWxsU3RhcnRlZEgAEioKBnN0YXR1cxgEIAEoCzIYLnRvb2xob3N0LnRvb2wudjEuU3RhdHVzSAASKgoDbG9nGAUgASgLMhsudG9vbGhvc3QudG9vbC52MS5Mb2dSZWNvcmRIABIqCgVjaHVuaxgGIAEoCzIZLnRvb2xob3N0LnYxLkNvbnRlbnRDaHVua0gAEicKBWVuZGVkGAcgASgLMhYudG9vbGhvc3QudjEuQ2FsbEVuZGVkSAASLQoIcXVlc3Rpb24YCCABKAsyGS50b29saG9zdC52MS5DYWxsUXVlc3Rpb25IABI2Cg9xdWVzdGlvbl9jbG9zZWQYCSABKAsyGy50b29saG9zdC52MS5RdWVzdGlvbkNsb3NlZEgAQgcKBWV2ZW50IoABCgtDYWxsU3RhcnRlZBIPCgdjYWxsX2lkGAEgASgJEg4KBnBsdWdpbhgCIAEoCRIQCghpbnN0YW5jZRgDIAEoCRIPCgdhdHRlbXB0GAQgASgNEi0KBGFza3MYBSABKAsyHy50b29saG9zdC50b29sLnYxLlF1ZXN0aW9uS2luZHMiqwIKDENhbGxRdWVzdGlvbhIKCgJpZBgBIAEoDRIPCgdjYWxsX2lkGAIgASgJEg4KBnBsdWdpbhgDIAEoCRIMCgR0b29sGAQgASgJEi8KC2V4cGlyZV90aW1lGAUgASgLMhouZ29vZ2xlLnByb3RvYnVmLlRpbWVzdGFtcBIyCgZwZXJzb24YBiABKAsyIC50b29saG9zdC50b29sLnYxLlBlcnNvblF1ZXN0aW9uSAASMAoFbW9kZWwYByABKAsyHy50b29saG9zdC50b29sLnYxLk1vZGVsUXVlc3Rpb25IABIwCgVyb290cxgIIAEoCzIfLnRvb2xob3N0LnRvb2wudjEuUm9vdHNRdWVzdGlvbkgAEgsKA2tleRgJIAEoCUIKCghxdWVzdGlvbiJMCg5RdWVzdGlvbkNsb3NlZBIQCghxdWVzdGlvbhgBIAEoDRIoCgZyZWFzb24YAiABKA4yGC50b29saG9zdC52MS5RdWVzdGlvbkVuZCIrCgxDb250ZW50Q2h1bmsSDQoFaW5kZXgYASABKA0SDAoEZGF0YRgCIAEoDCLYAQoJQ2FsbEVuZGVkEg8KB2NhbGxfaWQYASABKAkSDgoGcGx1Z2luGAIgASgJEhAKCGluc3RhbmNlGAMgASgJEioKBnJlc3VsdBgEIAEoCzIYLnRvb2xob3N0LnRvb2wudjEuUmVzdWx0SAASKAoFZXJyb3IYBSABKAsyFy50b29saG9zdC50b29sLnYxLkVycm9ySAASEAoIcmVwbGF5ZWQYBiABKAgSJQoHc2V0dGxlZBgHIAEoCzIULnRvb2xob3N0LnYxLlNldHRsZWRCCQoHb3V0Y29tZSrFAQoKVG9vbEZvcm1hdBIbChdUT09MX0ZPUk1BVF9VTlNQRUNJRklFRBAAEhYKElRPT0xfRk9STUFUX09QRU5BSRABEiAKHFRPT0xfRk9STUFUX09QRU5BSV9SRVNQT05TRVMQAhIZChVUT09MX0ZPUk1BVF9BTlRIUk9QSUMQAxITCg9UT09MX0ZPUk1BVF9NQ1AQBBIYChRUT09MX0ZPUk1BVF9NQVJLRE9XThAFEhYKElRPT0xfRk9STUFUX0dFTUlOSRAGKnwKC1F1ZXN0aW9uRW5kEhwKGFFVRVNUSU9OX0VORF9VTlNQRUNJRklFRBAAEhkKFVFVRVNUSU9OX0VORF9BTlNXRVJFRBABEhgKFFFVRVNUSU9OX0VORF9FWFBJUkVEEAISGgoWUVVFU1RJT05fRU5EX0FCQU5ET05FRBADMs4OCgtUb29sU2VydmljZRJRCglMaXN0VG9vbHMSHS50b29saG9zdC52MS5MaXN0VG9vbHNSZXF1ZXN0Gh4udG9vbGhvc3QudjEuTGlzdFRvb2xzUmVzcG9uc2UiBZK2GAEBEksKB0dldFRvb2wSGy50b29saG9zdC52MS5HZXRUb29sUmVxdWVzdBocLnRvb2xob3N0LnYxLkdldFRvb2xSZXNwb25zZSIFkrYYAQESQgoEQ2FsbBIYLnRvb2xob3N0LnYxLkNhbGxSZXF1ZXN0GhkudG9vbGhvc3QudjEuQ2FsbFJlc3BvbnNlIgWSthgBAhJUCgpSZXZpZXdDYWxsEh4udG9vbGhvc3QudjEuUmV2aWV3Q2FsbFJlcXVlc3QaHy50b29saG9zdC52MS5SZXZpZXdDYWxsUmVzcG9uc2UiBZK2GAECElcKC1NlYXJjaFRvb2xzEh8udG9vbGhvc3QudjEuU2VhcmNoVG9vbHNSZXF1ZXN0GiAudG9vbGhvc3QudjEuU2VhcmNoVG9vbHNSZXNwb25zZSIFkrYYAQESVwoLUmVuZGVyVG9vbHMSHy50b29saG9zdC52MS5SZW5kZXJUb29sc1JlcXVlc3QaIC50b29saG9zdC52MS5SZW5kZXJUb29sc1Jlc3BvbnNlIgWSthgBARJPCgdFeGVjdXRlEhsudG9vbGhvc3QudjEuRXhlY3V0ZVJlcXVlc3QaHC50b29saG9zdC52MS5FeGVjdXRlUmVzcG9uc2UiBZK2GAECKAEwARJTCglXYXRjaENhbGwSHS50b29saG9zdC52MS5XYXRjaENhbGxSZXF1ZXN0Gh4udG9vbGhvc3QudjEuV2F0Y2hDYWxsUmVzcG9uc2UiBZK2GAEDMAESVAoKQ2FuY2VsQ2FsbBIeLnRvb2xob3N0LnYxLkNhbmNlbENhbGxSZXF1ZXN0Gh8udG9vbGhvc3QudjEuQ2FuY2VsQ2FsbFJlc3BvbnNlIgWSthgBAxJgCg5BbnN3ZXJRdWVzdGlvbhIiLnRvb2xob3N0LnYxLkFuc3dlclF1ZXN0aW9uUmVxdWVzdBojLnRvb2xob3N0LnYxLkFuc3dlclF1ZXN0aW9uUmVzcG9uc2UiBZK2GAEDEloKDFJlYWRBcnRpZmFjdBIgLnRvb2xob3N0LnYxLlJlYWRBcnRpZmFjdFJlcXVlc3QaIS50b29saG9zdC52MS5SZWFkQXJ0aWZhY3RSZXNwb25zZSIFkrYYAQMSXQoNTGlzdFJlc291cmNlcxIhLnRvb2xob3N0LnYxLkxpc3RSZXNvdXJjZXNSZXF1ZXN0GiIudG9vbGhvc3QudjEuTGlzdFJlc291cmNlc1Jlc3BvbnNlIgWSthgBARJ1ChVMaXN0UmVzb3VyY2VUZW1wbGF0ZXMSKS50b29saG9zdC52MS5MaXN0UmVzb3VyY2VUZW1wbGF0ZXNSZXF1ZXN0GioudG9vbGhvc3QudjEuTGlzdFJlc291cmNlVGVtcGxhdGVzUmVzcG9uc2UiBZK2GAEBEloKDFJlYWRSZXNvdXJjZRIgLnRvb2xob3N0LnYxLlJlYWRSZXNvdXJjZVJlcXVlc3QaIS50b29saG9zdC52MS5SZWFkUmVzb3VyY2VSZXNwb25zZSIFkrYYAQISVwoLTGlzdFByb21wdHMSHy50b29saG9zdC52MS5MaXN0UHJvbXB0c1JlcXVlc3QaIC50b29saG9zdC52MS5MaXN0UHJvbXB0c1Jlc3BvbnNlIgWSthgBARJRCglHZXRQcm9tcHQSHS50b29saG9zdC52MS5HZXRQcm9tcHRSZXF1ZXN0Gh4udG9vbGhvc3QudjEuR2V0UHJvbXB0UmVzcG9uc2UiBZK2GAECEmYKEENvbXBsZXRlQXJndW1lbnQSJC50b29saG9zdC52MS5Db21wbGV0ZUFyZ3VtZW50UmVxdWVzdBolLnRvb2xob3N0LnYxLkNvbXBsZXRlQXJndW1lbnRSZXNwb25zZSIFkrYYAQISYgoOV2F0Y2hSZXNvdXJjZXMSIi50b29saG9zdC52MS5XYXRjaFJlc291cmNlc1JlcXVlc3QaIy50b29saG9zdC52MS5XYXRjaFJlc291cmNlc1Jlc3BvbnNlIgWSthgBAjABEk8KB0Nvbm5lY3QSGy50b29saG9zdC52MS5Db25uZWN0UmVxdWVzdBocLnRvb2xob3N0LnYxLkNvbm5lY3RSZXNwb25zZSIFkrYYAQIoATABElQKCkdldFZlcnNpb24SHi50b29saG9zdC52MS5HZXRWZXJzaW9uUmVxdWVzdBofLnRvb2xob3N0LnYxLkdldFZlcnNpb25SZXNwb25zZSIFkrYYARQSSAoGV2hvQW1JEhoudG9vbGhvc3QudjEuV2hvQW1JUmVxdWVzdBobLnRvb2xob3N0LnYxLldob0FtSVJlc3BvbnNlIgWSthgBFkI8WjpnaXRodWIuY29tL3Rvb2xob3N0L3Rvb2xob3N0L2dlbi9nby90b29saG9zdC92MTt0b29saG9zdHYxYgZwcm90bzM", [file_google_protobuf_duration, file_google_protobuf_timestamp, file_toolhost_tool_v1_caller, file_toolhost_tool_v1_error, file_toolhost_tool_v1_principal, file_toolhost_tool_v1_question, file_toolhost_tool_v1_result, file_toolhost_tool_v1_right, file_toolhost_tool_v1_spec, file_toolhost_tool_v1_status, file_toolhost_tool_v1_version, file_toolhost_v1_resources, file_toolhost_v1_settled]);
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
