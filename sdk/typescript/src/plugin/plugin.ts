/** Plugins: their declaration, its validation, and its conversion to messages. */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type DescribeResponse, DescribeResponseSchema } from "../gen/toolhost/plugin/v1/plugin_pb.js";
import { Access } from "../gen/toolhost/tool/v1/permissions_pb.js";
import type { ToolSpecSchema } from "../gen/toolhost/tool/v1/spec_pb.js";
import { encodeJSONBytes } from "../json.js";
import { VERSION } from "../version.js";
import { accesses } from "../wire/enums.js";
import { toDuration, toValues } from "../wire/scalars.js";
import type { Filter } from "./filter.js";
import { misfit, type Schema, schemaText } from "./schema.js";
import type { InputExample, Tool, ToolSpec } from "./tool.js";

/** The permissions that a plugin requests. Only the configuration of the operator grants them. */
export interface Permissions {
  /** Access to the network. Default: false. */
  readonly network?: boolean;
  /** Access to the workspace. Default: none. */
  readonly workspace?: "none" | "read" | "write";
  /** Absolute paths of further files and folders that the plugin reads. */
  readonly read?: readonly string[];
  /** Absolute paths of further files and folders that the plugin changes. */
  readonly write?: readonly string[];
}

/** An executable with tools, filters or both. `serve` runs it. */
export interface Plugin {
  /** 1 to 64 of the characters A-Z a-z 0-9 _ -, beginning with a letter. */
  readonly name: string;
  /** Any text, usually a semantic version. */
  readonly version?: string;
  /** One line for operators. */
  readonly description?: string;
  /** The tools. A plugin must have a tool or a filter, and all names must differ. */
  readonly tools?: readonly Tool[];
  /** The filters. */
  readonly filters?: readonly Filter[];
  /** The tags of tools that declare none. */
  readonly defaultTags?: readonly string[];
  /** The permissions that the plugin requests. Default: none. */
  readonly permissions?: Permissions;
  /**
   * Runs once before the plugin serves calls, for example to open a connection pool. If it throws,
   * the plugin logs the error and exits with code 1.
   */
  readonly open?: () => void | Promise<void>;
  /**
   * Runs once after all calls have ended. It does not run if the calls do not end within four
   * seconds.
   */
  readonly close?: () => void | Promise<void>;
}

const namePattern = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/**
 * Returns one line for each problem in the declarations of a plugin and its tools. An empty list
 * means that the plugin is valid. `serve` exits with these problems, and `TestHost` throws them.
 */
export function validatePlugin(plugin: Plugin): string[] {
  const { tools = [], filters = [] } = plugin;
  const problems: string[] = nameProblems(plugin.name).map((problem) => `the plugin: ${problem}`);
  if (tools.length + filters.length === 0) {
    problems.push("the plugin has no tools");
  }
  const seen = new Set<string>();
  const check = (what: string, name: string, index: number, own: string[]) => {
    const label = name ? `${what} ${JSON.stringify(name)}` : `${what} number ${index + 1}`;
    if (name && seen.has(name)) {
      problems.push(`${label}: ${what === "tool" ? "another tool" : "a tool or another filter"} of the plugin has that name`);
    }
    seen.add(name);
    problems.push(...own.map((problem) => `${label}: ${problem}`));
  };
  const paths = [...(plugin.permissions?.read ?? []), ...(plugin.permissions?.write ?? [])];
  for (const path of paths.filter((p) => !p.startsWith("/"))) {
    problems.push(`the plugin: the path ${JSON.stringify(path)} in its permissions is not absolute`);
  }
  tools.forEach((t, i) => {
    if (!t?.spec || typeof t.open !== "function") {
      problems.push(`tool number ${i + 1}: it was not created by tool() or objectTool()`);
      return;
    }
    check("tool", t.spec.name, i, toolProblems(t));
  });
  const applied = new Map<string, number>();
  filters.forEach((f, i) => {
    const own = nameProblems(f.name);
    if (!f.before && !f.after) {
      own.push("it has neither before nor after");
    }
    own.push(...ownToolProblems(f, tools, applied));
    check("filter", f.name, i, own);
  });
  return problems;
}

/** The number of filters of its own plugin that calls of a tool may pass. */
const maxOwnFilters = 8;

/** Returns what is wrong with the tools that a filter names. `applied` counts the filters of each tool. */
function ownToolProblems({ tools: named = [] }: Filter, tools: readonly Tool[], applied: Map<string, number>): string[] {
  const problems: string[] = [];
  named.forEach((name, i) => {
    if (!tools.some((t) => t?.spec?.name === name)) {
      problems.push(`it applies to the tool ${JSON.stringify(name)}, which the plugin does not have`);
    }
    if (named.indexOf(name) < i) {
      problems.push(`it names the tool ${JSON.stringify(name)} twice`);
    }
    const count = (applied.get(name) ?? 0) + 1;
    applied.set(name, count);
    if (count === maxOwnFilters + 1) {
      problems.push(`more than ${maxOwnFilters} filters of the plugin apply to the tool ${JSON.stringify(name)}`);
    }
  });
  return problems;
}

function nameProblems(name: unknown): string[] {
  if (typeof name === "string" && namePattern.test(name)) {
    return [];
  }
  const what = name ? `the name ${JSON.stringify(name)} is malformed` : "the name is empty";
  return [`${what}; use 1 to 64 of A-Z a-z 0-9 _ -, beginning with a letter`];
}

