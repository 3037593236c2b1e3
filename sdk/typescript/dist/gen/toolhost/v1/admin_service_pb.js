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
export const file_toolhost_v1_admin_service = /*@__PURE__*/ fileDesc("Ch90b29saG9zdC92MS9hZG1pbl9zZXJ2aWNlLnByb3RvEgt0b29saG9zdC52MSLgBQoGUGx1Z2luEgwKBG5hbWUYASABKAkSDwoHdmVyc2lvbhgCIAEoCRITCgtkZXNjcmlwdGlvbhgDIAEoCRIMCgRwYXRoGAQgASgJEg4KBmRpZ2VzdBgFIAEoCRInCgVzdGF0ZRgGIAEoDjIYLnRvb2xob3N0LnYxLlBsdWdpblN0YXRlEg4KBnJlYXNvbhgHIAEoCRINCgV0b29scxgIIAMoCRIRCglpbnN0YW5jZXMYCSABKA0SEAoIbGF1bmNoZXMYCiABKAQSKQoJbGFzdF9leGl0GAsgASgLMhYudG9vbGhvc3QudG9vbC52MS5FeGl0EhAKCHdhcm5pbmdzGAwgAygJEi0KDHJlY2VudF9leGl0cxgNIAMoCzIXLnRvb2xob3N0LnYxLlBsdWdpbkV4aXQSLgoKcmV0cnlfdGltZRgOIAEoCzIaLmdvb2dsZS5wcm90b2J1Zi5UaW1lc3RhbXASFwoPcHJldmlvdXNfZGlnZXN0GA8gASgJEhUKDXBpbm5lZF9kaWdlc3QYECABKAkSKwoHcmVmdXNhbBgRIAEoCzIaLnRvb2xob3N0LnYxLlBsdWdpblJlZnVzYWwSDwoHZmlsdGVycxgSIAMoCRIyCgtwZXJtaXNzaW9ucxgTIAEoCzIdLnRvb2xob3N0LnRvb2wudjEuUGVybWlzc2lvbnMSKQoJdW5ncmFudGVkGBQgAygLMhYudG9vbGhvc3QudjEuVW5ncmFudGVkEhEKCWlzb2xhdGlvbhgVIAEoCRImCgNzZGsYFiABKAsyGS50b29saG9zdC50b29sLnYxLlNka0luZm8SKwoLb3duX2ZpbHRlcnMYFyADKAsyFi50b29saG9zdC52MS5Pd25GaWx0ZXISKwoJd29ya3NwYWNlGBggASgOMhgudG9vbGhvc3QudG9vbC52MS5BY2Nlc3MSGQoRd29ya3NwYWNlX2JhY2tlbmQYGSABKAkiKAoJT3duRmlsdGVyEgwKBG5hbWUYASABKAkSDQoFdG9vbHMYAiADKAkiKwoJVW5ncmFudGVkEg8KB3JlcXVlc3QYASABKAkSDQoFZ3JhbnQYAiABKAkiTQoNUGx1Z2luUmVmdXNhbBIOCgZkaWdlc3QYASABKAkSDgoGcmVhc29uGAIgASgJEg4KBmxvY2tlZBgDIAEoCBIMCgRuYW1lGAQgASgJIt8BCgpQbHVnaW5FeGl0EhAKCGluc3RhbmNlGAEgASgJEigKBHRpbWUYAiABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wEiQKBGV4aXQYAyABKAsyFi50b29saG9zdC50b29sLnYxLkV4aXQSEAoIZXhwZWN0ZWQYBCABKAgSJAoFY2FsbHMYBSADKAsyFS50b29saG9zdC52MS5FeGl0Q2FsbBIOCgZ0ZW5hbnQYBiABKAkSFAoMaGlkZGVuX2NhbGxzGAcgASgNEhEKCXVuaGVhbHRoeRgIIAEoCCKXAQoIRXhpdENhbGwSDwoHY2FsbF9pZBgBIAEoCRIMCgR0b29sGAIgASgJEg8KB3Nlc3Npb24YAyABKAkSEQoJcHJpbmNpcGFsGAQgASgJEi4KCnN0YXJ0X3RpbWUYBSABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wEhgKEGFyZ3VtZW50c19kaWdlc3QYBiABKAkiuQIKCEluc3RhbmNlEgoKAmlkGAEgASgJEg4KBnBsdWdpbhgCIAEoCRIpCgVzdGF0ZRgDIAEoDjIaLnRvb2xob3N0LnYxLkluc3RhbmNlU3RhdGUSCwoDcGlkGAQgASgFEg0KBWNhbGxzGAUgASgNEhMKC3RvdGFsX2NhbGxzGAYgASgEEi4KCnN0YXJ0X3RpbWUYByABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wEhEKCXJzc19ieXRlcxgIIAEoBBIOCgZkaWdlc3QYCSABKAkSKwoGbGltaXRzGAogAygLMhsudG9vbGhvc3QudjEuRWZmZWN0aXZlTGltaXQSJQoHc2FuZGJveBgLIAEoCzIULnRvb2xob3N0LnYxLlNhbmRib3gSDgoGdGVuYW50GAwgASgJIrgBCgdTYW5kYm94EgwKBG1vZGUYASABKAkSDwoHbmV0d29yaxgCIAEoCBIrCgl3b3Jrc3BhY2UYAyABKA4yGC50b29saG9zdC50b29sLnYxLkFjY2VzcxIMCgRyZWFkGAQgAygJEg0KBXdyaXRlGAUgAygJEikKBmxheWVycxgGIAMoCzIZLnRvb2xob3N0LnYxLlNhbmRib3hMYXllchIZChF3b3Jrc3BhY2VfYmFja2VuZBgHIAEoCSJQCgxTYW5kYm94TGF5ZXISDAoEbmFtZRgBIAEoCRIRCgllZmZlY3RpdmUYAiABKAgSEQoJbWVjaGFuaXNtGAMgASgJEgwKBG5vdGUYBCABKAkiTgoORWZmZWN0aXZlTGltaXQSDAoEbmFtZRgBIAEoCRINCgV2YWx1ZRgCIAEoCRIRCgltZWNoYW5pc20YAyABKAkSDAoEbm90ZRgEIAEoCSIUChJMaXN0UGx1Z2luc1JlcXVlc3QiOwoTTGlzdFBsdWdpbnNSZXNwb25zZRIkCgdwbHVnaW5zGAEgAygLMhMudG9vbGhvc3QudjEuUGx1Z2luIiYKFExpc3RJbnN0YW5jZXNSZXF1ZXN0Eg4KBnBsdWdpbhgBIAEoCSJBChVMaXN0SW5zdGFuY2VzUmVzcG9uc2USKAoJaW5zdGFuY2VzGAEgAygLMhUudG9vbGhvc3QudjEuSW5zdGFuY2UiPwoOUmVzdGFydFJlcXVlc3QSDgoGcGx1Z2luGAEgASgJEg0KBWZvcmNlGAIgASgIEg4KBnJlYXNvbhgDIAEoCSIzCg9SZXN0YXJ0UmVzcG9uc2USDwoHc3RvcHBlZBgBIAMoCRIPCgdzdGFydGVkGAIgAygJIi4KDERyYWluUmVxdWVzdBIOCgZwbHVnaW4YASABKAkSDgoGcmVhc29uGAIgASgJIg8KDURyYWluUmVzcG9uc2UiLgoMUGF1c2VSZXF1ZXN0Eg4KBnBsdWdpbhgBIAEoCRIOCgZyZWFzb24YAiABKAkiDwoNUGF1c2VSZXNwb25zZSIfCg1SZXN1bWVSZXF1ZXN0Eg4KBnBsdWdpbhgBIAEoCSIQCg5SZXN1bWVSZXNwb25zZSIoChZDbGVhclF1YXJhbnRpbmVSZXF1ZXN0Eg4KBnBsdWdpbhgBIAEoCSIZChdDbGVhclF1YXJhbnRpbmVSZXNwb25zZSIlCg1SZWxvYWRSZXF1ZXN0EhQKDHBsdWdpbnNfb25seRgBIAEoCCKpAQoOUmVsb2FkUmVzcG9uc2USDQoFYWRkZWQYASADKAkSDwoHcmVtb3ZlZBgCIAMoCRIQCgh1cGdyYWRlZBgDIAMoCRIsCghmYWlsdXJlcxgEIAMoCzIaLnRvb2xob3N0LnYxLlJlbG9hZEZhaWx1cmUSNwoNY29uZmlndXJhdGlvbhgFIAEoCzIgLnRvb2xob3N0LnYxLkNvbmZpZ3VyYXRpb25DaGFuZ2UibwoTQ29uZmlndXJhdGlvbkNoYW5nZRIMCgRmaWxlGAEgASgJEgwKBGtleXMYAiADKAkSDwoHcHJvYmxlbRgDIAEoCRIrCgdjaGFuZ2VzGAQgAygLMhoudG9vbGhvc3QudjEuU2V0dGluZ0NoYW5nZSJHCg1TZXR0aW5nQ2hhbmdlEgsKA2tleRgBIAEoCRILCgNvbGQYAiABKAkSCwoDbmV3GAMgASgJEg8KB3Jlc3RhcnQYBCABKAgiGgoYRGlmZkNvbmZpZ3VyYXRpb25SZXF1ZXN0IlQKGURpZmZDb25maWd1cmF0aW9uUmVzcG9uc2USNwoNY29uZmlndXJhdGlvbhgBIAEoCzIgLnRvb2xob3N0LnYxLkNvbmZpZ3VyYXRpb25DaGFuZ2UiLwoNUmVsb2FkRmFpbHVyZRIOCgZwbHVnaW4YASABKAkSDgoGcmVhc29uGAIgASgJIjAKDlVwZ3JhZGVSZXF1ZXN0Eg4KBnBsdWdpbhgBIAEoCRIOCgZyZWFzb24YAiABKAkiOgoPVXBncmFkZVJlc3BvbnNlEg4KBmRpZ2VzdBgBIAEoCRIXCg9wcmV2aW91c19kaWdlc3QYAiABKAkiFAoSR2V0TG9ja0ZpbGVSZXF1ZXN0IjUKE0dldExvY2tGaWxlUmVzcG9uc2USDAoEcGF0aBgBIAEoCRIQCghlbmZvcmNlZBgCIAEoCCJDCg9Sb2xsYmFja1JlcXVlc3QSDgoGcGx1Z2luGAEgASgJEhAKCHJldmlzaW9uGAIgASgEEg4KBnJlYXNvbhgDIAEoCSI7ChBSb2xsYmFja1Jlc3BvbnNlEg4KBmRpZ2VzdBgBIAEoCRIXCg9wcmV2aW91c19kaWdlc3QYAiABKAkiJgoUTGlzdFJldmlzaW9uc1JlcXVlc3QSDgoGcGx1Z2luGAEgASgJIkEKFUxpc3RSZXZpc2lvbnNSZXNwb25zZRIoCglyZXZpc2lvbnMYASADKAsyFS50b29saG9zdC52MS5SZXZpc2lvbiKlAQoIUmV2aXNpb24SDgoGbnVtYmVyGAEgASgEEg4KBmRpZ2VzdBgCIAEoCRIoCgR0aW1lGAMgASgLMhouZ29vZ2xlLnByb3RvYnVmLlRpbWVzdGFtcBINCgVjYXVzZRgEIAEoCRIRCglwcmluY2lwYWwYBSABKAkSDgoGcmVhc29uGAYgASgJEg8KB2N1cnJlbnQYByABKAgSDAoEa2VwdBgIIAEoCCKIAQoSV2F0Y2hFdmVudHNSZXF1ZXN0Eg4KBnBsdWdpbhgBIAEoCRIRCglhZnRlcl9zZXEYAiABKAQSDgoGZm9sbG93GAMgASgIEi4KCnNpbmNlX3RpbWUYBCABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wEg8KB3RlbmFudHMYBSADKAkiPgoTV2F0Y2hFdmVudHNSZXNwb25zZRInCgVldmVudBgBIAEoCzIYLnRvb2xob3N0LnYxLlBsdWdpbkV2ZW50ItQBCgtQbHVnaW5FdmVudBILCgNzZXEYASABKAQSKAoEdGltZRgCIAEoCzIaLmdvb2dsZS5wcm90b2J1Zi5UaW1lc3RhbXASDAoEdHlwZRgDIAEoCRIOCgZwbHVnaW4YBCABKAkSEAoIaW5zdGFuY2UYBSABKAkSDgoGZGlnZXN0GAYgASgJEg4KBnJlYXNvbhgHIAEoCRIuCgp1bnRpbF90aW1lGAggASgLMhouZ29vZ2xlLnByb3RvYnVmLlRpbWVzdGFtcBIOCgZ0ZW5hbnQYCSABKAkiYQoPVGFpbExvZ3NSZXF1ZXN0Eg4KBnBsdWdpbhgBIAEoCRIPCgdjYWxsX2lkGAIgASgJEgwKBGxhc3QYAyABKA0SDgoGZm9sbG93GAQgASgIEg8KB3RlbmFudHMYBSADKAkiNgoQVGFpbExvZ3NSZXNwb25zZRIiCgRsaW5lGAEgASgLMhQudG9vbGhvc3QudjEuTG9nTGluZSKGAQoHTG9nTGluZRILCgNzZXEYASABKAQSDgoGcGx1Z2luGAIgASgJEhAKCGluc3RhbmNlGAMgASgJEg8KB2NhbGxfaWQYBCABKAkSKwoGcmVjb3JkGAUgASgLMhsudG9vbGhvc3QudG9vbC52MS5Mb2dSZWNvcmQSDgoGdGVuYW50GAYgASgJIuEBChBMaXN0Q2FsbHNSZXF1ZXN0EhEKCXBhZ2Vfc2l6ZRgBIAEoBRISCgpwYWdlX3Rva2VuGAIgASgJEg4KBnBsdWdpbhgDIAEoCRIMCgR0b29sGAQgASgJEg8KB3Nlc3Npb24YBSABKAkSJQoFc3RhdGUYBiABKA4yFi50b29saG9zdC52MS5DYWxsU3RhdGUSDwoHY2FsbF9pZBgHIAEoCRIuCgpzaW5jZV90aW1lGAggASgLMhouZ29vZ2xlLnByb3RvYnVmLlRpbWVzdGFtcBIPCgd0ZW5hbnRzGAkgAygJIlQKEUxpc3RDYWxsc1Jlc3BvbnNlEiYKBWNhbGxzGAEgAygLMhcudG9vbGhvc3QudjEuQ2FsbFJlY29yZBIXCg9uZXh0X3BhZ2VfdG9rZW4YAiABKAkixQIKCkNhbGxSZWNvcmQSDwoHY2FsbF9pZBgBIAEoCRIRCglwcmluY2lwYWwYAiABKAkSDwoHc2Vzc2lvbhgDIAEoCRIMCgR0b29sGAQgASgJEg4KBnBsdWdpbhgFIAEoCRIQCghpbnN0YW5jZRgGIAEoCRIlCgVzdGF0ZRgHIAEoDjIWLnRvb2xob3N0LnYxLkNhbGxTdGF0ZRImCgVlcnJvchgIIAEoCzIXLnRvb2xob3N0LnRvb2wudjEuRXJyb3ISLgoKc3RhcnRfdGltZRgJIAEoCzIaLmdvb2dsZS5wcm90b2J1Zi5UaW1lc3RhbXASLAoIZW5kX3RpbWUYCiABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wEiUKB3NldHRsZWQYCyABKAsyFC50b29saG9zdC52MS5TZXR0bGVkImIKD0dldFN0YXRzUmVxdWVzdBIOCgZwbHVnaW4YASABKAkSLgoKc2luY2VfdGltZRgCIAEoCzIaLmdvb2dsZS5wcm90b2J1Zi5UaW1lc3RhbXASDwoHdGVuYW50cxgDIAMoCSI5ChBHZXRTdGF0c1Jlc3BvbnNlEiUKBXRvb2xzGAEgAygLMhYudG9vbGhvc3QudjEuVG9vbFN0YXRzIqQDCglUb29sU3RhdHMSDAoEdG9vbBgBIAEoCRIOCgZwbHVnaW4YAiABKAkSDQoFY2FsbHMYAyABKAQSEQoJc3VjY2VlZGVkGAQgASgEEhMKC3Rvb2xfZXJyb3JzGAUgASgEEjYKCGZhaWx1cmVzGAYgAygLMiQudG9vbGhvc3QudjEuVG9vbFN0YXRzLkZhaWx1cmVzRW50cnkSMQoOdG90YWxfZHVyYXRpb24YByABKAsyGS5nb29nbGUucHJvdG9idWYuRHVyYXRpb24SMAoNbWVhbl9kdXJhdGlvbhgIIAEoCzIZLmdvb2dsZS5wcm90b2J1Zi5EdXJhdGlvbhIvCgxwNTBfZHVyYXRpb24YCSABKAsyGS5nb29nbGUucHJvdG9idWYuRHVyYXRpb24SLwoMcDk5X2R1cmF0aW9uGAogASgLMhkuZ29vZ2xlLnByb3RvYnVmLkR1cmF0aW9uEhIKCnRvdGFsX2Nvc3QYCyABKAEaLwoNRmFpbHVyZXNFbnRyeRILCgNrZXkYASABKAkSDQoFdmFsdWUYAiABKAQ6AjgBIvMBChBSZWFkQXVkaXRSZXF1ZXN0EhEKCXByaW5jaXBhbBgBIAEoCRIPCgdjYWxsX2lkGAIgASgJEgwKBHRvb2wYAyABKAkSDAoEa2luZBgEIAEoCRIQCghkZWNpc2lvbhgFIAEoCRIuCgpzaW5jZV90aW1lGAYgASgLMhouZ29vZ2xlLnByb3RvYnVmLlRpbWVzdGFtcBIuCgp1bnRpbF90aW1lGAcgASgLMhouZ29vZ2xlLnByb3RvYnVmLlRpbWVzdGFtcBIPCgd0ZW5hbnRzGAggAygJEgwKBGxhc3QYCSABKA0SDgoGZm9sbG93GAogASgIIi4KEVJlYWRBdWRpdFJlc3BvbnNlEgsKA3NlcRgBIAEoBBIMCgRsaW5lGAIgASgJKtABCgtQbHVnaW5TdGF0ZRIcChhQTFVHSU5fU1RBVEVfVU5TUEVDSUZJRUQQABIYChRQTFVHSU5fU1RBVEVfRU5BQkxFRBABEhcKE1BMVUdJTl9TVEFURV9QQVVTRUQQAhIcChhQTFVHSU5fU1RBVEVfQkFDS0lOR19PRkYQAxIcChhQTFVHSU5fU1RBVEVfUVVBUkFOVElORUQQBBIZChVQTFVHSU5fU1RBVEVfRElTQUJMRUQQBRIZChVQTFVHSU5fU1RBVEVfVU5VU0FCTEUQBirOAgoNSW5zdGFuY2VTdGF0ZRIeChpJTlNUQU5DRV9TVEFURV9VTlNQRUNJRklFRBAAEhkKFUlOU1RBTkNFX1NUQVRFX1FVRVVFRBABEhwKGElOU1RBTkNFX1NUQVRFX1ZFUklGWUlORxACEhsKF0lOU1RBTkNFX1NUQVRFX1NUQVJUSU5HEAMSHgoaSU5TVEFOQ0VfU1RBVEVfSEFORFNIQUtJTkcQBBIaChZJTlNUQU5DRV9TVEFURV9XQVJNSU5HEAUSGAoUSU5TVEFOQ0VfU1RBVEVfUkVBRFkQBhIcChhJTlNUQU5DRV9TVEFURV9VTkhFQUxUSFkQBxIbChdJTlNUQU5DRV9TVEFURV9EUkFJTklORxAIEhsKF0lOU1RBTkNFX1NUQVRFX1NUT1BQSU5HEAkSGQoVSU5TVEFOQ0VfU1RBVEVfRVhJVEVEEAoqiwEKCUNhbGxTdGF0ZRIaChZDQUxMX1NUQVRFX1VOU1BFQ0lGSUVEEAASFgoSQ0FMTF9TVEFURV9SVU5OSU5HEAESGAoUQ0FMTF9TVEFURV9TVUNDRUVERUQQAhIZChVDQUxMX1NUQVRFX1RPT0xfRVJST1IQAxIVChFDQUxMX1NUQVRFX0ZBSUxFRBAEMv8LCgxBZG1pblNlcnZpY2USVwoLTGlzdFBsdWdpbnMSHy50b29saG9zdC52MS5MaXN0UGx1Z2luc1JlcXVlc3QaIC50b29saG9zdC52MS5MaXN0UGx1Z2luc1Jlc3BvbnNlIgWSthgBBhJdCg1MaXN0SW5zdGFuY2VzEiEudG9vbGhvc3QudjEuTGlzdEluc3RhbmNlc1JlcXVlc3QaIi50b29saG9zdC52MS5MaXN0SW5zdGFuY2VzUmVzcG9uc2UiBZK2GAEGEksKB1Jlc3RhcnQSGy50b29saG9zdC52MS5SZXN0YXJ0UmVxdWVzdBocLnRvb2xob3N0LnYxLlJlc3RhcnRSZXNwb25zZSIFkrYYAQcSRQoFRHJhaW4SGS50b29saG9zdC52MS5EcmFpblJlcXVlc3QaGi50b29saG9zdC52MS5EcmFpblJlc3BvbnNlIgWSthgBBxJFCgVQYXVzZRIZLnRvb2xob3N0LnYxLlBhdXNlUmVxdWVzdBoaLnRvb2xob3N0LnYxLlBhdXNlUmVzcG9uc2UiBZK2GAEHEkgKBlJlc3VtZRIaLnRvb2xob3N0LnYxLlJlc3VtZVJlcXVlc3QaGy50b29saG9zdC52MS5SZXN1bWVSZXNwb25zZSIFkrYYAQcSYwoPQ2xlYXJRdWFyYW50aW5lEiMudG9vbGhvc3QudjEuQ2xlYXJRdWFyYW50aW5lUmVxdWVzdBokLnRvb2xob3N0LnYxLkNsZWFyUXVhcmFudGluZVJlc3BvbnNlIgWSthgBBxJICgZSZWxvYWQSGi50b29saG9zdC52MS5SZWxvYWRSZXF1ZXN0GhsudG9vbGhvc3QudjEuUmVsb2FkUmVzcG9uc2UiBZK2GAEKEmkKEURpZmZDb25maWd1cmF0aW9uEiUudG9vbGhvc3QudjEuRGlmZkNvbmZpZ3VyYXRpb25SZXF1ZXN0GiYudG9vbGhvc3QudjEuRGlmZkNvbmZpZ3VyYXRpb25SZXNwb25zZSIFkrYYAQkSSwoHVXBncmFkZRIbLnRvb2xob3N0LnYxLlVwZ3JhZGVSZXF1ZXN0GhwudG9vbGhvc3QudjEuVXBncmFkZVJlc3BvbnNlIgWSthgBCBJOCghSb2xsYmFjaxIcLnRvb2xob3N0LnYxLlJvbGxiYWNrUmVxdWVzdBodLnRvb2xob3N0LnYxLlJvbGxiYWNrUmVzcG9uc2UiBZK2GAEIEl0KDUxpc3RSZXZpc2lvbnMSIS50b29saG9zdC52MS5MaXN0UmV2aXNpb25zUmVxdWVzdBoiLnRvb2xob3N0LnYxLkxpc3RSZXZpc2lvbnNSZXNwb25zZSIFkrYYAQYSVwoLR2V0TG9ja0ZpbGUSHy50b29saG9zdC52MS5HZXRMb2NrRmlsZVJlcXVlc3QaIC50b29saG9zdC52MS5HZXRMb2NrRmlsZVJlc3BvbnNlIgWSthgBBhJZCgtXYXRjaEV2ZW50cxIfLnRvb2xob3N0LnYxLldhdGNoRXZlbnRzUmVxdWVzdBogLnRvb2xob3N0LnYxLldhdGNoRXZlbnRzUmVzcG9uc2UiBZK2GAELMAESUAoIVGFpbExvZ3MSHC50b29saG9zdC52MS5UYWlsTG9nc1JlcXVlc3QaHS50b29saG9zdC52MS5UYWlsTG9nc1Jlc3BvbnNlIgWSthgBDDABElEKCUxpc3RDYWxscxIdLnRvb2xob3N0LnYxLkxpc3RDYWxsc1JlcXVlc3QaHi50b29saG9zdC52MS5MaXN0Q2FsbHNSZXNwb25zZSIFkrYYAQUSTgoIR2V0U3RhdHMSHC50b29saG9zdC52MS5HZXRTdGF0c1JlcXVlc3QaHS50b29saG9zdC52MS5HZXRTdGF0c1Jlc3BvbnNlIgWSthgBDRJTCglSZWFkQXVkaXQSHS50b29saG9zdC52MS5SZWFkQXVkaXRSZXF1ZXN0Gh4udG9vbGhvc3QudjEuUmVhZEF1ZGl0UmVzcG9uc2UiBZK2GAEOMAFCPFo6Z2l0aHViLmNvbS90b29saG9zdC90b29saG9zdC9nZW4vZ28vdG9vbGhvc3QvdjE7dG9vbGhvc3R2MWIGcHJvdG8z", [file_google_protobuf_duration, file_google_protobuf_timestamp, file_toolhost_tool_v1_error, file_toolhost_tool_v1_permissions, file_toolhost_tool_v1_right, file_toolhost_tool_v1_status, file_toolhost_tool_v1_version, file_toolhost_v1_settled]);
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
 * Describes the message toolhost.v1.ListInstancesRequest.
 * Use `create(ListInstancesRequestSchema)` to create a new message.
 */
