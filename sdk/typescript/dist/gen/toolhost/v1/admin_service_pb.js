// The API that toolhost serves to its operators. It is available on unix sockets only.
import { enumDesc, fileDesc, messageDesc, serviceDesc } from "@bufbuild/protobuf/codegenv2";
import { file_google_protobuf_duration, file_google_protobuf_timestamp } from "@bufbuild/protobuf/wkt";
import { file_toolhost_tool_v1_error } from "../tool/v1/error_pb.js";
import { file_toolhost_tool_v1_permissions } from "../tool/v1/permissions_pb.js";
import { file_toolhost_tool_v1_right } from "../tool/v1/right_pb.js";
import { file_toolhost_tool_v1_status } from "../tool/v1/status_pb.js";
import { file_toolhost_tool_v1_version } from "../tool/v1/version_pb.js";
import { file_toolhost_v1_settled } from "./settled_pb.js";
/**
 * Describes the file toolhost/v1/admin_service.proto.
 */
export const file_toolhost_v1_admin_service = /*@__PURE__*/ fileDesc("Ch90b29saG9zdC92MS9hZG1pbl9zZXJ2aWNlLnByb3RvEgt0b29saG9zdC52MSLgBQoGUGx1Z2luEgwKBG5hbWUYASABKAkSDwoHdmVyc2lvbhgCIAEoCRITCgtkZXNjcmlwdGlvbhgDIAEoCRIMCgRwYXRoGAQgASgJEg4KBmRpZ2VzdBgFIAEoCRInCgVzdGF0ZRgGIAEoDjIYLnRvb2xob3N0LnYxLlBsdWdpblN0YXRlEg4KBnJlYXNvbhgHIAEoCRINCgV0b29scxgIIAMoCRIRCglpbnN0YW5jZXMYCSABKA0SEAoIbGF1bmNoZXMYCiABKAQSKQoJbGFzdF9leGl0GAsgASgLMhYudG9vbGhvc3QudG9vbC52MS5FeGl0EhAKCHdhcm5pbmdzGAwgAygJEi0KDHJlY2VudF9leGl0cxgNIAMoCzIXLnRvb2xob3N0LnYxLlBsdWdpbkV4aXQSLgoKcmV0cnlfdGltZRgOIAEoCzIaLmdvb2dsZS5wcm90b2J1Zi5UaW1lc3RhbXASFwoPcHJldmlvdXNfZGlnZXN0GA8gASgJEhUKDXBpbm5lZF9kaWdlc3QYECABKAkSKwoHcmVmdXNhbBgRIAEoCzIaLnRvb2xob3N0LnYxLlBsdWdpblJlZnVzYWwSDwoHZmlsdGVycxgSIAMoCRIyCgtwZXJtaXNzaW9ucxgTIAEoCzIdLnRvb2xob3N0LnRvb2wudjEuUGVybWlzc2lvbnMSKQoJdW5ncmFudGVkGBQgAygLMhYudG9vbGhvc3QudjEuVW5ncmFudGVkEhEKCWlzb2xhdGlvbhgVIAEoCRImCgNzZGsYFiABKAsyGS50b29saG9zdC50b29sLnYxLlNka0luZm8SKwoLb3duX2ZpbHRlcnMYFyADKAsyFi50b29saG9zdC52MS5Pd25GaWx0ZXISKwoJd29ya3NwYWNlGBggASgOMhgudG9vbGhvc3QudG9vbC52MS5BY2Nlc3MSGQoRd29ya3NwYWNlX2JhY2tlbmQYGSABKAkiKAoJT3duRmlsdGVyEgwKBG5hbWUYASABKAkSDQoFdG9vbHMYAiADKAkiKwoJVW5ncmFudGVkEg8KB3JlcXVlc3QYASABKAkSDQoFZ3JhbnQYAiABKAkiTQoNUGx1Z2luUmVmdXNhbBIOCgZkaWdlc3QYASABKAkSDgoGcmVhc29uGAIgASgJEg4KBmxvY2tlZBgDIAEoCBIMCgRuYW1lGAQgASgJIt8BCgpQbHVnaW5FeGl0EhAKCGluc3RhbmNlGAEgASgJEigKBHRpbWUYAiABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wEiQKBGV4aXQYAyABKAsyFi50b29saG9zdC50b29sLnYxLkV4aXQSEAoIZXhwZWN0ZWQYBCABKAgSJAoFY2FsbHMYBSADKAsyFS50b29saG9zdC52MS5FeGl0Q2FsbBIOCgZ0ZW5hbnQYBiABKAkSFAoMaGlkZGVuX2NhbGxzGAcgASgNEhEKCXVuaGVhbHRoeRgIIAEoCCKXAQoIRXhpdENhbGwSDwoHY2FsbF9pZBgBIAEoCRIMCgR0b29sGAIgASgJEg8KB3Nlc3Npb24YAyABKAkSEQoJcHJpbmNpcGFsGAQgASgJEi4KCnN0YXJ0X3RpbWUYBSABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wEhgKEGFyZ3VtZW50c19kaWdlc3QYBiABKAkiuQIKCEluc3RhbmNlEgoKAmlkGAEgASgJEg4KBnBsdWdpbhgCIAEoCRIpCgVzdGF0ZRgDIAEoDjIaLnRvb2xob3N0LnYxLkluc3RhbmNlU3RhdGUSCwoDcGlkGAQgASgFEg0KBWNhbGxzGAUgASgNEhMKC3RvdGFsX2NhbGxzGAYgASgEEi4KCnN0YXJ0X3RpbWUYByABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wEhEKCXJzc19ieXRlcxgIIAEoBBIOCgZkaWdlc3QYCSABKAkSKwoGbGltaXRzGAogAygLMhsudG9vbGhvc3QudjEuRWZmZWN0aXZlTGltaXQSJQoHc2FuZGJveBgLIAEoCzIULnRvb2xob3N0LnYxLlNhbmRib3gSDgoGdGVuYW50GAwgASgJIrgBCgdTYW5kYm94EgwKBG1vZGUYASABKAkSDwoHbmV0d29yaxgCIAEoCBIrCgl3b3Jrc3BhY2UYAyABKA4yGC50b29saG9zdC50b29sLnYxLkFjY2VzcxIMCgRyZWFkGAQgAygJEg0KBXdyaXRlGAUgAygJEikKBmxheWVycxgGIAMoCzIZLnRvb2xob3N0LnYxLlNhbmRib3hMYXllchIZChF3b3Jrc3BhY2VfYmFja2VuZBgHIAEoCSJQCgxTYW5kYm94TGF5ZXISDAoEbmFtZRgBIAEoCRIRCgllZmZlY3RpdmUYAiABKAgSEQoJbWVjaGFuaXNtGAMgASgJEgwKBG5vdGUYBCABKAkiTgoORWZmZWN0aXZlTGltaXQSDAoEbmFtZRgBIAEoCRINCgV2YWx1ZRgCIAEoCRIRCgltZWNoYW5pc20YAyABKAkSDAoEbm90ZRgEIAEoCSIoChJMaXN0UGx1Z2luc1JlcXVlc3QSEgoKY29uZGl0aW9ucxgBIAEoCCJnChNMaXN0UGx1Z2luc1Jlc3BvbnNlEiQKB3BsdWdpbnMYASADKAsyEy50b29saG9zdC52MS5QbHVnaW4SKgoKY29uZGl0aW9ucxgCIAMoCzIWLnRvb2xob3N0LnYxLkNvbmRpdGlvbiI7CglDb25kaXRpb24SDAoEbmFtZRgBIAEoCRIPCgdtZXNzYWdlGAIgASgJEg8KB3Byb2JsZW0YAyABKAgiJgoUTGlzdEluc3RhbmNlc1JlcXVlc3QSDgoGcGx1Z2luGAEgASgJIkEKFUxpc3RJbnN0YW5jZXNSZXNwb25zZRIoCglpbnN0YW5jZXMYASADKAsyFS50b29saG9zdC52MS5JbnN0YW5jZSI/Cg5SZXN0YXJ0UmVxdWVzdBIOCgZwbHVnaW4YASABKAkSDQoFZm9yY2UYAiABKAgSDgoGcmVhc29uGAMgASgJIjMKD1Jlc3RhcnRSZXNwb25zZRIPCgdzdG9wcGVkGAEgAygJEg8KB3N0YXJ0ZWQYAiADKAkiLgoMRHJhaW5SZXF1ZXN0Eg4KBnBsdWdpbhgBIAEoCRIOCgZyZWFzb24YAiABKAkiDwoNRHJhaW5SZXNwb25zZSIuCgxQYXVzZVJlcXVlc3QSDgoGcGx1Z2luGAEgASgJEg4KBnJlYXNvbhgCIAEoCSIPCg1QYXVzZVJlc3BvbnNlIh8KDVJlc3VtZVJlcXVlc3QSDgoGcGx1Z2luGAEgASgJIhAKDlJlc3VtZVJlc3BvbnNlIigKFkNsZWFyUXVhcmFudGluZVJlcXVlc3QSDgoGcGx1Z2luGAEgASgJIhkKF0NsZWFyUXVhcmFudGluZVJlc3BvbnNlIiUKDVJlbG9hZFJlcXVlc3QSFAoMcGx1Z2luc19vbmx5GAEgASgIIqkBCg5SZWxvYWRSZXNwb25zZRINCgVhZGRlZBgBIAMoCRIPCgdyZW1vdmVkGAIgAygJEhAKCHVwZ3JhZGVkGAMgAygJEiwKCGZhaWx1cmVzGAQgAygLMhoudG9vbGhvc3QudjEuUmVsb2FkRmFpbHVyZRI3Cg1jb25maWd1cmF0aW9uGAUgASgLMiAudG9vbGhvc3QudjEuQ29uZmlndXJhdGlvbkNoYW5nZSJvChNDb25maWd1cmF0aW9uQ2hhbmdlEgwKBGZpbGUYASABKAkSDAoEa2V5cxgCIAMoCRIPCgdwcm9ibGVtGAMgASgJEisKB2NoYW5nZXMYBCADKAsyGi50b29saG9zdC52MS5TZXR0aW5nQ2hhbmdlIkcKDVNldHRpbmdDaGFuZ2USCwoDa2V5GAEgASgJEgsKA29sZBgCIAEoCRILCgNuZXcYAyABKAkSDwoHcmVzdGFydBgEIAEoCCIaChhEaWZmQ29uZmlndXJhdGlvblJlcXVlc3QiVAoZRGlmZkNvbmZpZ3VyYXRpb25SZXNwb25zZRI3Cg1jb25maWd1cmF0aW9uGAEgASgLMiAudG9vbGhvc3QudjEuQ29uZmlndXJhdGlvbkNoYW5nZSIvCg1SZWxvYWRGYWlsdXJlEg4KBnBsdWdpbhgBIAEoCRIOCgZyZWFzb24YAiABKAkiMAoOVXBncmFkZVJlcXVlc3QSDgoGcGx1Z2luGAEgASgJEg4KBnJlYXNvbhgCIAEoCSI6Cg9VcGdyYWRlUmVzcG9uc2USDgoGZGlnZXN0GAEgASgJEhcKD3ByZXZpb3VzX2RpZ2VzdBgCIAEoCSIUChJHZXRMb2NrRmlsZVJlcXVlc3QiNQoTR2V0TG9ja0ZpbGVSZXNwb25zZRIMCgRwYXRoGAEgASgJEhAKCGVuZm9yY2VkGAIgASgIIkMKD1JvbGxiYWNrUmVxdWVzdBIOCgZwbHVnaW4YASABKAkSEAoIcmV2aXNpb24YAiABKAQSDgoGcmVhc29uGAMgASgJIjsKEFJvbGxiYWNrUmVzcG9uc2USDgoGZGlnZXN0GAEgASgJEhcKD3ByZXZpb3VzX2RpZ2VzdBgCIAEoCSImChRMaXN0UmV2aXNpb25zUmVxdWVzdBIOCgZwbHVnaW4YASABKAkiQQoVTGlzdFJldmlzaW9uc1Jlc3BvbnNlEigKCXJldmlzaW9ucxgBIAMoCzIVLnRvb2xob3N0LnYxLlJldmlzaW9uIqUBCghSZXZpc2lvbhIOCgZudW1iZXIYASABKAQSDgoGZGlnZXN0GAIgASgJEigKBHRpbWUYAyABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wEg0KBWNhdXNlGAQgASgJEhEKCXByaW5jaXBhbBgFIAEoCRIOCgZyZWFzb24YBiABKAkSDwoHY3VycmVudBgHIAEoCBIMCgRrZXB0GAggASgIIogBChJXYXRjaEV2ZW50c1JlcXVlc3QSDgoGcGx1Z2luGAEgASgJEhEKCWFmdGVyX3NlcRgCIAEoBBIOCgZmb2xsb3cYAyABKAgSLgoKc2luY2VfdGltZRgEIAEoCzIaLmdvb2dsZS5wcm90b2J1Zi5UaW1lc3RhbXASDwoHdGVuYW50cxgFIAMoCSI+ChNXYXRjaEV2ZW50c1Jlc3BvbnNlEicKBWV2ZW50GAEgASgLMhgudG9vbGhvc3QudjEuUGx1Z2luRXZlbnQi1AEKC1BsdWdpbkV2ZW50EgsKA3NlcRgBIAEoBBIoCgR0aW1lGAIgASgLMhouZ29vZ2xlLnByb3RvYnVmLlRpbWVzdGFtcBIMCgR0eXBlGAMgASgJEg4KBnBsdWdpbhgEIAEoCRIQCghpbnN0YW5jZRgFIAEoCRIOCgZkaWdlc3QYBiABKAkSDgoGcmVhc29uGAcgASgJEi4KCnVudGlsX3RpbWUYCCABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wEg4KBnRlbmFudBgJIAEoCSJhCg9UYWlsTG9nc1JlcXVlc3QSDgoGcGx1Z2luGAEgASgJEg8KB2NhbGxfaWQYAiABKAkSDAoEbGFzdBgDIAEoDRIOCgZmb2xsb3cYBCABKAgSDwoHdGVuYW50cxgFIAMoCSI2ChBUYWlsTG9nc1Jlc3BvbnNlEiIKBGxpbmUYASABKAsyFC50b29saG9zdC52MS5Mb2dMaW5lIoYBCgdMb2dMaW5lEgsKA3NlcRgBIAEoBBIOCgZwbHVnaW4YAiABKAkSEAoIaW5zdGFuY2UYAyABKAkSDwoHY2FsbF9pZBgEIAEoCRIrCgZyZWNvcmQYBSABKAsyGy50b29saG9zdC50b29sLnYxLkxvZ1JlY29yZBIOCgZ0ZW5hbnQYBiABKAki4QEKEExpc3RDYWxsc1JlcXVlc3QSEQoJcGFnZV9zaXplGAEgASgFEhIKCnBhZ2VfdG9rZW4YAiABKAkSDgoGcGx1Z2luGAMgASgJEgwKBHRvb2wYBCABKAkSDwoHc2Vzc2lvbhgFIAEoCRIlCgVzdGF0ZRgGIAEoDjIWLnRvb2xob3N0LnYxLkNhbGxTdGF0ZRIPCgdjYWxsX2lkGAcgASgJEi4KCnNpbmNlX3RpbWUYCCABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wEg8KB3RlbmFudHMYCSADKAkiVAoRTGlzdENhbGxzUmVzcG9uc2USJgoFY2FsbHMYASADKAsyFy50b29saG9zdC52MS5DYWxsUmVjb3JkEhcKD25leHRfcGFnZV90b2tlbhgCIAEoCSLTAgoKQ2FsbFJlY29yZBIPCgdjYWxsX2lkGAEgASgJEhEKCXByaW5jaXBhbBgCIAEoCRIPCgdzZXNzaW9uGAMgASgJEgwKBHRvb2wYBCABKAkSDgoGcGx1Z2luGAUgASgJEhAKCGluc3RhbmNlGAYgASgJEiUKBXN0YXRlGAcgASgOMhYudG9vbGhvc3QudjEuQ2FsbFN0YXRlEiYKBWVycm9yGAggASgLMhcudG9vbGhvc3QudG9vbC52MS5FcnJvchIuCgpzdGFydF90aW1lGAkgASgLMhouZ29vZ2xlLnByb3RvYnVmLlRpbWVzdGFtcBIsCghlbmRfdGltZRgKIAEoCzIaLmdvb2dsZS5wcm90b2J1Zi5UaW1lc3RhbXASJQoHc2V0dGxlZBgLIAEoCzIULnRvb2xob3N0LnYxLlNldHRsZWQSDAoEbm9kZRgMIAEoCSJvCg9HZXRTdGF0c1JlcXVlc3QSDgoGcGx1Z2luGAEgASgJEi4KCnNpbmNlX3RpbWUYAiABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wEg8KB3RlbmFudHMYAyADKAkSCwoDb3duGAQgASgIIjkKEEdldFN0YXRzUmVzcG9uc2USJQoFdG9vbHMYASADKAsyFi50b29saG9zdC52MS5Ub29sU3RhdHMivAMKCVRvb2xTdGF0cxIMCgR0b29sGAEgASgJEg4KBnBsdWdpbhgCIAEoCRINCgVjYWxscxgDIAEoBBIRCglzdWNjZWVkZWQYBCABKAQSEwoLdG9vbF9lcnJvcnMYBSABKAQSNgoIZmFpbHVyZXMYBiADKAsyJC50b29saG9zdC52MS5Ub29sU3RhdHMuRmFpbHVyZXNFbnRyeRIxCg50b3RhbF9kdXJhdGlvbhgHIAEoCzIZLmdvb2dsZS5wcm90b2J1Zi5EdXJhdGlvbhIwCg1tZWFuX2R1cmF0aW9uGAggASgLMhkuZ29vZ2xlLnByb3RvYnVmLkR1cmF0aW9uEi8KDHA1MF9kdXJhdGlvbhgJIAEoCzIZLmdvb2dsZS5wcm90b2J1Zi5EdXJhdGlvbhIvCgxwOTlfZHVyYXRpb24YCiABKAsyGS5nb29nbGUucHJvdG9idWYuRHVyYXRpb24SEgoKdG90YWxfY29zdBgLIAEoARIWCg5uZWVkc19hcHByb3ZhbBgMIAEoBBovCg1GYWlsdXJlc0VudHJ5EgsKA2tleRgBIAEoCRINCgV2YWx1ZRgCIAEoBDoCOAEihQIKEFJlYWRBdWRpdFJlcXVlc3QSEQoJcHJpbmNpcGFsGAEgASgJEg8KB2NhbGxfaWQYAiABKAkSDAoEdG9vbBgDIAEoCRIMCgRraW5kGAQgASgJEhAKCGRlY2lzaW9uGAUgASgJEi4KCnNpbmNlX3RpbWUYBiABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wEi4KCnVudGlsX3RpbWUYByABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wEg8KB3RlbmFudHMYCCADKAkSDAoEbGFzdBgJIAEoDRIOCgZmb2xsb3cYCiABKAgSEAoIYXBwcm92ZXIYCyABKAkiLgoRUmVhZEF1ZGl0UmVzcG9uc2USCwoDc2VxGAEgASgEEgwKBGxpbmUYAiABKAkq0AEKC1BsdWdpblN0YXRlEhwKGFBMVUdJTl9TVEFURV9VTlNQRUNJRklFRBAAEhgKFFBMVUdJTl9TVEFURV9FTkFCTEVEEAESFwoTUExVR0lOX1NUQVRFX1BBVVNFRBACEhwKGFBMVUdJTl9TVEFURV9CQUNLSU5HX09GRhADEhwKGFBMVUdJTl9TVEFURV9RVUFSQU5USU5FRBAEEhkKFVBMVUdJTl9TVEFURV9ESVNBQkxFRBAFEhkKFVBMVUdJTl9TVEFURV9VTlVTQUJMRRAGKs4CCg1JbnN0YW5jZVN0YXRlEh4KGklOU1RBTkNFX1NUQVRFX1VOU1BFQ0lGSUVEEAASGQoVSU5TVEFOQ0VfU1RBVEVfUVVFVUVEEAESHAoYSU5TVEFOQ0VfU1RBVEVfVkVSSUZZSU5HEAISGwoXSU5TVEFOQ0VfU1RBVEVfU1RBUlRJTkcQAxIeChpJTlNUQU5DRV9TVEFURV9IQU5EU0hBS0lORxAEEhoKFklOU1RBTkNFX1NUQVRFX1dBUk1JTkcQBRIYChRJTlNUQU5DRV9TVEFURV9SRUFEWRAGEhwKGElOU1RBTkNFX1NUQVRFX1VOSEVBTFRIWRAHEhsKF0lOU1RBTkNFX1NUQVRFX0RSQUlOSU5HEAgSGwoXSU5TVEFOQ0VfU1RBVEVfU1RPUFBJTkcQCRIZChVJTlNUQU5DRV9TVEFURV9FWElURUQQCiqqAQoJQ2FsbFN0YXRlEhoKFkNBTExfU1RBVEVfVU5TUEVDSUZJRUQQABIWChJDQUxMX1NUQVRFX1JVTk5JTkcQARIYChRDQUxMX1NUQVRFX1NVQ0NFRURFRBACEhkKFUNBTExfU1RBVEVfVE9PTF9FUlJPUhADEhUKEUNBTExfU1RBVEVfRkFJTEVEEAQSHQoZQ0FMTF9TVEFURV9ORUVEU19BUFBST1ZBTBAFMv8LCgxBZG1pblNlcnZpY2USVwoLTGlzdFBsdWdpbnMSHy50b29saG9zdC52MS5MaXN0UGx1Z2luc1JlcXVlc3QaIC50b29saG9zdC52MS5MaXN0UGx1Z2luc1Jlc3BvbnNlIgWSthgBBhJdCg1MaXN0SW5zdGFuY2VzEiEudG9vbGhvc3QudjEuTGlzdEluc3RhbmNlc1JlcXVlc3QaIi50b29saG9zdC52MS5MaXN0SW5zdGFuY2VzUmVzcG9uc2UiBZK2GAEGEksKB1Jlc3RhcnQSGy50b29saG9zdC52MS5SZXN0YXJ0UmVxdWVzdBocLnRvb2xob3N0LnYxLlJlc3RhcnRSZXNwb25zZSIFkrYYAQcSRQoFRHJhaW4SGS50b29saG9zdC52MS5EcmFpblJlcXVlc3QaGi50b29saG9zdC52MS5EcmFpblJlc3BvbnNlIgWSthgBBxJFCgVQYXVzZRIZLnRvb2xob3N0LnYxLlBhdXNlUmVxdWVzdBoaLnRvb2xob3N0LnYxLlBhdXNlUmVzcG9uc2UiBZK2GAEHEkgKBlJlc3VtZRIaLnRvb2xob3N0LnYxLlJlc3VtZVJlcXVlc3QaGy50b29saG9zdC52MS5SZXN1bWVSZXNwb25zZSIFkrYYAQcSYwoPQ2xlYXJRdWFyYW50aW5lEiMudG9vbGhvc3QudjEuQ2xlYXJRdWFyYW50aW5lUmVxdWVzdBokLnRvb2xob3N0LnYxLkNsZWFyUXVhcmFudGluZVJlc3BvbnNlIgWSthgBBxJICgZSZWxvYWQSGi50b29saG9zdC52MS5SZWxvYWRSZXF1ZXN0GhsudG9vbGhvc3QudjEuUmVsb2FkUmVzcG9uc2UiBZK2GAEKEmkKEURpZmZDb25maWd1cmF0aW9uEiUudG9vbGhvc3QudjEuRGlmZkNvbmZpZ3VyYXRpb25SZXF1ZXN0GiYudG9vbGhvc3QudjEuRGlmZkNvbmZpZ3VyYXRpb25SZXNwb25zZSIFkrYYAQkSSwoHVXBncmFkZRIbLnRvb2xob3N0LnYxLlVwZ3JhZGVSZXF1ZXN0GhwudG9vbGhvc3QudjEuVXBncmFkZVJlc3BvbnNlIgWSthgBCBJOCghSb2xsYmFjaxIcLnRvb2xob3N0LnYxLlJvbGxiYWNrUmVxdWVzdBodLnRvb2xob3N0LnYxLlJvbGxiYWNrUmVzcG9uc2UiBZK2GAEIEl0KDUxpc3RSZXZpc2lvbnMSIS50b29saG9zdC52MS5MaXN0UmV2aXNpb25zUmVxdWVzdBoiLnRvb2xob3N0LnYxLkxpc3RSZXZpc2lvbnNSZXNwb25zZSIFkrYYAQYSVwoLR2V0TG9ja0ZpbGUSHy50b29saG9zdC52MS5HZXRMb2NrRmlsZVJlcXVlc3QaIC50b29saG9zdC52MS5HZXRMb2NrRmlsZVJlc3BvbnNlIgWSthgBBhJZCgtXYXRjaEV2ZW50cxIfLnRvb2xob3N0LnYxLldhdGNoRXZlbnRzUmVxdWVzdBogLnRvb2xob3N0LnYxLldhdGNoRXZlbnRzUmVzcG9uc2UiBZK2GAELMAESUAoIVGFpbExvZ3MSHC50b29saG9zdC52MS5UYWlsTG9nc1JlcXVlc3QaHS50b29saG9zdC52MS5UYWlsTG9nc1Jlc3BvbnNlIgWSthgBDDABElEKCUxpc3RDYWxscxIdLnRvb2xob3N0LnYxLkxpc3RDYWxsc1JlcXVlc3QaHi50b29saG9zdC52MS5MaXN0Q2FsbHNSZXNwb25zZSIFkrYYAQUSTgoIR2V0U3RhdHMSHC50b29saG9zdC52MS5HZXRTdGF0c1JlcXVlc3QaHS50b29saG9zdC52MS5HZXRTdGF0c1Jlc3BvbnNlIgWSthgBDRJTCglSZWFkQXVkaXQSHS50b29saG9zdC52MS5SZWFkQXVkaXRSZXF1ZXN0Gh4udG9vbGhvc3QudjEuUmVhZEF1ZGl0UmVzcG9uc2UiBZK2GAEOMAFCPFo6Z2l0aHViLmNvbS90b29saG9zdC90b29saG9zdC9nZW4vZ28vdG9vbGhvc3QvdjE7dG9vbGhvc3R2MWIGcHJvdG8z", [file_google_protobuf_duration, file_google_protobuf_timestamp, file_toolhost_tool_v1_error, file_toolhost_tool_v1_permissions, file_toolhost_tool_v1_right, file_toolhost_tool_v1_status, file_toolhost_tool_v1_version, file_toolhost_v1_settled]);
/**
 * Describes the message toolhost.v1.Plugin.
 * Use `create(PluginSchema)` to create a new message.
 */