function toolProblems({ spec, previews }: Tool): string[] {
  const problems = nameProblems(spec.name);
  if (!spec.description?.trim()) {
    problems.push("its description is empty; state its purpose, when not to use it, and what it returns");
  }
  if (spec.partialArguments && !previews) {
    problems.push("it declares partialArguments, but a function cannot receive them; use objectTool");
  }
  if (spec.settle && spec.readOnly) {
    problems.push("it is readOnly and has settle; a call that changes nothing needs none");
  }
  if (spec.seals && !spec.settle) {
    problems.push("it declares seals, but has no settle");
  }
  if (spec.settle && typeof spec.settle !== "function") {
    problems.push("settle is not a function");
  }
  const { timeoutMs = 0, retry, costPerUse = 0 } = spec;
  if (timeoutMs < 0 || (retry?.initialBackoffMs ?? 0) < 0 || (retry?.maxBackoffMs ?? 0) < 0) {
    problems.push("a duration is negative");
  }
  if (costPerUse < 0) {
    problems.push("its cost per use is negative");
  }
  attempt(problems, "its metadata", () => toValues(spec.metadata));
  attempt(problems, "its output schema", () => spec.output && schemaText(spec.output, "output"));
  attempt(problems, "its input schema", () => checkInputSchema(spec.input));
  problems.push(...exampleProblems(spec.input, spec.examples));
  return problems;
}

function attempt(problems: string[], what: string, check: () => unknown): void {
  try {
    check();
  } catch (error) {
    problems.push(`${what}: ${error instanceof Error ? error.message : error}`);
  }
}

/** Returns the JSON text of an input schema. Throws if its type is not object. */
export function checkInputSchema(input: Schema | undefined): string {
  if (!input) {
    return '{"type":"object","additionalProperties":false}';
  }
  const text = schemaText(input, "input");
  const { type } = JSON.parse(text) as { type?: unknown };
  if (type !== "object") {
    throw new Error('it must have "type": "object"');
  }
  return text;
}

function exampleProblems(input: Schema | undefined, examples: readonly InputExample[] = []): string[] {
  const problems: string[] = [];
  examples.forEach((example, i) => {
    const wrong = input && misfit(input, example.arguments);
    if (wrong) {
      problems.push(`its input example ${i + 1}: ${wrong}`);
    }
  });
  return problems;
}

/**
 * Converts the declaration of a plugin to its message. Throws if a schema or a value cannot be
 * encoded.
 */
export function descriptionOf(plugin: Plugin): DescribeResponse {
  return create(DescribeResponseSchema, {
    name: plugin.name,
    version: plugin.version ?? "",
    description: plugin.description ?? "",
    tools: (plugin.tools ?? []).map((t) => specMessage(t.spec)),
    filters: (plugin.filters ?? []).map((f) => ({
      name: f.name,
      description: f.description ?? "",
      before: f.before !== undefined,
      after: f.after !== undefined,
      tools: [...(f.tools ?? [])],
    })),
    defaultTags: [...(plugin.defaultTags ?? [])],
    sdk: { name: "toolhost-typescript", version: VERSION },
    ...(plugin.permissions && { permissions: permissionsMessage(plugin.permissions) }),
  });
}

function permissionsMessage({ network = false, workspace, read = [], write = [] }: Permissions) {
  return {
    network,
    workspace: workspace ? accesses.number(workspace) : Access.UNSPECIFIED,
    read: [...read],
    write: [...write],
  };
}

/** Converts the declaration of a tool to its message. */
export function specMessage(spec: Readonly<ToolSpec>): MessageInitShape<typeof ToolSpecSchema> {
  const timeout = toDuration(spec.timeoutMs);
  const initialBackoff = toDuration(spec.retry?.initialBackoffMs);
  const maxBackoff = toDuration(spec.retry?.maxBackoffMs);
  return {
    name: spec.name,
    version: spec.version ?? "",
    displayName: spec.displayName ?? "",
    description: spec.description,
    category: spec.category ?? "",
    tags: [...(spec.tags ?? [])],
    inputSchema: Buffer.from(checkInputSchema(spec.input)),
    outputSchema: Buffer.from(spec.output ? schemaText(spec.output, "output") : ""),
    inputExamples: (spec.examples ?? []).map(exampleMessage),
    ...(timeout && { timeout }),
    progressExtendsTimeout: spec.progressExtendsTimeout ?? false,
    ...(spec.retry && {
      retry: {
        maxAttempts: spec.retry.maxAttempts,
        ...(initialBackoff && { initialBackoff }),
        ...(maxBackoff && { maxBackoff }),
      },
    }),
    rateLimitPerMinute: spec.rateLimitPerMinute ?? 0,
    memoryLimitBytes: BigInt(spec.memoryLimitBytes ?? 0),
    costPerUse: spec.costPerUse ?? 0,
    requiresAuth: [...(spec.requiresAuth ?? [])],
    sandboxExempt: spec.sandboxExempt ?? false,
    partialArguments: spec.partialArguments ?? false,
    dangerous: spec.dangerous ?? false,
    readOnly: spec.readOnly ?? false,
    idempotent: spec.idempotent ?? false,
    serial: spec.serial ?? false,
    parallel: spec.parallel ?? false,
    returnDirect: spec.returnDirect ?? false,
    strict: spec.strict ?? false,
    dynamic: spec.describe !== undefined,
    settles: spec.settle !== undefined,
    seals: spec.seals ?? false,
    contextKeys: [...(spec.contextKeys ?? [])],
    effectKeys: [...(spec.effectKeys ?? [])],
    metadata: toValues(spec.metadata),
  };
}

/** Converts an example to its message. */
export function exampleMessage(example: InputExample): { description: string; arguments: Uint8Array } {
  return { description: example.description ?? "", arguments: encodeJSONBytes(example.arguments) };
}
