/** The schemas of tools: conversion to JSON Schema, and validation of arguments. */
import { ToolError } from "../error.js";
import { encodeJSON, type RawJSON } from "../json.js";
import { type Issue, issueLines, type JSONSchemaOptions, type StandardJSONSchema } from "../standard.js";

/**
 * A JSON Schema (draft 2020-12 or draft-07), as an object or as text that is sent byte for byte.
 */
export type JSONSchema = Readonly<Record<string, unknown>> | RawJSON;

/**
 * Describes arguments or results: a schema of a library that implements Standard Schema with JSON
 * Schema, such as zod from 4.2 on, or a JSON Schema.
 */
export type Schema = StandardJSONSchema | JSONSchema;

/**
 * Lists other names by which models send an argument, such as those that other tools have: as metadata
 * of a zod schema, `z.string().meta(aliases("file_path"))`, or as a part of a JSON Schema,
 * `{ type: "string", ...aliases("file_path") }`. toolhost renames an argument that was sent under one
 * of them, and shows them to no model. The name `*` of an array of objects says that models send the
 * properties of its only item in place of the array.
 */
export function aliases(...names: [string, ...string[]]): Record<"x-toolhost-aliases", readonly string[]> {
  return { "x-toolhost-aliases": names };
}

/** Reports whether a schema is one of a library, which validates values and has a type. */
export function isStandard(schema: Schema): schema is StandardJSONSchema {
  return "~standard" in schema;
}

/**
 * Returns the JSON Schema text of the arguments or results that a schema describes. Throws if the
 * library cannot convert it.
 */
export function schemaText(schema: Schema, io: "input" | "output"): string {
  if (!isStandard(schema)) {
    return encodeJSON(schema);
  }
  const { $schema: _, ...rest } = derive(schema, io === "input" ? closeObject : openResult);
  return encodeJSON(rest); // a schema without $schema is one of draft 2020-12
}

/**
 * Converts a schema. Both arguments and results are its input: the schema is not applied to a
 * result, so a tool may leave out what has a default, and what would be transformed stays as it is.
 */
function derive(schema: StandardJSONSchema, override: (node: ZodNode) => void): Record<string, unknown> {
  const { vendor, jsonSchema } = schema["~standard"];
  if (!jsonSchema) {
    const advice = vendor === "zod" ? "use zod 4.2 or later, and not zod/mini" : "pass a JSON Schema instead";
    throw new Error(`the library ${vendor} cannot convert this schema to a JSON Schema; ${advice}`);
  }
  const options: JSONSchemaOptions = {
    target: "draft-2020-12",
    ...(vendor === "zod" && { libraryOptions: { override } }),
  };
  try {
    return jsonSchema.input(options);
  } catch (error) {
    const message = error instanceof Error ? error.message : error;
    throw new Error(`${message}; use types that JSON has, such as z.iso.datetime() instead of z.date()`, { cause: error });
  }
}

/** A schema of zod. */
interface ZodSchema extends StandardJSONSchema {
  readonly _zod: {
    readonly def: {
      readonly type: string;
      readonly catchall?: unknown;
      readonly coerce?: boolean;
      readonly element?: ZodSchema;
      readonly items?: readonly ZodSchema[];
      readonly rest?: ZodSchema | null;
      readonly shape?: Readonly<Record<string, ZodSchema>>;
      readonly checks?: readonly { readonly _zod: { readonly def: { readonly pattern?: RegExp } } }[];
    };
  };
}

/** A node of a zod schema, as zod passes it to `override`. */
interface ZodNode {
  readonly zodSchema: ZodSchema;
  readonly jsonSchema: {
    additionalProperties?: unknown;
    allOf?: readonly { readonly pattern?: string }[];
    format?: string;
    items?: unknown;
    maximum?: unknown;
    minimum?: unknown;
    minLength?: number;
    multipleOf?: number;
    pattern?: string;
    prefixItems?: unknown[];
    required?: string[];
  };
}

/**
 * Adapts the JSON Schema of arguments. `z.object` ignores unknown properties, but a model that
 * misspells a property must be told, so the schema rejects them.
 */
function closeObject(node: ZodNode): void {
  adapt(node);
  const { def } = node.zodSchema._zod;
  if (def.type === "object" && !def.catchall) {
    node.jsonSchema.additionalProperties = false;
  }
}

/** What regular expressions of JavaScript have and those of toolhost do not, such as (?=x) and \u0041. */
const unreadable = /\(\?<?[=!]|\\[1-9cku]|\\p\{\w{3}/i;

/**
 * Adapts what holds for arguments and results. The bounds that `z.int` adds are those of JavaScript,
 * and tell a model nothing. A regular expression with flags, or one that toolhost cannot read, is left
 * to zod. JSON has no files.
 */
function adapt({ zodSchema, jsonSchema }: ZodNode): void {
  const { def } = zodSchema._zod;
  if (def.type === "file") {
    throw new Error("File cannot be represented in JSON Schema");
  }
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) {
    delete jsonSchema.minimum;
  }
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) {
    delete jsonSchema.maximum;
  }
  if (def.type === "string" || def.type === "template_literal") {
    const flagged = def.checks?.some((check) => /[ims]/.test(check._zod.def.pattern?.flags ?? ""));
    if (flagged || [jsonSchema, ...(jsonSchema.allOf ?? [])].some(({ pattern }) => unreadable.test(pattern ?? ""))) {
      delete jsonSchema.pattern;
      delete jsonSchema.allOf; // several patterns
    }
  }
}

