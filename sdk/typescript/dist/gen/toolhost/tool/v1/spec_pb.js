// Messages that the plugin contract, toolhost's API and agentd's API share.
//
// Arguments, structured results, context values and schemas are JSON text in `bytes` fields, so
// that no hop has to decode and encode them again.
import { fileDesc, messageDesc } from "@bufbuild/protobuf/codegenv2";
import { file_google_protobuf_duration } from "@bufbuild/protobuf/wkt";
/**
 * Describes the file toolhost/tool/v1/spec.proto.
 */
export const file_toolhost_tool_v1_spec = /*@__PURE__*/ fileDesc("Cht0b29saG9zdC90b29sL3YxL3NwZWMucHJvdG8SEHRvb2xob3N0LnRvb2wudjEivAYKCFRvb2xTcGVjEgwKBG5hbWUYASABKAkSDwoHdmVyc2lvbhgCIAEoCRIUCgxkaXNwbGF5X25hbWUYAyABKAkSEwoLZGVzY3JpcHRpb24YBCABKAkSEAoIY2F0ZWdvcnkYBSABKAkSDAoEdGFncxgGIAMoCRIUCgxpbnB1dF9zY2hlbWEYByABKAwSFQoNb3V0cHV0X3NjaGVtYRgIIAEoDBI2Cg5pbnB1dF9leGFtcGxlcxgJIAMoCzIeLnRvb2xob3N0LnRvb2wudjEuSW5wdXRFeGFtcGxlEioKB3RpbWVvdXQYCiABKAsyGS5nb29nbGUucHJvdG9idWYuRHVyYXRpb24SIAoYcHJvZ3Jlc3NfZXh0ZW5kc190aW1lb3V0GAsgASgIEiwKBXJldHJ5GAwgASgLMh0udG9vbGhvc3QudG9vbC52MS5SZXRyeVBvbGljeRIdChVyYXRlX2xpbWl0X3Blcl9taW51dGUYDSABKA0SGgoSbWVtb3J5X2xpbWl0X2J5dGVzGA4gASgEEhQKDGNvc3RfcGVyX3VzZRgPIAEoARIVCg1yZXF1aXJlc19hdXRoGBAgAygJEhYKDnNhbmRib3hfZXhlbXB0GBEgASgIEhkKEXBhcnRpYWxfYXJndW1lbnRzGBIgASgIEhEKCWRhbmdlcm91cxgTIAEoCBIRCglyZWFkX29ubHkYFCABKAgSEgoKaWRlbXBvdGVudBgVIAEoCBIOCgZzZXJpYWwYFiABKAgSFQoNcmV0dXJuX2RpcmVjdBgXIAEoCBIOCgZzdHJpY3QYGCABKAgSDwoHZHluYW1pYxgZIAEoCBIUCgxjb250ZXh0X2tleXMYGiADKAkSOgoIbWV0YWRhdGEYGyADKAsyKC50b29saG9zdC50b29sLnYxLlRvb2xTcGVjLk1ldGFkYXRhRW50cnkSEwoLZWZmZWN0X2tleXMYHCADKAkSDwoHc2V0dGxlcxgdIAEoCBIQCghwYXJhbGxlbBgeIAEoCBINCgVzZWFscxgfIAEoCBovCg1NZXRhZGF0YUVudHJ5EgsKA2tleRgBIAEoCRINCgV2YWx1ZRgCIAEoDDoCOAEiNgoMSW5wdXRFeGFtcGxlEhMKC2Rlc2NyaXB0aW9uGAEgASgJEhEKCWFyZ3VtZW50cxgCIAEoDCKHAQoLUmV0cnlQb2xpY3kSFAoMbWF4X2F0dGVtcHRzGAEgASgNEjIKD2luaXRpYWxfYmFja29mZhgCIAEoCzIZLmdvb2dsZS5wcm90b2J1Zi5EdXJhdGlvbhIuCgttYXhfYmFja29mZhgDIAEoCzIZLmdvb2dsZS5wcm90b2J1Zi5EdXJhdGlvbkI9WjtnaXRodWIuY29tL3Rvb2xob3N0L3Rvb2xob3N0L2dlbi9nby90b29saG9zdC90b29sL3YxO3Rvb2x2MWIGcHJvdG8z", [file_google_protobuf_duration]);
/**
 * Describes the message toolhost.tool.v1.ToolSpec.
 * Use `create(ToolSpecSchema)` to create a new message.
 */
export const ToolSpecSchema = /*@__PURE__*/ messageDesc(file_toolhost_tool_v1_spec, 0);
/**
 * Describes the message toolhost.tool.v1.InputExample.
 * Use `create(InputExampleSchema)` to create a new message.
 */
export const InputExampleSchema = /*@__PURE__*/ messageDesc(file_toolhost_tool_v1_spec, 1);
/**
 * Describes the message toolhost.tool.v1.RetryPolicy.
 * Use `create(RetryPolicySchema)` to create a new message.
 */
export const RetryPolicySchema = /*@__PURE__*/ messageDesc(file_toolhost_tool_v1_spec, 2);
