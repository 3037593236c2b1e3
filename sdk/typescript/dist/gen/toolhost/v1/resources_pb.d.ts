import type { GenEnum, GenFile, GenMessage } from "@bufbuild/protobuf/codegenv2";
import type { Principal } from "../tool/v1/principal_pb.js";
import type { Content } from "../tool/v1/result_pb.js";
import type { Message } from "@bufbuild/protobuf";
/**
 * Describes the file toolhost/v1/resources.proto.
 */
export declare const file_toolhost_v1_resources: GenFile;
/**
 * Resource is data that a plugin offers by its URI, such as a file or a table. The plugin chose all
 * texts.
 *
 * @generated from message toolhost.v1.Resource
 */
export type Resource = Message<"toolhost.v1.Resource"> & {
    /**
     * The plugin that has the resource.
     *
     * @generated from field: string plugin = 1;
     */
    plugin: string;
    /**
     * The name of the resource within its plugin. It says nothing about which plugin has the resource:
     * two plugins can offer the same URI.
     *
     * @generated from field: string uri = 2;
     */
    uri: string;
    /**
     * A short name for programs.
     *
     * @generated from field: string name = 3;
     */
    name: string;
    /**
     * A name for people. May be empty.
     *
     * @generated from field: string title = 4;
     */
    title: string;
    /**
     * What the resource is. May be empty.
     *
     * @generated from field: string description = 5;
     */
    description: string;
    /**
     * The IANA media type. Empty means that it is unknown.
     *
     * @generated from field: string media_type = 6;
     */
    mediaType: string;
    /**
     * The size in bytes, as the plugin says. 0 means that it is unknown.
     *
     * @generated from field: uint64 size = 7;
     */
    size: bigint;
};
/**
 * Describes the message toolhost.v1.Resource.
 * Use `create(ResourceSchema)` to create a new message.
 */
export declare const ResourceSchema: GenMessage<Resource>;
/**
 * ResourceTemplate describes resources whose URIs follow from arguments.
 *
 * @generated from message toolhost.v1.ResourceTemplate
 */
export type ResourceTemplate = Message<"toolhost.v1.ResourceTemplate"> & {
    /**
     * The plugin that has the resources.
     *
     * @generated from field: string plugin = 1;
     */
    plugin: string;
    /**
     * The template in the form of RFC 6570, such as `db:///{table}`.
     *
     * @generated from field: string uri_template = 2;
     */
    uriTemplate: string;
    /**
     * A short name for programs.
     *
     * @generated from field: string name = 3;
     */
    name: string;
    /**
     * A name for people. May be empty.
     *
     * @generated from field: string title = 4;
     */
    title: string;
    /**
     * What the resources are. May be empty.
     *
     * @generated from field: string description = 5;
     */
    description: string;
    /**
     * The IANA media type of all these resources. Empty means that it differs or is unknown.
     *
     * @generated from field: string media_type = 6;
     */
    mediaType: string;
};
/**
 * Describes the message toolhost.v1.ResourceTemplate.
 * Use `create(ResourceTemplateSchema)` to create a new message.
 */
export declare const ResourceTemplateSchema: GenMessage<ResourceTemplate>;
/**
 * UnlistedPlugin is a plugin whose resources or prompts could not be listed.
 *
 * @generated from message toolhost.v1.UnlistedPlugin
 */
export type UnlistedPlugin = Message<"toolhost.v1.UnlistedPlugin"> & {
    /**
     * The name of the plugin.
     *
     * @generated from field: string plugin = 1;
     */
    plugin: string;
    /**
     * Why it could not be asked, or did not answer.
     *
     * @generated from field: string reason = 2;
     */
    reason: string;
};
/**
 * Describes the message toolhost.v1.UnlistedPlugin.
 * Use `create(UnlistedPluginSchema)` to create a new message.
 */
export declare const UnlistedPluginSchema: GenMessage<UnlistedPlugin>;
/**
 * ListResourcesRequest selects resources.
 *
 * @generated from message toolhost.v1.ListResourcesRequest
 */
