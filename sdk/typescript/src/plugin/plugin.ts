/** A plugin: what it declares of itself, whether that is right, and how the contract says it. */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type $ZodType, safeParse } from "zod/v4/core";
import { type DescribeResponse, DescribeResponseSchema } from "../gen/toolhost/plugin/v1/plugin_pb.js";
import { Access } from "../gen/toolhost/tool/v1/permissions_pb.js";
import type { ToolSpecSchema } from "../gen/toolhost/tool/v1/spec_pb.js";
import { encodeJSONBytes } from "../json.js";
import { accesses } from "../wire/enums.js";
import { toDuration, toValues } from "../wire/scalars.js";
import type { Filter } from "./filter.js";
import { isZod, type Schema, schemaText } from "./schema.js";
import type { InputExample, Tool, ToolSpec } from "./tool.js";

/** What a plugin asks to be allowed, besides what every plugin may. */
export interface Permissions {
  /** The network. */
  readonly network?: boolean;
  /** What it wants to do in the workspace. Default: nothing. */
  readonly workspace?: "none" | "read" | "write";
  /** Absolute paths of further files and folders that it wants to read. */
  readonly read?: readonly string[];
  /** Absolute paths of further files and folders that it wants to change. */
  readonly write?: readonly string[];
}

/** An executable that ships tools, filters or both. `serve` runs it. */
export interface Plugin {
  /** 1 to 64 of the characters A-Z a-z 0-9 _ -, beginning with a letter. */
  readonly name: string;
  /** Free text; semantic versioning is usual. */
  readonly version?: string;
  /** One line on what the plugin is. */
  readonly description?: string;
  /** Its tools. There must be some, unless there are filters. No name may repeat. */
  readonly tools?: readonly Tool[];
  /** Its filters. Usually there are none. */
  readonly filters?: readonly Filter[];
  /** Tags for the tools that declare none. */
  readonly defaultTags?: readonly string[];
  /** What it asks to be allowed. To ask opens nothing: the operator's configuration does. Usually not needed. */
  readonly permissions?: Permissions;
  /** Is called once at the end of the process, when the calls have ended or had their time to. */
  readonly close?: () => void | Promise<void>;
}

const namePattern = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/**
 * Returns all that is wrong with the plugin's declaration and its tools', one line each; none means that it can be
 * served. `serve` refuses to run a plugin that has some.
 */
export function problemsOf(plugin: Plugin): string[] {
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
      problems.push(`tool number ${i + 1}: it was not made by tool() or objectTool()`);
      return;
    }
    check("tool", t.spec.name, i, toolProblems(t));
  });
  filters.forEach((f, i) => {
    const own = nameProblems(f.name);
    if (!f.before && !f.after) {
      own.push("it has neither before nor after");
    }
    check("filter", f.name, i, own);
  });
  return problems;
}

function nameProblems(name: unknown): string[] {
  if (typeof name === "string" && namePattern.test(name)) {
    return [];
  }
  const what = name ? `the name ${JSON.stringify(name)} is ill-formed` : "the name is empty";
  return [`${what}; use 1 to 64 of A-Z a-z 0-9 _ -, beginning with a letter`];
}

function toolProblems({ spec, previews }: Tool): string[] {
  const problems = nameProblems(spec.name);
  if (!spec.description?.trim()) {
    problems.push("its description is empty; say what it is for, when not to use it and what it returns");
  }
  if (spec.partialArguments && !previews) {
    problems.push("it declares partialArguments, but a function cannot be shown them; use objectTool");
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

/** Returns the text of an input schema. Throws where it does not describe an object. */
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
    const wrong = input && isZod(input) ? misfit(input, example.arguments) : undefined;
    if (wrong) {
      problems.push(`its input example ${i + 1}: ${wrong}`);
    }
  });
  return problems;
}

/** Returns why a value does not fit a schema of zod, or undefined if it does or only a call can tell. */
export function misfit(schema: $ZodType, value: unknown): string | undefined {
  try {
    const parsed = safeParse(schema, value);
    return parsed.success ? undefined : parsed.error.issues.map((issue) => issue.message).join("; ");
  } catch {
    return undefined; // a schema that is asynchronous
  }
}

/** Returns what the plugin says of itself. Throws where a schema or JSON value cannot be said. */
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
    })),
    defaultTags: [...(plugin.defaultTags ?? [])],
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

/** Returns a tool's declaration as the contract has it. */
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
    returnDirect: spec.returnDirect ?? false,
    strict: spec.strict ?? false,
    dynamic: spec.describe !== undefined,
    contextKeys: [...(spec.contextKeys ?? [])],
    effectKeys: [...(spec.effectKeys ?? [])],
    metadata: toValues(spec.metadata),
  };
}

/** Returns an example as the contract has it. */
export function exampleMessage(example: InputExample): { description: string; arguments: Uint8Array } {
  return { description: example.description ?? "", arguments: encodeJSONBytes(example.arguments) };
}