export const ListInstancesRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 12);
/**
 * Describes the message toolhost.v1.ListInstancesResponse.
 * Use `create(ListInstancesResponseSchema)` to create a new message.
 */
export const ListInstancesResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 13);
/**
 * Describes the message toolhost.v1.RestartRequest.
 * Use `create(RestartRequestSchema)` to create a new message.
 */
export const RestartRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 14);
/**
 * Describes the message toolhost.v1.RestartResponse.
 * Use `create(RestartResponseSchema)` to create a new message.
 */
export const RestartResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 15);
/**
 * Describes the message toolhost.v1.DrainRequest.
 * Use `create(DrainRequestSchema)` to create a new message.
 */
export const DrainRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 16);
/**
 * Describes the message toolhost.v1.DrainResponse.
 * Use `create(DrainResponseSchema)` to create a new message.
 */
export const DrainResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 17);
/**
 * Describes the message toolhost.v1.PauseRequest.
 * Use `create(PauseRequestSchema)` to create a new message.
 */
export const PauseRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 18);
/**
 * Describes the message toolhost.v1.PauseResponse.
 * Use `create(PauseResponseSchema)` to create a new message.
 */
export const PauseResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 19);
/**
 * Describes the message toolhost.v1.ResumeRequest.
 * Use `create(ResumeRequestSchema)` to create a new message.
 */