export type ListResourcesRequest = Message<"toolhost.v1.ListResourcesRequest"> & {
    /**
     * The plugin whose resources are wanted. Empty means all plugins.
     *
     * @generated from field: string plugin = 1;
     */
    plugin: string;
    /**
     * The session that the request belongs to. Empty means the principal's default session.
     *
     * @generated from field: string session = 2;
     */
    session: string;
    /**
     * The maximum number of resources in the response. 0 means 100. Values over 1000 mean 1000.
     *
     * @generated from field: int32 page_size = 3;
     */
    pageSize: number;
    /**
     * The token of the page: `next_page_token` of the previous page. Empty means the first page.
     *
     * @generated from field: string page_token = 4;
     */
    pageToken: string;
    /**
     * The principal that the request is for. Unset means the caller itself. See "Delegation" at
     * ToolService.
     *
     * @generated from field: toolhost.tool.v1.Principal on_behalf_of = 5;
     */
    onBehalfOf?: Principal | undefined;
};
/**
 * Describes the message toolhost.v1.ListResourcesRequest.
 * Use `create(ListResourcesRequestSchema)` to create a new message.
 */
export declare const ListResourcesRequestSchema: GenMessage<ListResourcesRequest>;
/**
 * ListResourcesResponse returns one page of resources, ordered by plugin and URI.
 *
 * @generated from message toolhost.v1.ListResourcesResponse
 */
export type ListResourcesResponse = Message<"toolhost.v1.ListResourcesResponse"> & {
    /**
     * The resources.
     *
     * @generated from field: repeated toolhost.v1.Resource resources = 1;
     */
    resources: Resource[];
    /**
     * The token of the next page. Empty means that this page is the last one.
     *
     * @generated from field: string next_page_token = 2;
     */
    nextPageToken: string;
    /**
     * The plugins that could not be listed. Each page has them.
     *
     * @generated from field: repeated toolhost.v1.UnlistedPlugin unlisted = 3;
     */
    unlisted: UnlistedPlugin[];
};
/**
 * Describes the message toolhost.v1.ListResourcesResponse.
 * Use `create(ListResourcesResponseSchema)` to create a new message.
 */
export declare const ListResourcesResponseSchema: GenMessage<ListResourcesResponse>;
/**
 * ListResourceTemplatesRequest selects templates.
 *
 * @generated from message toolhost.v1.ListResourceTemplatesRequest
 */
export type ListResourceTemplatesRequest = Message<"toolhost.v1.ListResourceTemplatesRequest"> & {
    /**
     * The plugin whose templates are wanted. Empty means all plugins.
     *
     * @generated from field: string plugin = 1;
     */
    plugin: string;
    /**
     * The session that the request belongs to. Empty means the principal's default session.
     *
     * @generated from field: string session = 2;
     */
    session: string;
    /**
     * The maximum number of templates in the response. 0 means 100. Values over 1000 mean 1000.
     *
     * @generated from field: int32 page_size = 3;
     */
    pageSize: number;
    /**
     * The token of the page: `next_page_token` of the previous page. Empty means the first page.
     *
     * @generated from field: string page_token = 4;
     */
    pageToken: string;
    /**
     * The principal that the request is for. Unset means the caller itself. See "Delegation" at
     * ToolService.
     *
     * @generated from field: toolhost.tool.v1.Principal on_behalf_of = 5;
     */
    onBehalfOf?: Principal | undefined;
};
/**
 * Describes the message toolhost.v1.ListResourceTemplatesRequest.
 * Use `create(ListResourceTemplatesRequestSchema)` to create a new message.
 */
export declare const ListResourceTemplatesRequestSchema: GenMessage<ListResourceTemplatesRequest>;
/**
 * ListResourceTemplatesResponse returns one page of templates, ordered by plugin and template.
 *
 * @generated from message toolhost.v1.ListResourceTemplatesResponse
 */
export type ListResourceTemplatesResponse = Message<"toolhost.v1.ListResourceTemplatesResponse"> & {
    /**
     * The templates.
     *
     * @generated from field: repeated toolhost.v1.ResourceTemplate resource_templates = 1;
     */
    resourceTemplates: ResourceTemplate[];
    /**
     * The token of the next page. Empty means that this page is the last one.
     *
     * @generated from field: string next_page_token = 2;
     */
    nextPageToken: string;
    /**
     * The plugins that could not be listed. Each page has them.
     *
     * @generated from field: repeated toolhost.v1.UnlistedPlugin unlisted = 3;
     */
    unlisted: UnlistedPlugin[];
};
/**
 * Describes the message toolhost.v1.ListResourceTemplatesResponse.
 * Use `create(ListResourceTemplatesResponseSchema)` to create a new message.
 */
export declare const ListResourceTemplatesResponseSchema: GenMessage<ListResourceTemplatesResponse>;
/**
 * ReadResourceRequest names a resource.
 *
 * @generated from message toolhost.v1.ReadResourceRequest
 */
