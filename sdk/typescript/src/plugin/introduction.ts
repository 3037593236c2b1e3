/** The texts that a plugin prints for a person. */
import type { Duration } from "@bufbuild/protobuf/wkt";
import type { DescribeResponse } from "../gen/toolhost/plugin/v1/plugin_pb.js";
import type { ToolSpec } from "../gen/toolhost/tool/v1/spec_pb.js";
import { decodeText, encodeJSON, rawJSON } from "../json.js";
import type { Plugin } from "./plugin.js";

/** Returns what the plugin prints if a person starts it by hand. */
export function introduction(plugin: Plugin, program: string): string {
  const { tools = [], filters = [] } = plugin;
  const ships = tools.length === 0 ? "filters of tool calls" : "tools for language models";
  const name = `${plugin.name} ${plugin.version ?? ""}`.trim();
  let words = `${name} is a plugin of toolhost: it ships ${ships}, and toolhost runs it.\n`;
  if (plugin.description) {
    words += `${plugin.description}\n`;
  }
  words += list(
    "Tools",
    tools.map((t) => t.spec),
  );
  words += list("Filters", filters);
  words += "\nTo use it, put it into a folder and serve that folder:\n\n  toolhost serve --plugins DIR\n";
  if (tools[0]) {
    words += `  toolhost call ${tools[0].spec.name} '{…}'\n`;
  }
  if (filters.some((f) => (f.tools ?? []).length === 0)) {
    words += "\nThe section filters in toolhost.yaml selects the calls for its filters.\n";
  }
  return `${words}\nTo see all that it declares:\n\n  ${program} --describe\n`;
}

function list(title: string, entries: readonly { name: string; description?: string }[]): string {
  const lines = entries.map(({ name, description = "" }) => `  ${name.padEnd(20)} ${description.trim().split("\n", 1)[0]}\n`);
  return lines.length > 0 ? `\n${title}:\n${lines.join("")}` : "";
}

/** Returns what the plugin prints if its declaration is invalid. */
export function complaint(plugin: Plugin, problems: readonly string[]): string {
  const lines = problems.join("\n").replaceAll("\n", "\n  ");
  return `The plugin ${JSON.stringify(plugin.name || "?")} cannot be served, because its declaration is invalid:\n  ${lines}\n`;
}

/** Returns the declaration as JSON, with the same members as in the Go SDK. */
export function descriptionJSON(d: DescribeResponse): string {
  const value = compact({
    name: d.name,
    version: d.version,
    description: d.description,
    tools: d.tools.map(specJSON),
    default_tags: d.defaultTags,
    filters: d.filters.map(({ name, description, before, after, tools }) =>
      compact({ name, description, before, after, tools }),
    ),
    sdk: d.sdk && compact({ name: d.sdk.name, version: d.sdk.version }),
  });
  return `${JSON.stringify(JSON.parse(encodeJSON({ ...value, tools: value.tools ?? [] })), undefined, 2)}\n`;
}

function specJSON(s: ToolSpec): Record<string, unknown> {
  return compact({
    name: s.name,
    version: s.version,
    display_name: s.displayName,
    description: s.description,
    category: s.category,
    tags: s.tags,
    input_schema: jsonOf(s.inputSchema),
    output_schema: jsonOf(s.outputSchema),
    input_examples: s.inputExamples.map((e) => compact({ description: e.description, arguments: jsonOf(e.arguments) })),
    timeout: nanoseconds(s.timeout),
    progress_extends_timeout: s.progressExtendsTimeout,
    retry: s.retry && {
      max_attempts: s.retry.maxAttempts,
      initial_backoff: nanoseconds(s.retry.initialBackoff),
      max_backoff: nanoseconds(s.retry.maxBackoff),
    },
    rate_limit_per_minute: s.rateLimitPerMinute,
    memory_limit_bytes: s.memoryLimitBytes === 0n ? undefined : s.memoryLimitBytes,
    cost_per_use: s.costPerUse,
    requires_auth: s.requiresAuth,
    sandbox_exempt: s.sandboxExempt,
    partial_arguments: s.partialArguments,
    dangerous: s.dangerous,
    read_only: s.readOnly,
    idempotent: s.idempotent,
    serial: s.serial,
    parallel: s.parallel,
    return_direct: s.returnDirect,
    strict: s.strict,
    dynamic: s.dynamic,
    context_keys: s.contextKeys,
    effect_keys: s.effectKeys,
    settles: s.settles,
    seals: s.seals,
    metadata: Object.fromEntries(Object.entries(s.metadata).map(([key, value]) => [key, jsonOf(value)])),
  });
}

/** Returns an object without its empty members. */
function compact(members: Record<string, unknown>): Record<string, unknown> {
  const empty = (v: unknown) =>
    !v || (Array.isArray(v) ? v.length === 0 : typeof v === "object" && Object.keys(v).length === 0);
  return Object.fromEntries(Object.entries(members).filter(([, value]) => !empty(value)));
}

function jsonOf(text: Uint8Array) {
  return text.length === 0 ? undefined : rawJSON(decodeText(text));
}

function nanoseconds(d: Duration | undefined): bigint | undefined {
  return d && d.seconds * 1_000_000_000n + BigInt(d.nanos);
}