export const ResumeRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 20);
/**
 * Describes the message toolhost.v1.ResumeResponse.
 * Use `create(ResumeResponseSchema)` to create a new message.
 */
export const ResumeResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 21);
/**
 * Describes the message toolhost.v1.ClearQuarantineRequest.
 * Use `create(ClearQuarantineRequestSchema)` to create a new message.
 */
export const ClearQuarantineRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 22);
/**
 * Describes the message toolhost.v1.ClearQuarantineResponse.
 * Use `create(ClearQuarantineResponseSchema)` to create a new message.
 */
export const ClearQuarantineResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 23);
/**
 * Describes the message toolhost.v1.ReloadRequest.
 * Use `create(ReloadRequestSchema)` to create a new message.
 */
export const ReloadRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 24);
/**
 * Describes the message toolhost.v1.ReloadResponse.
 * Use `create(ReloadResponseSchema)` to create a new message.
 */
export const ReloadResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 25);
/**
 * Describes the message toolhost.v1.ConfigurationChange.
 * Use `create(ConfigurationChangeSchema)` to create a new message.
 */
export const ConfigurationChangeSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 26);
/**
 * Describes the message toolhost.v1.SettingChange.
 * Use `create(SettingChangeSchema)` to create a new message.
 */
export const SettingChangeSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 27);
/**
 * Describes the message toolhost.v1.DiffConfigurationRequest.
 * Use `create(DiffConfigurationRequestSchema)` to create a new message.
 */