export type ReadResourceRequest = Message<"toolhost.v1.ReadResourceRequest"> & {
    /**
     * The plugin that has the resource. Empty means the only plugin that offers the URI, by its list or
     * by a template. If several plugins do, the RPC fails with INVALID_ARGUMENT and names them, so that
     * no plugin can answer in place of another one.
     *
     * @generated from field: string plugin = 1;
     */
    plugin: string;
    /**
     * The URI of the resource.
     *
     * @generated from field: string uri = 2;
     */
    uri: string;
    /**
     * The session that the request belongs to, and that can read its artifacts. Empty means the
     * principal's default session.
     *
     * @generated from field: string session = 3;
     */
    session: string;
    /**
     * How many bytes of text the response shows. 0 means the default of toolhost. Values over 1 MiB
     * mean 1 MiB.
     *
     * @generated from field: uint32 max_shown_bytes = 4;
     */
    maxShownBytes: number;
    /**
     * The principal that the request is for. Unset means the caller itself. See "Delegation" at
     * ToolService.
     *
     * @generated from field: toolhost.tool.v1.Principal on_behalf_of = 5;
     */
    onBehalfOf?: Principal | undefined;
};
/**
 * Describes the message toolhost.v1.ReadResourceRequest.
 * Use `create(ReadResourceRequestSchema)` to create a new message.
 */
export declare const ReadResourceRequestSchema: GenMessage<ReadResourceRequest>;
/**
 * ResourceContent is one part of the content of a resource.
 *
 * @generated from message toolhost.v1.ResourceContent
 */
export type ResourceContent = Message<"toolhost.v1.ResourceContent"> & {
    /**
     * The URI of this part, which may differ from the URI that was read.
     *
     * @generated from field: string uri = 1;
     */
    uri: string;
    /**
     * The IANA media type. Empty means that it is unknown.
     *
     * @generated from field: string media_type = 2;
     */
    mediaType: string;
    /**
     * Text, a file, or an artifact in place of content that is too large: ReadArtifact returns it in
     * pieces.
     *
     * @generated from field: toolhost.tool.v1.Content content = 3;
     */
    content?: Content | undefined;
};
/**
 * Describes the message toolhost.v1.ResourceContent.
 * Use `create(ResourceContentSchema)` to create a new message.
 */
export declare const ResourceContentSchema: GenMessage<ResourceContent>;
/**
 * ReadResourceResponse returns the content of a resource.
 *
 * @generated from message toolhost.v1.ReadResourceResponse
 */
export type ReadResourceResponse = Message<"toolhost.v1.ReadResourceResponse"> & {
    /**
     * The plugin that returned the content.
     *
     * @generated from field: string plugin = 1;
     */
    plugin: string;
    /**
     * The parts of the content.
     *
     * @generated from field: repeated toolhost.v1.ResourceContent contents = 2;
     */
    contents: ResourceContent[];
};
/**
 * Describes the message toolhost.v1.ReadResourceResponse.
 * Use `create(ReadResourceResponseSchema)` to create a new message.
 */
export declare const ReadResourceResponseSchema: GenMessage<ReadResourceResponse>;
/**
 * Prompt is a text that a plugin offers for a conversation with a model. The plugin chose all texts,
 * so they are never instructions of the operator.
 *
 * @generated from message toolhost.v1.Prompt
 */
export type Prompt = Message<"toolhost.v1.Prompt"> & {
    /**
     * The plugin that has the prompt.
     *
     * @generated from field: string plugin = 1;
     */
    plugin: string;
    /**
     * The name, with the prefix of the plugin if the operator chose one. Two plugins can offer the same
     * name.
     *
     * @generated from field: string name = 2;
     */
    name: string;
    /**
     * A name for people. May be empty.
     *
     * @generated from field: string title = 3;
     */
    title: string;
    /**
     * What the prompt is for. May be empty.
     *
     * @generated from field: string description = 4;
     */
    description: string;
    /**
     * The arguments.
     *
     * @generated from field: repeated toolhost.v1.PromptArgument arguments = 5;
     */
    arguments: PromptArgument[];
};
/**
 * Describes the message toolhost.v1.Prompt.
 * Use `create(PromptSchema)` to create a new message.
 */
export declare const PromptSchema: GenMessage<Prompt>;
/**
 * PromptArgument describes an argument of a prompt, which is a text.
 *
 * @generated from message toolhost.v1.PromptArgument
 */
