// The API with which a principal logs in to MCP servers behind toolhost.
import { fileDesc, messageDesc, serviceDesc } from "@bufbuild/protobuf/codegenv2";
import { file_google_protobuf_timestamp } from "@bufbuild/protobuf/wkt";
import { file_toolhost_tool_v1_right } from "../tool/v1/right_pb.js";
/**
 * Describes the file toolhost/v1/login_service.proto.
 */
export const file_toolhost_v1_login_service = /*@__PURE__*/ fileDesc("Ch90b29saG9zdC92MS9sb2dpbl9zZXJ2aWNlLnByb3RvEgt0b29saG9zdC52MSKBAgoFTG9naW4SDgoGcGx1Z2luGAEgASgJEgsKA3VybBgCIAEoCRINCgVncmFudBgDIAEoCRIRCglsb2dnZWRfaW4YBCABKAgSDgoGaXNzdWVyGAUgASgJEg4KBnNjb3BlcxgGIAMoCRIWCg5taXNzaW5nX3Njb3BlcxgHIAMoCRIvCgtjcmVhdGVfdGltZRgIIAEoCzIaLmdvb2dsZS5wcm90b2J1Zi5UaW1lc3RhbXASLwoLZXhwaXJlX3RpbWUYCSABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wEg4KBnJlbmV3cxgKIAEoCBIPCgdwcm9ibGVtGAsgASgJIiMKEUxpc3RMb2dpbnNSZXF1ZXN0Eg4KBnBsdWdpbhgBIAEoCSI4ChJMaXN0TG9naW5zUmVzcG9uc2USIgoGbG9naW5zGAEgAygLMhIudG9vbGhvc3QudjEuTG9naW4iOQoRQmVnaW5Mb2dpblJlcXVlc3QSDgoGcGx1Z2luGAEgASgJEhQKDHJlZGlyZWN0X3VyaRgCIAEoCSLsAQoSQmVnaW5Mb2dpblJlc3BvbnNlEhAKCGxvZ2luX2lkGAEgASgJEgsKA3VybBgCIAEoCRIOCgZpc3N1ZXIYAyABKAkSDgoGc2NvcGVzGAQgAygJEi8KC2V4cGlyZV90aW1lGAUgASgLMhouZ29vZ2xlLnByb3RvYnVmLlRpbWVzdGFtcBITCgticm93c2VyX3VybBgGIAEoCRINCgVzdGF0ZRgHIAEoCRIRCgl1c2VyX2NvZGUYCCABKAkSEgoKdmVyaWZ5X3VybBgJIAEoCRIbChN2ZXJpZnlfdXJsX2NvbXBsZXRlGAogASgJIo0BChJGaW5pc2hMb2dpblJlcXVlc3QSDgoGcGx1Z2luGAEgASgJEhAKCGxvZ2luX2lkGAIgASgJEgwKBGNvZGUYAyABKAkSDQoFc3RhdGUYBCABKAkSDgoGaXNzdWVyGAUgASgJEg0KBWVycm9yGAYgASgJEhkKEWVycm9yX2Rlc2NyaXB0aW9uGAcgASgJIjgKE0ZpbmlzaExvZ2luUmVzcG9uc2USIQoFbG9naW4YASABKAsyEi50b29saG9zdC52MS5Mb2dpbiIfCg1Mb2dvdXRSZXF1ZXN0Eg4KBnBsdWdpbhgBIAEoCSJDCg5Mb2dvdXRSZXNwb25zZRIVCg13YXNfbG9nZ2VkX2luGAEgASgIEhoKEnJldm9jYXRpb25fcHJvYmxlbRgCIAEoCTLdAgoMTG9naW5TZXJ2aWNlElQKCkxpc3RMb2dpbnMSHi50b29saG9zdC52MS5MaXN0TG9naW5zUmVxdWVzdBofLnRvb2xob3N0LnYxLkxpc3RMb2dpbnNSZXNwb25zZSIFkrYYAQESVAoKQmVnaW5Mb2dpbhIeLnRvb2xob3N0LnYxLkJlZ2luTG9naW5SZXF1ZXN0Gh8udG9vbGhvc3QudjEuQmVnaW5Mb2dpblJlc3BvbnNlIgWSthgBFxJXCgtGaW5pc2hMb2dpbhIfLnRvb2xob3N0LnYxLkZpbmlzaExvZ2luUmVxdWVzdBogLnRvb2xob3N0LnYxLkZpbmlzaExvZ2luUmVzcG9uc2UiBZK2GAEXEkgKBkxvZ291dBIaLnRvb2xob3N0LnYxLkxvZ291dFJlcXVlc3QaGy50b29saG9zdC52MS5Mb2dvdXRSZXNwb25zZSIFkrYYARdCPFo6Z2l0aHViLmNvbS90b29saG9zdC90b29saG9zdC9nZW4vZ28vdG9vbGhvc3QvdjE7dG9vbGhvc3R2MWIGcHJvdG8z", [file_google_protobuf_timestamp, file_toolhost_tool_v1_right]);
/**
 * Describes the message toolhost.v1.Login.
 * Use `create(LoginSchema)` to create a new message.
 */
export const LoginSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_login_service, 0);
/**
 * Describes the message toolhost.v1.ListLoginsRequest.
 * Use `create(ListLoginsRequestSchema)` to create a new message.
 */
export const ListLoginsRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_login_service, 1);
/**
 * Describes the message toolhost.v1.ListLoginsResponse.
 * Use `create(ListLoginsResponseSchema)` to create a new message.
 */
export const ListLoginsResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_login_service, 2);
/**
 * Describes the message toolhost.v1.BeginLoginRequest.
 * Use `create(BeginLoginRequestSchema)` to create a new message.
 */
export const BeginLoginRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_login_service, 3);
/**
 * Describes the message toolhost.v1.BeginLoginResponse.
 * Use `create(BeginLoginResponseSchema)` to create a new message.
 */
export const BeginLoginResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_login_service, 4);
/**
 * Describes the message toolhost.v1.FinishLoginRequest.
 * Use `create(FinishLoginRequestSchema)` to create a new message.
 */
export const FinishLoginRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_login_service, 5);
/**
 * Describes the message toolhost.v1.FinishLoginResponse.
 * Use `create(FinishLoginResponseSchema)` to create a new message.
 */
export const FinishLoginResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_login_service, 6);
/**
 * Describes the message toolhost.v1.LogoutRequest.
 * Use `create(LogoutRequestSchema)` to create a new message.
 */
export const LogoutRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_login_service, 7);
/**
 * Describes the message toolhost.v1.LogoutResponse.
 * Use `create(LogoutResponseSchema)` to create a new message.
 */
export const LogoutResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_login_service, 8);
/**
 * LoginService logs the caller in to MCP servers over HTTP that require OAuth 2.1. Every RPC concerns
 * the logins of the caller itself; a delegate cannot log in another principal. The tokens stay in
 * toolhost.
 *
 * Each RPC fails with DENIED for a caller without its right, for an anonymous caller, and for a token
 * that is limited to some tools or roles. It fails with NOT_FOUND if the plugin does not exist or is
 * not an MCP server at a URL.
 * Errors are toolhost.tool.v1.Error as a detail of the gRPC status.
 *
 * @generated from service toolhost.v1.LoginService
 */
export const LoginService = /*@__PURE__*/ serviceDesc(file_toolhost_v1_login_service, 0);