export const PluginSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 0);
/**
 * Describes the message toolhost.v1.OwnFilter.
 * Use `create(OwnFilterSchema)` to create a new message.
 */
export const OwnFilterSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 1);
/**
 * Describes the message toolhost.v1.Ungranted.
 * Use `create(UngrantedSchema)` to create a new message.
 */
export const UngrantedSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 2);
/**
 * Describes the message toolhost.v1.PluginRefusal.
 * Use `create(PluginRefusalSchema)` to create a new message.
 */
export const PluginRefusalSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 3);
/**
 * Describes the message toolhost.v1.PluginExit.
 * Use `create(PluginExitSchema)` to create a new message.
 */
export const PluginExitSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 4);
/**
 * Describes the message toolhost.v1.ExitCall.
 * Use `create(ExitCallSchema)` to create a new message.
 */
export const ExitCallSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 5);
/**
 * Describes the message toolhost.v1.Instance.
 * Use `create(InstanceSchema)` to create a new message.
 */
export const InstanceSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 6);
/**
 * Describes the message toolhost.v1.Sandbox.
 * Use `create(SandboxSchema)` to create a new message.
 */
export const SandboxSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 7);
/**
 * Describes the message toolhost.v1.SandboxLayer.
 * Use `create(SandboxLayerSchema)` to create a new message.
 */
