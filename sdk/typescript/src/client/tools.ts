/** Tools, as toolhost offers them. */
import type { Tool as ToolMessage } from "../gen/toolhost/v1/tool_service_pb.js";
import { ToolFormat as Format } from "../gen/toolhost/v1/tool_service_pb.js";
import { fromDuration, fromJSONBytes, fromValues, toValues } from "../wire/scalars.js";
import { sayable } from "./failure.js";

/** A tool as toolhost offers it: what it declares, with the operator's changes applied. */
export interface ToolInfo {
  /** The name by which it is called. */
  readonly name: string;
  /** Its version. */
  readonly version: string;
  /** A name for people. */
  readonly displayName: string;
  /** What it is for, when not to use it, and what it returns, written for a model. */
  readonly description: string;
  /** A single word or path that groups tools. */
  readonly category: string;
  /** Words by which callers filter. */
  readonly tags: readonly string[];
  /** The JSON Schema of its arguments. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** The JSON Schema of its structured result; undefined: it promises none. */
  readonly outputSchema: Readonly<Record<string, unknown>> | undefined;
  /** Arguments that show how it is meant to be called. */
  readonly examples: readonly { readonly description: string; readonly arguments: unknown }[];
  /** How long one call may take, in milliseconds; undefined: toolhost's default. */
  readonly timeoutMs: number | undefined;
  /** The most calls that may start in any 60 seconds, per session; 0: no limit. */
  readonly rateLimitPerMinute: number;
  /** What one use costs; 0: free. */
  readonly costPerUse: number;
  /** The names of the secrets that it needs. */
  readonly requiresAuth: readonly string[];
  /** Whether it wants to see its arguments while the model still writes them. */
  readonly partialArguments: boolean;
  /** Whether it may do harm that a person should have agreed to. */
  readonly dangerous: boolean;
  /** Whether it changes nothing outside itself. */
  readonly readOnly: boolean;
  /** Whether it has the same outcome when executed twice. */
  readonly idempotent: boolean;
  /** Whether it must never run beside another call of the same batch. */
  readonly serial: boolean;
  /** Whether its result is the answer for the user. */
  readonly returnDirect: boolean;
  /** Whether it wants its arguments exactly as given. */
  readonly strict: boolean;
  /** Whether it depends on the session how it looks. */
  readonly dynamic: boolean;
  /** The keys of the run's context that it wants. */
  readonly contextKeys: readonly string[];
  /** The keys of the run's context that its effects may change. */
  readonly effectKeys: readonly string[];
  /** Whatever else its author said, as JSON values by key. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The plugin that ships it. */
  readonly plugin: string;
  /** The plugin's version. */
  readonly pluginVersion: string;
  /** Why it cannot be called now; empty: it can. */
  readonly unavailableReason: string;
}

/** For whom dynamic tools are described. */
export interface Viewer {
  /** The session; default: none in particular. */
  readonly session?: string;
  /** The run's context, as JSON values by key. */
  readonly context?: Readonly<Record<string, unknown>>;
  /** Ends the waiting. */
  readonly signal?: AbortSignal;
}

/** Selects tools. All that is set must match. */
export interface ToolQuery extends Viewer {
  /** Tools whose name is one of these. */
  readonly names?: readonly string[];
  /** Tools in one of these categories. */
  readonly categories?: readonly string[];
  /** Tools with at least one of these tags. */
  readonly tags?: readonly string[];
  /** Only dangerous tools, or only others. */
  readonly dangerous?: boolean;
  /** Tools that cost at most this much per use. */
  readonly maxCostPerUse?: number;
  /** How many tools at most; default: all, or for a search 10. */
  readonly maxTools?: number;
}

/** A tool that a search found. Greater scores are better, and comparable only within one search. */
export interface ToolMatch {
  /** The tool. */
  readonly tool: ToolInfo;
  /** How well it matches. */
  readonly score: number;
}

/** A form in which tools are given to a model. */
export type ToolFormat = "openai" | "openai-responses" | "anthropic" | "mcp" | "markdown";

/** The numbers of the forms. */
export const toolFormats: Readonly<Record<ToolFormat, Format>> = {
  openai: Format.OPENAI,
  "openai-responses": Format.OPENAI_RESPONSES,
  anthropic: Format.ANTHROPIC,
  mcp: Format.MCP,
  markdown: Format.MARKDOWN,
};

/** Tools in a form. */
export interface RenderedTools {
  /** JSON or Markdown. */
  readonly content: string;
  /** `application/json` or `text/markdown`. */
  readonly mediaType: string;
  /** The names of the tools in it, in order. */
  readonly tools: readonly string[];
  /** The other tools that match, ordered by name, with the reason why `content` does not hold them. */
  readonly omitted: readonly { readonly name: string; readonly reason: string }[];
}

/** A query as the messages have it that select tools. */
export function selectionMessage(query: ToolQuery) {
  const { names = [], categories = [], tags = [], dangerous, maxCostPerUse, maxTools = 0, session = "", context } = query;
  return {
    names: [...names],
    categories: [...categories],
    tags: [...tags],
    ...(dangerous !== undefined && { dangerous }),
    ...(maxCostPerUse !== undefined && { maxCostPerUse }),
    maxTools,
    session,
    context: sayable(() => toValues(context)),
  };
}

/** A tool of a message. */
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
    unavailableReason: m.unavailableReason,
  };
}