export type PromptArgument = Message<"toolhost.v1.PromptArgument"> & {
    /**
     * The name.
     *
     * @generated from field: string name = 1;
     */
    name: string;
    /**
     * A name for people. May be empty.
     *
     * @generated from field: string title = 2;
     */
    title: string;
    /**
     * What the argument is. May be empty.
     *
     * @generated from field: string description = 3;
     */
    description: string;
    /**
     * Whether the prompt needs the argument.
     *
     * @generated from field: bool required = 4;
     */
    required: boolean;
};
/**
 * Describes the message toolhost.v1.PromptArgument.
 * Use `create(PromptArgumentSchema)` to create a new message.
 */
export declare const PromptArgumentSchema: GenMessage<PromptArgument>;
/**
 * ListPromptsRequest selects prompts.
 *
 * @generated from message toolhost.v1.ListPromptsRequest
 */
export type ListPromptsRequest = Message<"toolhost.v1.ListPromptsRequest"> & {
    /**
     * The plugin whose prompts are wanted. Empty means all plugins.
     *
     * @generated from field: string plugin = 1;
     */
    plugin: string;
    /**
     * The session that the request belongs to. Empty means the principal's default session.
     *
     * @generated from field: string session = 2;
     */
    session: string;
    /**
     * The maximum number of prompts in the response. 0 means 100. Values over 1000 mean 1000.
     *
     * @generated from field: int32 page_size = 3;
     */
    pageSize: number;
    /**
     * The token of the page: `next_page_token` of the previous page. Empty means the first page.
     *
     * @generated from field: string page_token = 4;
     */
    pageToken: string;
    /**
     * The principal that the request is for. Unset means the caller itself. See "Delegation" at
     * ToolService.
     *
     * @generated from field: toolhost.tool.v1.Principal on_behalf_of = 5;
     */
    onBehalfOf?: Principal | undefined;
};
/**
 * Describes the message toolhost.v1.ListPromptsRequest.
 * Use `create(ListPromptsRequestSchema)` to create a new message.
 */
export declare const ListPromptsRequestSchema: GenMessage<ListPromptsRequest>;
/**
 * ListPromptsResponse returns one page of prompts, ordered by plugin and name.
 *
 * @generated from message toolhost.v1.ListPromptsResponse
 */
export type ListPromptsResponse = Message<"toolhost.v1.ListPromptsResponse"> & {
    /**
     * The prompts.
     *
     * @generated from field: repeated toolhost.v1.Prompt prompts = 1;
     */
    prompts: Prompt[];
    /**
     * The token of the next page. Empty means that this page is the last one.
     *
     * @generated from field: string next_page_token = 2;
     */
    nextPageToken: string;
    /**
     * The plugins that could not be listed. Each page has them.
     *
     * @generated from field: repeated toolhost.v1.UnlistedPlugin unlisted = 3;
     */
    unlisted: UnlistedPlugin[];
};
/**
 * Describes the message toolhost.v1.ListPromptsResponse.
 * Use `create(ListPromptsResponseSchema)` to create a new message.
 */
export declare const ListPromptsResponseSchema: GenMessage<ListPromptsResponse>;
/**
 * GetPromptRequest names a prompt and its arguments.
 *
 * @generated from message toolhost.v1.GetPromptRequest
 */
export type GetPromptRequest = Message<"toolhost.v1.GetPromptRequest"> & {
    /**
     * The plugin that has the prompt. Empty means the only plugin that offers the name. If several
     * plugins do, the RPC fails with INVALID_ARGUMENT and names them.
     *
     * @generated from field: string plugin = 1;
     */
    plugin: string;
    /**
     * The name of the prompt.
     *
     * @generated from field: string name = 2;
     */
    name: string;
    /**
     * The arguments by name.
     *
     * @generated from field: map<string, string> arguments = 3;
     */
    arguments: {
        [key: string]: string;
    };
    /**
     * The session that the request belongs to. Empty means the principal's default session.
     *
     * @generated from field: string session = 4;
     */
    session: string;
    /**
     * The principal that the request is for. Unset means the caller itself. See "Delegation" at
     * ToolService.
     *
     * @generated from field: toolhost.tool.v1.Principal on_behalf_of = 5;
     */
    onBehalfOf?: Principal | undefined;
};
/**
 * Describes the message toolhost.v1.GetPromptRequest.
 * Use `create(GetPromptRequestSchema)` to create a new message.
 */
