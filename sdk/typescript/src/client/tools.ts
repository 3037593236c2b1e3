/** Tools, as a client receives and selects them. */
import type { Tool as ToolMessage } from "../gen/toolhost/v1/tool_service_pb.js";
import { ToolFormat as Format } from "../gen/toolhost/v1/tool_service_pb.js";
import { fromDuration, fromJSONBytes, fromValues, toValues } from "../wire/scalars.js";
import { sayable } from "./failure.js";
import type { Principal } from "./identity.js";

/** A tool that toolhost offers: its declaration, with the changes that the operator configured. */
export interface ToolInfo {
  /** The name. */
  readonly name: string;
  /** The version of the tool. */
  readonly version: string;
  /** A name for people. */
  readonly displayName: string;
  /** The purpose of the tool, when not to use it, and what it returns. The model reads it. */
  readonly description: string;
  /** A word or path that groups tools. */
  readonly category: string;
  /** Tags by which callers select tools. */
  readonly tags: readonly string[];
  /** The JSON Schema of the arguments. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** The JSON Schema of the structured result. Undefined if the tool declares none. */
  readonly outputSchema: Readonly<Record<string, unknown>> | undefined;
  /** Example calls. */
  readonly examples: readonly { readonly description: string; readonly arguments: unknown }[];
  /** The longest duration of one call, in milliseconds. Undefined means the default of toolhost. */
  readonly timeoutMs: number | undefined;
  /** The most calls that may start in 60 seconds, per session. 0 means no limit. */
  readonly rateLimitPerMinute: number;
  /** The cost of one call. 0 means free. */
  readonly costPerUse: number;
  /** The names of the secrets that the tool needs. */
  readonly requiresAuth: readonly string[];
  /** Whether the tool receives its arguments while the model still writes them. */
  readonly partialArguments: boolean;
  /** Whether the tool can do harm, so that a person should approve its calls. */
  readonly dangerous: boolean;
  /** Whether the tool changes nothing outside itself. */
  readonly readOnly: boolean;
  /** Whether executing a call twice has the same effect as executing it once. */
  readonly idempotent: boolean;
  /** Whether the tool must not run concurrently with other calls of the same response. */
  readonly serial: boolean;
  /** Whether the order of its effects with other calls of the same response does not matter. */
  readonly parallel: boolean;
  /** Whether the result is the answer for the user. */
  readonly returnDirect: boolean;
  /** Whether toolhost passes the arguments unchanged. */
  readonly strict: boolean;
  /** Whether the declaration depends on the session. */
  readonly dynamic: boolean;
  /** The keys of the run context that the tool reads. */
  readonly contextKeys: readonly string[];
  /** The keys of the run context that effects of the tool may change. */
  readonly effectKeys: readonly string[];
  /** Further JSON values by key. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The plugin of the tool. */
  readonly plugin: string;
  /** The version of the plugin. */
  readonly pluginVersion: string;
  /** Why the tool cannot be called at the moment. Undefined if it can be called. */
  readonly unavailableReason: string | undefined;
}

/** The session for which dynamic tools declare themselves. */
export interface Viewer {
  /** The session. Default: that of the client. */
  readonly session?: string;
  /** The run context, as JSON values by key. Default: that of the client. */
  readonly context?: Readonly<Record<string, unknown>>;
  /**
   * The principal for which the client makes the request. Default: that of the client. Error kinds:
   * denied, unless the client has the right to delegate in the tenant of the principal.
   */
  readonly onBehalfOf?: Principal;
  /** Stops waiting for the answer. */
  readonly signal?: AbortSignal;
}

/** Selects tools. A tool must match every property that is set. */
export interface ToolQuery extends Viewer {
  /** The names of the tools. */
  readonly names?: readonly string[];
  /** The categories of the tools. */
  readonly categories?: readonly string[];
  /** A tool must have at least one of these tags. */
  readonly tags?: readonly string[];
  /** The plugins of the tools. */
  readonly plugins?: readonly string[];
  /** The names of tools that are never selected. */
  readonly excluded?: readonly string[];
  /** Selects only dangerous tools, or only tools that are not dangerous. */
  readonly dangerous?: boolean;
  /** The highest cost of one call. */
  readonly maxCostPerUse?: number;
  /** The most tools to return. Default: all, and 10 for a search. */
  readonly maxTools?: number;
}

/**
 * A tool that a search found. A greater score is a better match. Scores are comparable only within
 * one search.
 */
export interface ToolMatch {
  /** The tool. */
  readonly tool: ToolInfo;
  /** The score. */
  readonly score: number;
}

/** A format in which a model receives tools. */
export type ToolFormat = "openai" | "openai-responses" | "anthropic" | "gemini" | "mcp" | "markdown";

/** The formats and their numbers in the protocol. */
export const toolFormats: Readonly<Record<ToolFormat, Format>> = {
  openai: Format.OPENAI,
  "openai-responses": Format.OPENAI_RESPONSES,
  anthropic: Format.ANTHROPIC,
  gemini: Format.GEMINI,
  mcp: Format.MCP,
  markdown: Format.MARKDOWN,
};

/** Tools in a format. */
export interface RenderedTools {
  /** JSON or Markdown. */
  readonly content: string;
  /** `application/json` or `text/markdown`. */
  readonly mediaType: string;
  /** The names of the rendered tools, in order. */
  readonly tools: readonly string[];
  /** The other matching tools, ordered by name, with the reason why they are not rendered. */
  readonly omitted: readonly { readonly name: string; readonly reason: string }[];
}

/** Converts a query to its message. */
export function selectionMessage(query: ToolQuery) {
  const {
    names = [],
    categories = [],
    tags = [],
    plugins = [],
    excluded = [],
    dangerous,
    maxCostPerUse,
    maxTools = 0,
    session = "",
    context,
  } = query;
  return {
    names: [...names],
    categories: [...categories],
    tags: [...tags],
    plugins: [...plugins],
    excluded: [...excluded],
    ...(dangerous !== undefined && { dangerous }),
    ...(maxCostPerUse !== undefined && { maxCostPerUse }),
    maxTools,
    session,
    context: sayable(() => toValues(context)),
  };
}

/** Converts a message to a tool. */
export function toolInfo(m: ToolMessage): ToolInfo {
  const spec = m.spec;
  if (!spec) {
    throw new TypeError("toolhost sent a tool without a declaration");
  }
  const { $typeName, $unknown, timeout, retry, memoryLimitBytes, inputSchema, outputSchema, inputExamples, ...rest } = spec;
  return {
    ...rest,
    inputSchema: (fromJSONBytes(inputSchema) ?? { type: "object" }) as Record<string, unknown>,
    outputSchema: fromJSONBytes(outputSchema) as Record<string, unknown> | undefined,
    examples: inputExamples.map((e) => ({ description: e.description, arguments: fromJSONBytes(e.arguments) })),
    timeoutMs: fromDuration(timeout),
    metadata: fromValues(spec.metadata),
    plugin: m.plugin,
    pluginVersion: m.pluginVersion,
    unavailableReason: m.unavailableReason || undefined,
  };
}