export const SandboxLayerSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 8);
/**
 * Describes the message toolhost.v1.EffectiveLimit.
 * Use `create(EffectiveLimitSchema)` to create a new message.
 */
export const EffectiveLimitSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 9);
/**
 * Describes the message toolhost.v1.ListPluginsRequest.
 * Use `create(ListPluginsRequestSchema)` to create a new message.
 */
export const ListPluginsRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 10);
/**
 * Describes the message toolhost.v1.ListPluginsResponse.
 * Use `create(ListPluginsResponseSchema)` to create a new message.
 */
export const ListPluginsResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 11);
/**
 * Describes the message toolhost.v1.Condition.
 * Use `create(ConditionSchema)` to create a new message.
 */
export const ConditionSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 12);
/**
 * Describes the message toolhost.v1.ListInstancesRequest.
 * Use `create(ListInstancesRequestSchema)` to create a new message.
 */
export const ListInstancesRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 13);
/**
 * Describes the message toolhost.v1.ListInstancesResponse.
 * Use `create(ListInstancesResponseSchema)` to create a new message.
 */
export const ListInstancesResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 14);
/**
 * Describes the message toolhost.v1.RestartRequest.
 * Use `create(RestartRequestSchema)` to create a new message.
 */
export const RestartRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 15);
/**
 * Describes the message toolhost.v1.RestartResponse.
 * Use `create(RestartResponseSchema)` to create a new message.
 */