export declare const GetPromptRequestSchema: GenMessage<GetPromptRequest>;
/**
 * PromptMessage is one message of a prompt.
 *
 * @generated from message toolhost.v1.PromptMessage
 */
export type PromptMessage = Message<"toolhost.v1.PromptMessage"> & {
    /**
     * Whose words the message is.
     *
     * @generated from field: toolhost.v1.PromptRole role = 1;
     */
    role: PromptRole;
    /**
     * The content of the message.
     *
     * @generated from oneof toolhost.v1.PromptMessage.body
     */
    body: {
        /**
         * Text, an image, a file, or an artifact in place of content that is too large.
         *
         * @generated from field: toolhost.tool.v1.Content content = 2;
         */
        value: Content;
        case: "content";
    } | {
        /**
         * A resource.
         *
         * @generated from field: toolhost.v1.ResourceContent resource = 3;
         */
        value: ResourceContent;
        case: "resource";
    } | {
        case: undefined;
        value?: undefined;
    };
};
/**
 * Describes the message toolhost.v1.PromptMessage.
 * Use `create(PromptMessageSchema)` to create a new message.
 */
export declare const PromptMessageSchema: GenMessage<PromptMessage>;
/**
 * GetPromptResponse returns a prompt with its arguments filled in. All messages are the words of the
 * plugin.
 *
 * @generated from message toolhost.v1.GetPromptResponse
 */
export type GetPromptResponse = Message<"toolhost.v1.GetPromptResponse"> & {
    /**
     * The plugin that returned the prompt.
     *
     * @generated from field: string plugin = 1;
     */
    plugin: string;
    /**
     * What the prompt is for. May be empty.
     *
     * @generated from field: string description = 2;
     */
    description: string;
    /**
     * The messages.
     *
     * @generated from field: repeated toolhost.v1.PromptMessage messages = 3;
     */
    messages: PromptMessage[];
};
/**
 * Describes the message toolhost.v1.GetPromptResponse.
 * Use `create(GetPromptResponseSchema)` to create a new message.
 */
export declare const GetPromptResponseSchema: GenMessage<GetPromptResponse>;
/**
 * CompleteArgumentRequest asks for values of an argument, for a person who types one.
 *
 * @generated from message toolhost.v1.CompleteArgumentRequest
 */
export type CompleteArgumentRequest = Message<"toolhost.v1.CompleteArgumentRequest"> & {
    /**
     * The plugin that has the prompt or the template. Empty means the only plugin that offers it.
     *
     * @generated from field: string plugin = 1;
     */
    plugin: string;
    /**
     * What has the argument. Must be set.
     *
     * @generated from oneof toolhost.v1.CompleteArgumentRequest.of
     */
    of: {
        /**
         * The name of a prompt.
         *
         * @generated from field: string prompt = 2;
         */
        value: string;
        case: "prompt";
    } | {
        /**
         * A template as its plugin offers it.
         *
         * @generated from field: string uri_template = 3;
         */
        value: string;
        case: "uriTemplate";
    } | {
        case: undefined;
        value?: undefined;
    };
    /**
     * The name of the argument.
     *
     * @generated from field: string argument = 4;
     */
    argument: string;
    /**
     * What the person has typed so far.
     *
     * @generated from field: string value = 5;
     */
    value: string;
    /**
     * The arguments that are filled in already, by name.
     *
     * @generated from field: map<string, string> arguments = 6;
     */
    arguments: {
        [key: string]: string;
    };
    /**
     * The session that the request belongs to. Empty means the principal's default session.
     *
     * @generated from field: string session = 7;
     */
    session: string;
    /**
     * The principal that the request is for. Unset means the caller itself. See "Delegation" at
     * ToolService.
     *
     * @generated from field: toolhost.tool.v1.Principal on_behalf_of = 8;
     */
    onBehalfOf?: Principal | undefined;
};
/**
 * Describes the message toolhost.v1.CompleteArgumentRequest.
 * Use `create(CompleteArgumentRequestSchema)` to create a new message.
 */
export declare const CompleteArgumentRequestSchema: GenMessage<CompleteArgumentRequest>;
/**
 * CompleteArgumentResponse returns values of an argument.
 *
 * @generated from message toolhost.v1.CompleteArgumentResponse
 */