/** The formats that zod checks as strictly as JSON Schema does. */
const exactFormats = new Set(["date", "date-time", "ipv4", "ipv6"]);

/** Reports whether a schema accepts every value, also undefined, whatever it makes of it. */
function takesAll({ _zod: { def } }: ZodSchema): boolean {
  return def.coerce === true || def.type === "catch" || def.type === "unknown" || def.type === "any";
}

/**
 * Adapts the JSON Schema of results, so that it accepts each value that the schema accepts, as
 * encodeJSON writes it. An undefined element of a list is null in JSON. zod counts UTF-16 code units
 * where JSON Schema counts characters.
 */
function openResult(node: ZodNode): void {
  adapt(node);
  const { zodSchema, jsonSchema } = node;
  const { def } = zodSchema._zod;
  if (takesAll(zodSchema)) {
    for (const key of Object.keys(jsonSchema)) {
      Reflect.deleteProperty(jsonSchema, key); // it accepts everything
    }
    return;
  }
  if (jsonSchema.format !== undefined && !exactFormats.has(jsonSchema.format)) {
    delete jsonSchema.format;
  }
  if (jsonSchema.minLength !== undefined) {
    jsonSchema.minLength = Math.min(jsonSchema.minLength, 1);
  }
  if (!Number.isInteger(jsonSchema.multipleOf ?? 1)) {
    delete jsonSchema.multipleOf; // validators divide binary fractions
  }
  if (def.type === "object" && jsonSchema.required) {
    jsonSchema.required = jsonSchema.required.filter((key) => !def.shape?.[key] || misfit(def.shape[key], undefined));
  }
  const orNull = (schema: unknown, of: ZodSchema | null | undefined) =>
    of && !takesAll(of) && misfit(of, undefined) === undefined ? { anyOf: [schema, { type: "null" }] } : schema;
  if (def.type === "array" && jsonSchema.items) {
    jsonSchema.items = orNull(jsonSchema.items, def.element);
  }
  if (def.type === "tuple" && jsonSchema.prefixItems) {
    jsonSchema.prefixItems = jsonSchema.prefixItems.map((item, i) => orNull(item, def.items?.[i]));
    if (jsonSchema.items) {
      jsonSchema.items = orNull(jsonSchema.items, def.rest);
    }
  }
}

/**
 * Validates arguments, and returns the output of the schema. A bigint that the schema refuses becomes
 * a number: a schema that takes numbers says that rounding is right there. Throws a ToolError that
 * tells the model what does not fit.
 */
export async function readArguments(schema: Schema | undefined, value: unknown): Promise<unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new ToolError("the arguments do not fit the tool:\n- arguments: must be an object");
  }
  if (!schema || !isStandard(schema)) {
    return value; // toolhost has validated it
  }
  let validated = await schema["~standard"].validate(value);
  while (validated.issues && roundBigints(value, validated.issues)) {
    validated = await schema["~standard"].validate(value);
  }
  if (validated.issues) {
    throw new ToolError(`the arguments do not fit the tool:\n${issueLines(validated.issues, "arguments").join("\n")}`);
  }
  return validated.value;
}

/** Makes each bigint at or below the place of an issue a number. Reports whether there was one. */
function roundBigints(value: object, issues: readonly Issue[]): boolean {
  let found = false;
  const round = (part: unknown): unknown => {
    if (typeof part === "bigint") {
      found = true;
      return Number(part);
    }
    if (typeof part === "object" && part !== null) {
      for (const [key, inner] of Object.entries(part)) {
        Reflect.set(part, key, round(inner));
      }
    }
    return part;
  };
  for (const { path = [] } of issues) {
    let holder: unknown = value;
    const keys = path.map((key) => (typeof key === "object" ? key.key : key));
    const last = keys.pop();
    for (const key of keys) {
      holder = typeof holder === "object" && holder !== null ? Reflect.get(holder, key) : undefined;
    }
    if (last === undefined) {
      round(value);
    } else if (typeof holder === "object" && holder !== null && Object.hasOwn(holder, last)) {
      Reflect.set(holder, last, round(Reflect.get(holder, last)));
    }
  }
  return found;
}

/**
 * Returns why a value does not fit a schema. Returns undefined if it fits, or if the validation is
 * asynchronous.
 */
export function misfit(schema: Schema, value: unknown): string | undefined {
  if (!isStandard(schema)) {
    return undefined;
  }
  try {
    const validated = schema["~standard"].validate(value);
    if (validated instanceof Promise) {
      validated.catch(() => {}); // the call validates again
      return undefined;
    }
    return validated.issues?.map(({ message }) => message).join("; ");
  } catch {
    return undefined;
  }
}