export const RestartResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 16);
/**
 * Describes the message toolhost.v1.DrainRequest.
 * Use `create(DrainRequestSchema)` to create a new message.
 */
export const DrainRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 17);
/**
 * Describes the message toolhost.v1.DrainResponse.
 * Use `create(DrainResponseSchema)` to create a new message.
 */
export const DrainResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 18);
/**
 * Describes the message toolhost.v1.PauseRequest.
 * Use `create(PauseRequestSchema)` to create a new message.
 */
export const PauseRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 19);
/**
 * Describes the message toolhost.v1.PauseResponse.
 * Use `create(PauseResponseSchema)` to create a new message.
 */
export const PauseResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 20);
/**
 * Describes the message toolhost.v1.ResumeRequest.
 * Use `create(ResumeRequestSchema)` to create a new message.
 */
export const ResumeRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 21);
/**
 * Describes the message toolhost.v1.ResumeResponse.
 * Use `create(ResumeResponseSchema)` to create a new message.
 */
export const ResumeResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 22);
/**
 * Describes the message toolhost.v1.ClearQuarantineRequest.
 * Use `create(ClearQuarantineRequestSchema)` to create a new message.
 */
export const ClearQuarantineRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 23);
/**
 * Describes the message toolhost.v1.ClearQuarantineResponse.
 * Use `create(ClearQuarantineResponseSchema)` to create a new message.
 */
