/** Questions that a tool asks a person or a model during its call, and their answers. */
import type { Content, Usage } from "./content.js";
import type { ToolhostError } from "./error.js";

/** What a tool asks: a person, or a language model. */
export type QuestionKind = "person" | "model";

/** A question for a person. The plugin wrote it: show the name of the plugin with it. */
export interface PersonQuestion {
  /** What the person reads, as plain text. */
  readonly message: string;
  /**
   * The JSON Schema of the answer, of type object. A tool that leaves it out gets an object with one
   * text, `answer`.
   */
  readonly schema?: Readonly<Record<string, unknown>> | undefined;
  /** How many milliseconds the tool waits. Undefined means as long as toolhost permits. */
  readonly timeoutMs?: number | undefined;
}

/** One message of a conversation with a model. */
export interface ModelMessage {
  /** The author. */
  readonly role: "user" | "assistant";
  /** The content. Every caller that answers for models accepts text. */
  readonly content: readonly Content[];
}

/** A request for one response of the caller's language model. */
export interface ModelQuestion {
  /** The system prompt. */
  readonly system?: string | undefined;
  /** The conversation. It begins and ends with a message of the user. */
  readonly messages: readonly ModelMessage[];
  /** The limit of the response in tokens. Undefined means the default of the caller. */
  readonly maxTokens?: number | undefined;
  /** How many milliseconds the tool waits. Undefined means as long as toolhost permits. */
  readonly timeoutMs?: number | undefined;
}

/** What a person did with a question. The content is set only for `accept`. */
export type PersonAnswer =
  | { readonly action: "accept"; readonly content: Readonly<Record<string, unknown>> }
  | { readonly action: "decline" | "dismiss" };

/** The response of a language model. */
export interface ModelAnswer {
  /** The name of the model. May be empty. */
  readonly model: string;
  /** The response. */
  readonly content: readonly Content[];
  /** Why the response ended, in the terms of the provider. May be empty. */
  readonly stopReason: string;
  /** The tokens that the response used. Undefined if unknown. */
  readonly usage: Usage | undefined;
}

/** The answer to a question, or the error that says why there is none. */
export type Answer = { readonly person: PersonAnswer } | { readonly model: ModelAnswer } | { readonly error: ToolhostError };

/** Why a question takes no answer any more. */
export type QuestionEnd = "answered" | "expired" | "abandoned";
