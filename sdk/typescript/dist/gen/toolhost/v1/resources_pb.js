// Resources and prompts that plugins offer besides tools.
import { enumDesc, fileDesc, messageDesc } from "@bufbuild/protobuf/codegenv2";
import { file_toolhost_tool_v1_principal } from "../tool/v1/principal_pb.js";
import { file_toolhost_tool_v1_result } from "../tool/v1/result_pb.js";
/**
 * Describes the file toolhost/v1/resources.proto.
 */
export const file_toolhost_v1_resources = /*@__PURE__*/ fileDesc("Cht0b29saG9zdC92MS9yZXNvdXJjZXMucHJvdG8SC3Rvb2xob3N0LnYxInsKCFJlc291cmNlEg4KBnBsdWdpbhgBIAEoCRILCgN1cmkYAiABKAkSDAoEbmFtZRgDIAEoCRINCgV0aXRsZRgEIAEoCRITCgtkZXNjcmlwdGlvbhgFIAEoCRISCgptZWRpYV90eXBlGAYgASgJEgwKBHNpemUYByABKAQifgoQUmVzb3VyY2VUZW1wbGF0ZRIOCgZwbHVnaW4YASABKAkSFAoMdXJpX3RlbXBsYXRlGAIgASgJEgwKBG5hbWUYAyABKAkSDQoFdGl0bGUYBCABKAkSEwoLZGVzY3JpcHRpb24YBSABKAkSEgoKbWVkaWFfdHlwZRgGIAEoCSIwCg5Vbmxpc3RlZFBsdWdpbhIOCgZwbHVnaW4YASABKAkSDgoGcmVhc29uGAIgASgJIpEBChRMaXN0UmVzb3VyY2VzUmVxdWVzdBIOCgZwbHVnaW4YASABKAkSDwoHc2Vzc2lvbhgCIAEoCRIRCglwYWdlX3NpemUYAyABKAUSEgoKcGFnZV90b2tlbhgEIAEoCRIxCgxvbl9iZWhhbGZfb2YYBSABKAsyGy50b29saG9zdC50b29sLnYxLlByaW5jaXBhbCKJAQoVTGlzdFJlc291cmNlc1Jlc3BvbnNlEigKCXJlc291cmNlcxgBIAMoCzIVLnRvb2xob3N0LnYxLlJlc291cmNlEhcKD25leHRfcGFnZV90b2tlbhgCIAEoCRItCgh1bmxpc3RlZBgDIAMoCzIbLnRvb2xob3N0LnYxLlVubGlzdGVkUGx1Z2luIpkBChxMaXN0UmVzb3VyY2VUZW1wbGF0ZXNSZXF1ZXN0Eg4KBnBsdWdpbhgBIAEoCRIPCgdzZXNzaW9uGAIgASgJEhEKCXBhZ2Vfc2l6ZRgDIAEoBRISCgpwYWdlX3Rva2VuGAQgASgJEjEKDG9uX2JlaGFsZl9vZhgFIAEoCzIbLnRvb2xob3N0LnRvb2wudjEuUHJpbmNpcGFsIqIBCh1MaXN0UmVzb3VyY2VUZW1wbGF0ZXNSZXNwb25zZRI5ChJyZXNvdXJjZV90ZW1wbGF0ZXMYASADKAsyHS50b29saG9zdC52MS5SZXNvdXJjZVRlbXBsYXRlEhcKD25leHRfcGFnZV90b2tlbhgCIAEoCRItCgh1bmxpc3RlZBgDIAMoCzIbLnRvb2xob3N0LnYxLlVubGlzdGVkUGx1Z2luIo8BChNSZWFkUmVzb3VyY2VSZXF1ZXN0Eg4KBnBsdWdpbhgBIAEoCRILCgN1cmkYAiABKAkSDwoHc2Vzc2lvbhgDIAEoCRIXCg9tYXhfc2hvd25fYnl0ZXMYBCABKA0SMQoMb25fYmVoYWxmX29mGAUgASgLMhsudG9vbGhvc3QudG9vbC52MS5QcmluY2lwYWwiXgoPUmVzb3VyY2VDb250ZW50EgsKA3VyaRgBIAEoCRISCgptZWRpYV90eXBlGAIgASgJEioKB2NvbnRlbnQYAyABKAsyGS50b29saG9zdC50b29sLnYxLkNvbnRlbnQiVgoUUmVhZFJlc291cmNlUmVzcG9uc2USDgoGcGx1Z2luGAEgASgJEi4KCGNvbnRlbnRzGAIgAygLMhwudG9vbGhvc3QudjEuUmVzb3VyY2VDb250ZW50InoKBlByb21wdBIOCgZwbHVnaW4YASABKAkSDAoEbmFtZRgCIAEoCRINCgV0aXRsZRgDIAEoCRITCgtkZXNjcmlwdGlvbhgEIAEoCRIuCglhcmd1bWVudHMYBSADKAsyGy50b29saG9zdC52MS5Qcm9tcHRBcmd1bWVudCJUCg5Qcm9tcHRBcmd1bWVudBIMCgRuYW1lGAEgASgJEg0KBXRpdGxlGAIgASgJEhMKC2Rlc2NyaXB0aW9uGAMgASgJEhAKCHJlcXVpcmVkGAQgASgIIo8BChJMaXN0UHJvbXB0c1JlcXVlc3QSDgoGcGx1Z2luGAEgASgJEg8KB3Nlc3Npb24YAiABKAkSEQoJcGFnZV9zaXplGAMgASgFEhIKCnBhZ2VfdG9rZW4YBCABKAkSMQoMb25fYmVoYWxmX29mGAUgASgLMhsudG9vbGhvc3QudG9vbC52MS5QcmluY2lwYWwigwEKE0xpc3RQcm9tcHRzUmVzcG9uc2USJAoHcHJvbXB0cxgBIAMoCzITLnRvb2xob3N0LnYxLlByb21wdBIXCg9uZXh0X3BhZ2VfdG9rZW4YAiABKAkSLQoIdW5saXN0ZWQYAyADKAsyGy50b29saG9zdC52MS5Vbmxpc3RlZFBsdWdpbiLnAQoQR2V0UHJvbXB0UmVxdWVzdBIOCgZwbHVnaW4YASABKAkSDAoEbmFtZRgCIAEoCRI/Cglhcmd1bWVudHMYAyADKAsyLC50b29saG9zdC52MS5HZXRQcm9tcHRSZXF1ZXN0LkFyZ3VtZW50c0VudHJ5Eg8KB3Nlc3Npb24YBCABKAkSMQoMb25fYmVoYWxmX29mGAUgASgLMhsudG9vbGhvc3QudG9vbC52MS5QcmluY2lwYWwaMAoOQXJndW1lbnRzRW50cnkSCwoDa2V5GAEgASgJEg0KBXZhbHVlGAIgASgJOgI4ASKeAQoNUHJvbXB0TWVzc2FnZRIlCgRyb2xlGAEgASgOMhcudG9vbGhvc3QudjEuUHJvbXB0Um9sZRIsCgdjb250ZW50GAIgASgLMhkudG9vbGhvc3QudG9vbC52MS5Db250ZW50SAASMAoIcmVzb3VyY2UYAyABKAsyHC50b29saG9zdC52MS5SZXNvdXJjZUNvbnRlbnRIAEIGCgRib2R5ImYKEUdldFByb21wdFJlc3BvbnNlEg4KBnBsdWdpbhgBIAEoCRITCgtkZXNjcmlwdGlvbhgCIAEoCRIsCghtZXNzYWdlcxgDIAMoCzIaLnRvb2xob3N0LnYxLlByb21wdE1lc3NhZ2UiuAIKF0NvbXBsZXRlQXJndW1lbnRSZXF1ZXN0Eg4KBnBsdWdpbhgBIAEoCRIQCgZwcm9tcHQYAiABKAlIABIWCgx1cmlfdGVtcGxhdGUYAyABKAlIABIQCghhcmd1bWVudBgEIAEoCRINCgV2YWx1ZRgFIAEoCRJGCglhcmd1bWVudHMYBiADKAsyMy50b29saG9zdC52MS5Db21wbGV0ZUFyZ3VtZW50UmVxdWVzdC5Bcmd1bWVudHNFbnRyeRIPCgdzZXNzaW9uGAcgASgJEjEKDG9uX2JlaGFsZl9vZhgIIAEoCzIbLnRvb2xob3N0LnRvb2wudjEuUHJpbmNpcGFsGjAKDkFyZ3VtZW50c0VudHJ5EgsKA2tleRgBIAEoCRINCgV2YWx1ZRgCIAEoCToCOAFCBAoCb2YiRwoYQ29tcGxldGVBcmd1bWVudFJlc3BvbnNlEg4KBnZhbHVlcxgBIAMoCRINCgV0b3RhbBgCIAEoBRIMCgRtb3JlGAMgASgIIpkBChVXYXRjaFJlc291cmNlc1JlcXVlc3QSDgoGcGx1Z2luGAEgASgJEiwKCXJlc291cmNlcxgCIAMoCzIZLnRvb2xob3N0LnYxLlJlc291cmNlTmFtZRIPCgdzZXNzaW9uGAMgASgJEjEKDG9uX2JlaGFsZl9vZhgEIAEoCzIbLnRvb2xob3N0LnRvb2wudjEuUHJpbmNpcGFsIisKDFJlc291cmNlTmFtZRIOCgZwbHVnaW4YASABKAkSCwoDdXJpGAIgASgJImkKFldhdGNoUmVzb3VyY2VzUmVzcG9uc2USDgoGcGx1Z2luGAEgASgJEhkKEXJlc291cmNlc19jaGFuZ2VkGAIgASgIEhcKD3Byb21wdHNfY2hhbmdlZBgDIAEoCBILCgN1cmkYBCABKAkqWgoKUHJvbXB0Um9sZRIbChdQUk9NUFRfUk9MRV9VTlNQRUNJRklFRBAAEhQKEFBST01QVF9ST0xFX1VTRVIQARIZChVQUk9NUFRfUk9MRV9BU1NJU1RBTlQQAkI8WjpnaXRodWIuY29tL3Rvb2xob3N0L3Rvb2xob3N0L2dlbi9nby90b29saG9zdC92MTt0b29saG9zdHYxYgZwcm90bzM", [file_toolhost_tool_v1_principal, file_toolhost_tool_v1_result]);
/**
 * Describes the message toolhost.v1.Resource.
 * Use `create(ResourceSchema)` to create a new message.
 */