export type CompleteArgumentResponse = Message<"toolhost.v1.CompleteArgumentResponse"> & {
    /**
     * The values, the best ones first, at most 100.
     *
     * @generated from field: repeated string values = 1;
     */
    values: string[];
    /**
     * How many values there are. 0 means that the number is unknown.
     *
     * @generated from field: int32 total = 2;
     */
    total: number;
    /**
     * Whether there are more values than the response has.
     *
     * @generated from field: bool more = 3;
     */
    more: boolean;
};
/**
 * Describes the message toolhost.v1.CompleteArgumentResponse.
 * Use `create(CompleteArgumentResponseSchema)` to create a new message.
 */
export declare const CompleteArgumentResponseSchema: GenMessage<CompleteArgumentResponse>;
/**
 * WatchResourcesRequest says which changes are of interest.
 *
 * @generated from message toolhost.v1.WatchResourcesRequest
 */
export type WatchResourcesRequest = Message<"toolhost.v1.WatchResourcesRequest"> & {
    /**
     * The plugin whose lists are watched. Empty means all plugins.
     *
     * @generated from field: string plugin = 1;
     */
    plugin: string;
    /**
     * Single resources whose updates are wanted, at most 100. While the watch lasts, each of their
     * plugins has a running instance.
     *
     * @generated from field: repeated toolhost.v1.ResourceName resources = 2;
     */
    resources: ResourceName[];
    /**
     * The session that the request belongs to. Empty means the principal's default session.
     *
     * @generated from field: string session = 3;
     */
    session: string;
    /**
     * The principal that the request is for. Unset means the caller itself. See "Delegation" at
     * ToolService.
     *
     * @generated from field: toolhost.tool.v1.Principal on_behalf_of = 4;
     */
    onBehalfOf?: Principal | undefined;
};
/**
 * Describes the message toolhost.v1.WatchResourcesRequest.
 * Use `create(WatchResourcesRequestSchema)` to create a new message.
 */
export declare const WatchResourcesRequestSchema: GenMessage<WatchResourcesRequest>;
/**
 * ResourceName names a resource, as ReadResourceRequest does.
 *
 * @generated from message toolhost.v1.ResourceName
 */
export type ResourceName = Message<"toolhost.v1.ResourceName"> & {
    /**
     * The plugin. Empty means the only plugin that offers the URI.
     *
     * @generated from field: string plugin = 1;
     */
    plugin: string;
    /**
     * The URI.
     *
     * @generated from field: string uri = 2;
     */
    uri: string;
};
/**
 * Describes the message toolhost.v1.ResourceName.
 * Use `create(ResourceNameSchema)` to create a new message.
 */
export declare const ResourceNameSchema: GenMessage<ResourceName>;
/**
 * WatchResourcesResponse is the notice of a change. It does not have the change itself, which has to
 * be read. The first response has no plugin: from then on, no change is missed.
 *
 * @generated from message toolhost.v1.WatchResourcesResponse
 */
export type WatchResourcesResponse = Message<"toolhost.v1.WatchResourcesResponse"> & {
    /**
     * The plugin that has changed.
     *
     * @generated from field: string plugin = 1;
     */
    plugin: string;
    /**
     * Whether its resources and templates have to be listed again.
     *
     * @generated from field: bool resources_changed = 2;
     */
    resourcesChanged: boolean;
    /**
     * Whether its prompts have to be listed again.
     *
     * @generated from field: bool prompts_changed = 3;
     */
    promptsChanged: boolean;
    /**
     * The resource that has to be read again. Empty means none.
     *
     * @generated from field: string uri = 4;
     */
    uri: string;
};
/**
 * Describes the message toolhost.v1.WatchResourcesResponse.
 * Use `create(WatchResourcesResponseSchema)` to create a new message.
 */
export declare const WatchResourcesResponseSchema: GenMessage<WatchResourcesResponse>;
/**
 * PromptRole says whose words a message of a prompt is.
 *
 * @generated from enum toolhost.v1.PromptRole
 */
export declare enum PromptRole {
    /**
     * Not set. No message has it.
     *
     * @generated from enum value: PROMPT_ROLE_UNSPECIFIED = 0;
     */
    UNSPECIFIED = 0,
    /**
     * The words of the user.
     *
     * @generated from enum value: PROMPT_ROLE_USER = 1;
     */
    USER = 1,
    /**
     * The words of the model, as the plugin imagines them.
     *
     * @generated from enum value: PROMPT_ROLE_ASSISTANT = 2;
     */
    ASSISTANT = 2
}
/**
 * Describes the enum toolhost.v1.PromptRole.
 */
export declare const PromptRoleSchema: GenEnum<PromptRole>;