export const ClearQuarantineResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 24);
/**
 * Describes the message toolhost.v1.ReloadRequest.
 * Use `create(ReloadRequestSchema)` to create a new message.
 */
export const ReloadRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 25);
/**
 * Describes the message toolhost.v1.ReloadResponse.
 * Use `create(ReloadResponseSchema)` to create a new message.
 */
export const ReloadResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 26);
/**
 * Describes the message toolhost.v1.ConfigurationChange.
 * Use `create(ConfigurationChangeSchema)` to create a new message.
 */
export const ConfigurationChangeSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 27);
/**
 * Describes the message toolhost.v1.SettingChange.
 * Use `create(SettingChangeSchema)` to create a new message.
 */
export const SettingChangeSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 28);
/**
 * Describes the message toolhost.v1.DiffConfigurationRequest.
 * Use `create(DiffConfigurationRequestSchema)` to create a new message.
 */
export const DiffConfigurationRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 29);
/**
 * Describes the message toolhost.v1.DiffConfigurationResponse.
 * Use `create(DiffConfigurationResponseSchema)` to create a new message.
 */
export const DiffConfigurationResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 30);
/**
 * Describes the message toolhost.v1.ReloadFailure.
 * Use `create(ReloadFailureSchema)` to create a new message.
 */