export const DiffConfigurationRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 28);
/**
 * Describes the message toolhost.v1.DiffConfigurationResponse.
 * Use `create(DiffConfigurationResponseSchema)` to create a new message.
 */
export const DiffConfigurationResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 29);
/**
 * Describes the message toolhost.v1.ReloadFailure.
 * Use `create(ReloadFailureSchema)` to create a new message.
 */
export const ReloadFailureSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 30);
/**
 * Describes the message toolhost.v1.UpgradeRequest.
 * Use `create(UpgradeRequestSchema)` to create a new message.
 */
export const UpgradeRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 31);
/**
 * Describes the message toolhost.v1.UpgradeResponse.
 * Use `create(UpgradeResponseSchema)` to create a new message.
 */
export const UpgradeResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 32);
/**
 * Describes the message toolhost.v1.GetLockFileRequest.
 * Use `create(GetLockFileRequestSchema)` to create a new message.
 */
export const GetLockFileRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 33);
/**
 * Describes the message toolhost.v1.GetLockFileResponse.
 * Use `create(GetLockFileResponseSchema)` to create a new message.
 */
export const GetLockFileResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 34);
/**
 * Describes the message toolhost.v1.RollbackRequest.
 * Use `create(RollbackRequestSchema)` to create a new message.
 */