export const ResourceSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_resources, 0);
/**
 * Describes the message toolhost.v1.ResourceTemplate.
 * Use `create(ResourceTemplateSchema)` to create a new message.
 */
export const ResourceTemplateSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_resources, 1);
/**
 * Describes the message toolhost.v1.UnlistedPlugin.
 * Use `create(UnlistedPluginSchema)` to create a new message.
 */
export const UnlistedPluginSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_resources, 2);
/**
 * Describes the message toolhost.v1.ListResourcesRequest.
 * Use `create(ListResourcesRequestSchema)` to create a new message.
 */
export const ListResourcesRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_resources, 3);
/**
 * Describes the message toolhost.v1.ListResourcesResponse.
 * Use `create(ListResourcesResponseSchema)` to create a new message.
 */
export const ListResourcesResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_resources, 4);
/**
 * Describes the message toolhost.v1.ListResourceTemplatesRequest.
 * Use `create(ListResourceTemplatesRequestSchema)` to create a new message.
 */
export const ListResourceTemplatesRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_resources, 5);
/**
 * Describes the message toolhost.v1.ListResourceTemplatesResponse.
 * Use `create(ListResourceTemplatesResponseSchema)` to create a new message.
 */
export const ListResourceTemplatesResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_resources, 6);
/**
 * Describes the message toolhost.v1.ReadResourceRequest.
 * Use `create(ReadResourceRequestSchema)` to create a new message.
 */