export const ReloadFailureSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 31);
/**
 * Describes the message toolhost.v1.UpgradeRequest.
 * Use `create(UpgradeRequestSchema)` to create a new message.
 */
export const UpgradeRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 32);
/**
 * Describes the message toolhost.v1.UpgradeResponse.
 * Use `create(UpgradeResponseSchema)` to create a new message.
 */
export const UpgradeResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 33);
/**
 * Describes the message toolhost.v1.GetLockFileRequest.
 * Use `create(GetLockFileRequestSchema)` to create a new message.
 */
export const GetLockFileRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 34);
/**
 * Describes the message toolhost.v1.GetLockFileResponse.
 * Use `create(GetLockFileResponseSchema)` to create a new message.
 */
export const GetLockFileResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 35);
/**
 * Describes the message toolhost.v1.RollbackRequest.
 * Use `create(RollbackRequestSchema)` to create a new message.
 */
export const RollbackRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 36);
/**
 * Describes the message toolhost.v1.RollbackResponse.
 * Use `create(RollbackResponseSchema)` to create a new message.
 */
export const RollbackResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 37);
/**
 * Describes the message toolhost.v1.ListRevisionsRequest.
 * Use `create(ListRevisionsRequestSchema)` to create a new message.
 */
export const ListRevisionsRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 38);
/**
 * Describes the message toolhost.v1.ListRevisionsResponse.
 * Use `create(ListRevisionsResponseSchema)` to create a new message.
 */