export const RollbackRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 35);
/**
 * Describes the message toolhost.v1.RollbackResponse.
 * Use `create(RollbackResponseSchema)` to create a new message.
 */
export const RollbackResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 36);
/**
 * Describes the message toolhost.v1.ListRevisionsRequest.
 * Use `create(ListRevisionsRequestSchema)` to create a new message.
 */
export const ListRevisionsRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 37);
/**
 * Describes the message toolhost.v1.ListRevisionsResponse.
 * Use `create(ListRevisionsResponseSchema)` to create a new message.
 */
export const ListRevisionsResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 38);
/**
 * Describes the message toolhost.v1.Revision.
 * Use `create(RevisionSchema)` to create a new message.
 */
export const RevisionSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 39);
/**
 * Describes the message toolhost.v1.WatchEventsRequest.
 * Use `create(WatchEventsRequestSchema)` to create a new message.
 */
export const WatchEventsRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 40);
/**
 * Describes the message toolhost.v1.WatchEventsResponse.
 * Use `create(WatchEventsResponseSchema)` to create a new message.
 */
export const WatchEventsResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 41);
/**
 * Describes the message toolhost.v1.PluginEvent.
 * Use `create(PluginEventSchema)` to create a new message.
 */
export const PluginEventSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 42);
/**
 * Describes the message toolhost.v1.TailLogsRequest.
 * Use `create(TailLogsRequestSchema)` to create a new message.
 */