export const ReadResourceRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_resources, 7);
/**
 * Describes the message toolhost.v1.ResourceContent.
 * Use `create(ResourceContentSchema)` to create a new message.
 */
export const ResourceContentSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_resources, 8);
/**
 * Describes the message toolhost.v1.ReadResourceResponse.
 * Use `create(ReadResourceResponseSchema)` to create a new message.
 */
export const ReadResourceResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_resources, 9);
/**
 * Describes the message toolhost.v1.Prompt.
 * Use `create(PromptSchema)` to create a new message.
 */
export const PromptSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_resources, 10);
/**
 * Describes the message toolhost.v1.PromptArgument.
 * Use `create(PromptArgumentSchema)` to create a new message.
 */
export const PromptArgumentSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_resources, 11);
/**
 * Describes the message toolhost.v1.ListPromptsRequest.
 * Use `create(ListPromptsRequestSchema)` to create a new message.
 */
export const ListPromptsRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_resources, 12);
/**
 * Describes the message toolhost.v1.ListPromptsResponse.
 * Use `create(ListPromptsResponseSchema)` to create a new message.
 */
export const ListPromptsResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_resources, 13);
/**
 * Describes the message toolhost.v1.GetPromptRequest.
 * Use `create(GetPromptRequestSchema)` to create a new message.
 */