export const ListRevisionsResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 39);
/**
 * Describes the message toolhost.v1.Revision.
 * Use `create(RevisionSchema)` to create a new message.
 */
export const RevisionSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 40);
/**
 * Describes the message toolhost.v1.WatchEventsRequest.
 * Use `create(WatchEventsRequestSchema)` to create a new message.
 */
export const WatchEventsRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 41);
/**
 * Describes the message toolhost.v1.WatchEventsResponse.
 * Use `create(WatchEventsResponseSchema)` to create a new message.
 */
export const WatchEventsResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 42);
/**
 * Describes the message toolhost.v1.PluginEvent.
 * Use `create(PluginEventSchema)` to create a new message.
 */
export const PluginEventSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 43);
/**
 * Describes the message toolhost.v1.TailLogsRequest.
 * Use `create(TailLogsRequestSchema)` to create a new message.
 */
export const TailLogsRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 44);
/**
 * Describes the message toolhost.v1.TailLogsResponse.
 * Use `create(TailLogsResponseSchema)` to create a new message.
 */
export const TailLogsResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 45);
/**
 * Describes the message toolhost.v1.LogLine.
 * Use `create(LogLineSchema)` to create a new message.
 */
export const LogLineSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 46);
/**
 * Describes the message toolhost.v1.ListCallsRequest.
 * Use `create(ListCallsRequestSchema)` to create a new message.
 */
export const ListCallsRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 47);
/**
 * Describes the message toolhost.v1.ListCallsResponse.
 * Use `create(ListCallsResponseSchema)` to create a new message.
 */
export const ListCallsResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 48);
/**
 * Describes the message toolhost.v1.CallRecord.
 * Use `create(CallRecordSchema)` to create a new message.
 */
export const CallRecordSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 49);
/**
 * Describes the message toolhost.v1.GetStatsRequest.
 * Use `create(GetStatsRequestSchema)` to create a new message.
 */
export const GetStatsRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 50);
/**
 * Describes the message toolhost.v1.GetStatsResponse.
 * Use `create(GetStatsResponseSchema)` to create a new message.
 */
export const GetStatsResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 51);
/**
 * Describes the message toolhost.v1.ToolStats.
 * Use `create(ToolStatsSchema)` to create a new message.
 */
export const ToolStatsSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 52);
/**
 * Describes the message toolhost.v1.ReadAuditRequest.
 * Use `create(ReadAuditRequestSchema)` to create a new message.
 */
export const ReadAuditRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 53);
/**
 * Describes the message toolhost.v1.ReadAuditResponse.
 * Use `create(ReadAuditResponseSchema)` to create a new message.
 */
export const ReadAuditResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 54);
/**
 * PluginState says whether a plugin accepts calls, and why not.
 *
 * @generated from enum toolhost.v1.PluginState
 */
export var PluginState;
(function (PluginState) {
    /**
     * Not set.
     *
     * @generated from enum value: PLUGIN_STATE_UNSPECIFIED = 0;
     */
    PluginState[PluginState["UNSPECIFIED"] = 0] = "UNSPECIFIED";
    /**
     * The plugin accepts calls.
     *
     * @generated from enum value: PLUGIN_STATE_ENABLED = 1;
     */
    PluginState[PluginState["ENABLED"] = 1] = "ENABLED";
    /**
     * An operator paused the plugin. It accepts no calls until Resume.
     *
     * @generated from enum value: PLUGIN_STATE_PAUSED = 2;
     */
    PluginState[PluginState["PAUSED"] = 2] = "PAUSED";
    /**
     * The plugin crashed. It accepts no calls until the backoff ends.
     *
     * @generated from enum value: PLUGIN_STATE_BACKING_OFF = 3;
     */
    PluginState[PluginState["BACKING_OFF"] = 3] = "BACKING_OFF";
    /**
     * The plugin crashed too often. It accepts no calls until toolhost probes it successfully or an
     * operator calls ClearQuarantine.
     *
     * @generated from enum value: PLUGIN_STATE_QUARANTINED = 4;
     */
    PluginState[PluginState["QUARANTINED"] = 4] = "QUARANTINED";
    /**
     * The operator's configuration disables the plugin.
     *
     * @generated from enum value: PLUGIN_STATE_DISABLED = 5;
     */
    PluginState[PluginState["DISABLED"] = 5] = "DISABLED";
    /**
     * The executable is not a plugin, is not allowed, or did not describe itself. Plugin.reason says
     * which.
     *
     * @generated from enum value: PLUGIN_STATE_UNUSABLE = 6;
     */
    PluginState[PluginState["UNUSABLE"] = 6] = "UNUSABLE";
})(PluginState || (PluginState = {}));
/**
 * Describes the enum toolhost.v1.PluginState.
 */