export const TailLogsRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 43);
/**
 * Describes the message toolhost.v1.TailLogsResponse.
 * Use `create(TailLogsResponseSchema)` to create a new message.
 */
export const TailLogsResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 44);
/**
 * Describes the message toolhost.v1.LogLine.
 * Use `create(LogLineSchema)` to create a new message.
 */
export const LogLineSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 45);
/**
 * Describes the message toolhost.v1.ListCallsRequest.
 * Use `create(ListCallsRequestSchema)` to create a new message.
 */
export const ListCallsRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 46);
/**
 * Describes the message toolhost.v1.ListCallsResponse.
 * Use `create(ListCallsResponseSchema)` to create a new message.
 */
export const ListCallsResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 47);
/**
 * Describes the message toolhost.v1.CallRecord.
 * Use `create(CallRecordSchema)` to create a new message.
 */
export const CallRecordSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 48);
/**
 * Describes the message toolhost.v1.GetStatsRequest.
 * Use `create(GetStatsRequestSchema)` to create a new message.
 */
export const GetStatsRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 49);
/**
 * Describes the message toolhost.v1.GetStatsResponse.
 * Use `create(GetStatsResponseSchema)` to create a new message.
 */
export const GetStatsResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 50);
/**
 * Describes the message toolhost.v1.ToolStats.
 * Use `create(ToolStatsSchema)` to create a new message.
 */
export const ToolStatsSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 51);
/**
 * Describes the message toolhost.v1.ReadAuditRequest.
 * Use `create(ReadAuditRequestSchema)` to create a new message.
 */
export const ReadAuditRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 52);
/**
 * Describes the message toolhost.v1.ReadAuditResponse.
 * Use `create(ReadAuditResponseSchema)` to create a new message.
 */
export const ReadAuditResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_admin_service, 53);
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
