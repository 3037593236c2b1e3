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
 * Returns the JSON Schema text of the input or output of a schema. Throws if the library cannot
 * convert it.
 */
export function schemaText(schema: Schema, io: "input" | "output"): string {
  if (!isStandard(schema)) {
    return encodeJSON(schema);
  }
  const { $schema: _, ...rest } = derive(schema, io); // a schema without $schema is one of draft 2020-12
  return encodeJSON(rest);
}

function derive(schema: StandardJSONSchema, io: "input" | "output"): Record<string, unknown> {
  const { vendor, jsonSchema } = schema["~standard"];
  if (!jsonSchema) {
    const advice = vendor === "zod" ? "use zod 4.2 or later, and not zod/mini" : "pass a JSON Schema instead";
    throw new Error(`the library ${vendor} cannot convert this schema to a JSON Schema; ${advice}`);
  }
  const options: JSONSchemaOptions = {
    target: "draft-2020-12",
    ...(vendor === "zod" && { libraryOptions: { override: closeObject } }),
  };
  try {
    return jsonSchema[io](options);
  } catch (error) {
    const message = error instanceof Error ? error.message : error;
    throw new Error(`${message}; use types that JSON has, such as z.iso.datetime() instead of z.date()`, { cause: error });
  }
}

/** A node of a zod schema, as zod passes it to `override`. */
interface ZodNode {
  readonly zodSchema: { readonly _zod: { readonly def: { readonly type: string; readonly catchall?: unknown } } };
  readonly jsonSchema: { additionalProperties?: unknown; minimum?: unknown; maximum?: unknown };
}

/**
 * Adapts the JSON Schema of a zod schema. `z.object` ignores unknown properties, but a model that
 * misspells a property must be told, so the schema rejects them. The bounds that `z.int` adds are
 * those of JavaScript, and tell a model nothing.
 */
function closeObject({ zodSchema, jsonSchema }: ZodNode): void {
  const { def } = zodSchema._zod;
  if (def.type === "object" && !def.catchall) {
    jsonSchema.additionalProperties = false;
  }
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) {
    delete jsonSchema.minimum;
  }
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) {
    delete jsonSchema.maximum;
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