export const GetPromptRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_resources, 14);
/**
 * Describes the message toolhost.v1.PromptMessage.
 * Use `create(PromptMessageSchema)` to create a new message.
 */
export const PromptMessageSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_resources, 15);
/**
 * Describes the message toolhost.v1.GetPromptResponse.
 * Use `create(GetPromptResponseSchema)` to create a new message.
 */
export const GetPromptResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_resources, 16);
/**
 * Describes the message toolhost.v1.CompleteArgumentRequest.
 * Use `create(CompleteArgumentRequestSchema)` to create a new message.
 */
export const CompleteArgumentRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_resources, 17);
/**
 * Describes the message toolhost.v1.CompleteArgumentResponse.
 * Use `create(CompleteArgumentResponseSchema)` to create a new message.
 */
export const CompleteArgumentResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_resources, 18);
/**
 * Describes the message toolhost.v1.WatchResourcesRequest.
 * Use `create(WatchResourcesRequestSchema)` to create a new message.
 */
export const WatchResourcesRequestSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_resources, 19);
/**
 * Describes the message toolhost.v1.ResourceName.
 * Use `create(ResourceNameSchema)` to create a new message.
 */
export const ResourceNameSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_resources, 20);
/**
 * Describes the message toolhost.v1.WatchResourcesResponse.
 * Use `create(WatchResourcesResponseSchema)` to create a new message.
 */
export const WatchResourcesResponseSchema = /*@__PURE__*/ messageDesc(file_toolhost_v1_resources, 21);
/**
 * PromptRole says whose words a message of a prompt is.
 *
 * @generated from enum toolhost.v1.PromptRole
 */
export var PromptRole;
(function (PromptRole) {
    /**
     * Not set. No message has it.
     *
     * @generated from enum value: PROMPT_ROLE_UNSPECIFIED = 0;
     */
    PromptRole[PromptRole["UNSPECIFIED"] = 0] = "UNSPECIFIED";
    /**
     * The words of the user.
     *
     * @generated from enum value: PROMPT_ROLE_USER = 1;
     */
    PromptRole[PromptRole["USER"] = 1] = "USER";
    /**
     * The words of the model, as the plugin imagines them.
     *
     * @generated from enum value: PROMPT_ROLE_ASSISTANT = 2;
     */
    PromptRole[PromptRole["ASSISTANT"] = 2] = "ASSISTANT";
})(PromptRole || (PromptRole = {}));
/**
 * Describes the enum toolhost.v1.PromptRole.
 */
export const PromptRoleSchema = /*@__PURE__*/ enumDesc(file_toolhost_v1_resources, 0);