export const PluginStateSchema = /*@__PURE__*/ enumDesc(file_toolhost_v1_admin_service, 0);
/**
 * InstanceState is the state of a plugin process. Only a READY process receives new calls.
 *
 * @generated from enum toolhost.v1.InstanceState
 */
export var InstanceState;
(function (InstanceState) {
    /**
     * Not set.
     *
     * @generated from enum value: INSTANCE_STATE_UNSPECIFIED = 0;
     */
    InstanceState[InstanceState["UNSPECIFIED"] = 0] = "UNSPECIFIED";
    /**
     * The instance waits until fewer instances are starting.
     *
     * @generated from enum value: INSTANCE_STATE_QUEUED = 1;
     */
    InstanceState[InstanceState["QUEUED"] = 1] = "QUEUED";
    /**
     * Reserved: toolhost verifies the executable when it finds it, before an instance exists.
     *
     * @generated from enum value: INSTANCE_STATE_VERIFYING = 2;
     */
    InstanceState[InstanceState["VERIFYING"] = 2] = "VERIFYING";
    /**
     * toolhost is creating the process.
     *
     * @generated from enum value: INSTANCE_STATE_STARTING = 3;
     */
    InstanceState[InstanceState["STARTING"] = 3] = "STARTING";
    /**
     * The process runs, but has not yet announced its socket.
     *
     * @generated from enum value: INSTANCE_STATE_HANDSHAKING = 4;
     */
    InstanceState[InstanceState["HANDSHAKING"] = 4] = "HANDSHAKING";
    /**
     * toolhost has connected and checks whether the process is ready.
     *
     * @generated from enum value: INSTANCE_STATE_WARMING = 5;
     */
    InstanceState[InstanceState["WARMING"] = 5] = "WARMING";
    /**
     * The instance accepts calls.
     *
     * @generated from enum value: INSTANCE_STATE_READY = 6;
     */
    InstanceState[InstanceState["READY"] = 6] = "READY";
    /**
     * A call did not stop after its cancellation. The instance accepts no new calls until that call
     * stops or toolhost stops the instance.
     *
     * @generated from enum value: INSTANCE_STATE_UNHEALTHY = 7;
     */
    InstanceState[InstanceState["UNHEALTHY"] = 7] = "UNHEALTHY";
    /**
     * The instance finishes its calls and accepts no new ones.
     *
     * @generated from enum value: INSTANCE_STATE_DRAINING = 8;
     */
    InstanceState[InstanceState["DRAINING"] = 8] = "DRAINING";
    /**
     * toolhost is stopping the process.
     *
     * @generated from enum value: INSTANCE_STATE_STOPPING = 9;
     */
    InstanceState[InstanceState["STOPPING"] = 9] = "STOPPING";
    /**
     * The process has ended and its resources are released.
     *
     * @generated from enum value: INSTANCE_STATE_EXITED = 10;
     */
    InstanceState[InstanceState["EXITED"] = 10] = "EXITED";
})(InstanceState || (InstanceState = {}));
/**
 * Describes the enum toolhost.v1.InstanceState.
 */
export const InstanceStateSchema = /*@__PURE__*/ enumDesc(file_toolhost_v1_admin_service, 1);
/**
 * CallState is the state of a call.
 *
 * @generated from enum toolhost.v1.CallState
 */
export var CallState;
(function (CallState) {
    /**
     * Not set.
     *
     * @generated from enum value: CALL_STATE_UNSPECIFIED = 0;
     */
    CallState[CallState["UNSPECIFIED"] = 0] = "UNSPECIFIED";
    /**
     * The call is running.
     *
     * @generated from enum value: CALL_STATE_RUNNING = 1;
     */
    CallState[CallState["RUNNING"] = 1] = "RUNNING";
    /**
     * The call ended with a result without `is_error`.
     *
     * @generated from enum value: CALL_STATE_SUCCEEDED = 2;
     */
    CallState[CallState["SUCCEEDED"] = 2] = "SUCCEEDED";
    /**
     * The call ended with a result with `is_error`.
     *
     * @generated from enum value: CALL_STATE_TOOL_ERROR = 3;
     */
    CallState[CallState["TOOL_ERROR"] = 3] = "TOOL_ERROR";
    /**
     * The call ended with an infrastructure failure.
     *
     * @generated from enum value: CALL_STATE_FAILED = 4;
     */
    CallState[CallState["FAILED"] = 4] = "FAILED";
    /**
     * The call was not executed, because a person has to approve it first.
     *
     * @generated from enum value: CALL_STATE_NEEDS_APPROVAL = 5;
     */
    CallState[CallState["NEEDS_APPROVAL"] = 5] = "NEEDS_APPROVAL";
})(CallState || (CallState = {}));
/**
 * Describes the enum toolhost.v1.CallState.
 */
export const CallStateSchema = /*@__PURE__*/ enumDesc(file_toolhost_v1_admin_service, 2);
/**
 * AdminService inspects and controls plugins and their processes. An RPC affects only the plugin
 * that it names.
 *
 * Each RPC fails with DENIED for a caller without its right. Errors are toolhost.tool.v1.Error as a
 * detail of the gRPC status.
 *
 * @generated from service toolhost.v1.AdminService
 */
export const AdminService = /*@__PURE__*/ serviceDesc(file_toolhost_v1_admin_service, 0);
