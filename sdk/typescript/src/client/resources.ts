/** Resources and prompts that plugins offer besides tools. */
import { type Content, text } from "../content.js";
import {
  type Prompt as PbPrompt,
  type PromptMessage as PbPromptMessage,
  type Resource as PbResource,
  type ResourceContent as PbResourceContent,
  type ResourceTemplate as PbResourceTemplate,
  PromptRole,
} from "../gen/toolhost/v1/resources_pb.js";
import { fromContent } from "../wire/messages.js";

/** Data that a plugin offers by its URI. The plugin chose all texts. */
export interface Resource {
  /** The plugin that has the resource. */
  readonly plugin: string;
  /** The name of the resource within its plugin. Two plugins can offer the same URI. */
  readonly uri: string;
  /** A short name for programs. */
  readonly name: string;
  /** A name for people. May be empty. */
  readonly title: string;
  /** What the resource is. May be empty. */
  readonly description: string;
  /** The IANA media type. Empty means that it is unknown. */
  readonly mediaType: string;
  /** The size in bytes, as the plugin says. 0 means that it is unknown. */
  readonly size: number;
}

/** Resources whose URIs follow from arguments. */
export interface ResourceTemplate {
  /** The plugin that has the resources. */
  readonly plugin: string;
  /** The template in the form of RFC 6570. */
  readonly uriTemplate: string;
  /** A short name for programs. */
  readonly name: string;
  /** A name for people. May be empty. */
  readonly title: string;
  /** What the resources are. May be empty. */
  readonly description: string;
  /** The IANA media type of all these resources. Empty means that it differs or is unknown. */
  readonly mediaType: string;
}

/** One part of the content of a resource. */
export interface ResourceContent {
  /** The URI of this part, which may differ from the URI that was read. */
  readonly uri: string;
  /** The IANA media type. Empty means that it is unknown. */
  readonly mediaType: string;
  /** A text, a file, or an artifact in place of content that is too large. */
  readonly content: Content;
}

/** An argument of a prompt, which is a text. */
export interface PromptArgument {
  /** The name. */
  readonly name: string;
  /** A name for people. May be empty. */
  readonly title: string;
  /** What the argument is. May be empty. */
  readonly description: string;
  /** Whether the prompt needs the argument. */
  readonly required: boolean;
}

/** A text that a plugin offers for a conversation with a model. The plugin chose all texts. */
export interface Prompt {
  /** The plugin that has the prompt. */
  readonly plugin: string;
  /** The name. Two plugins can offer the same name. */
  readonly name: string;
  /** A name for people. May be empty. */
  readonly title: string;
  /** What the prompt is for. May be empty. */
  readonly description: string;
  /** The arguments. */
  readonly arguments: readonly PromptArgument[];
}

/** One message of a prompt. */
export interface PromptMessage {
  /** Whose words the message is. */
  readonly role: "user" | "assistant";
  /** The content. Undefined if the message is a resource. */
  readonly content?: Content;
  /** The resource. Undefined if the message has content. */
  readonly resource?: ResourceContent;
}

/** A prompt with its arguments filled in. All messages are the words of the plugin. */
export interface PromptText {
  /** The plugin that returned the prompt. */
  readonly plugin: string;
  /** What the prompt is for. May be empty. */
  readonly description: string;
  /** The messages. */
  readonly messages: readonly PromptMessage[];
}

/** What has an argument: a prompt or a template. */
export type ArgumentOwner = { readonly prompt: string } | { readonly uriTemplate: string };

/** Values of an argument, the best ones first. */
export interface ArgumentCompletion {
  /** The values, at most 100. */
  readonly values: readonly string[];
  /** How many values there are. 0 means that the number is unknown. */
  readonly total: number;
  /** Whether there are more values. */
  readonly more: boolean;
}

/** The notice of a change, which has to be read. The first notice of a watch has no plugin. */
export interface ResourceChange {
  /** The plugin that has changed. */
  readonly plugin: string;
  /** Whether the lists of resources and templates may have changed. */
  readonly resources: boolean;
  /** Whether the list of prompts may have changed. */
  readonly prompts: boolean;
  /** The resource that may have changed. Empty means none. */
  readonly uri: string;
}

/** Converts a resource. */
export function toResource({ plugin, uri, name, title, description, mediaType, size }: PbResource): Resource {
  return { plugin, uri, name, title, description, mediaType, size: Number(size) };
}

/** Converts a template. */
export function toTemplate({ plugin, uriTemplate, name, title, description, mediaType }: PbResourceTemplate): ResourceTemplate {
  return { plugin, uriTemplate, name, title, description, mediaType };
}

/** Converts a part of a resource. */
export function toPart({ uri, mediaType, content }: PbResourceContent): ResourceContent {
  return { uri, mediaType, content: (content && fromContent(content)) ?? text("") };
}

/** Converts a prompt. */
export function toPrompt({ plugin, name, title, description, arguments: all }: PbPrompt): Prompt {
  const args = all.map((a) => ({ name: a.name, title: a.title, description: a.description, required: a.required }));
  return { plugin, name, title, description, arguments: args };
}

/** Converts a message of a prompt. An unknown role becomes that of the user. */
export function toMessage({ role, body }: PbPromptMessage): PromptMessage {
  const of = role === PromptRole.ASSISTANT ? "assistant" : "user";
  if (body.case === "resource") {
    return { role: of, resource: toPart(body.value) };
  }
  return { role: of, content: (body.case === "content" && fromContent(body.value)) || text("") };
}
