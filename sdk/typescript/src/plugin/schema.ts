/** JSON Schemas of tools: from zod, or as they are. */
import type { $ZodIssue, $ZodType, ToJSONSchemaParams } from "zod/v4/core";
import { safeParseAsync, toJSONSchema } from "zod/v4/core";
import { ToolError } from "../error.js";
import { encodeJSON, type RawJSON } from "../json.js";

/** A JSON Schema (2020-12 or draft-07) as an object, or as text that is sent as it is. */
export type JSONSchema = Readonly<Record<string, unknown>> | RawJSON;

/** What describes arguments or results: a schema of zod, from which the JSON Schema is derived, or a JSON Schema. */
export type Schema = $ZodType | JSONSchema;

/** Reports whether a schema is one of zod. */
export function isZod(schema: Schema): schema is $ZodType {
  return "_zod" in schema;
}

/** Returns the JSON Schema text of what goes into a schema, or comes out of it. Throws where zod cannot say it. */
export function schemaText(schema: Schema, io: "input" | "output"): string {
  if (!isZod(schema)) {
    return encodeJSON(schema);
  }
  const derived = derive(schema, io);
  const { $schema: _, ...rest } = derived; // 2020-12 is what a schema is that does not say
  return encodeJSON(rest);
}

function derive(schema: $ZodType, io: "input" | "output") {
  const options: ToJSONSchemaParams = {
    io,
    target: "draft-2020-12",
    // An object that says nothing of other properties ignores them; a model that misspells one should be told.
    override: ({ zodSchema, jsonSchema }) => {
      const def = zodSchema._zod.def;
      if (def.type === "object" && !("catchall" in def && def.catchall)) {
        jsonSchema.additionalProperties = false;
      }
      dropSafeBounds(jsonSchema);
    },
  };
  try {
    return toJSONSchema(schema, options);
  } catch (error) {
    const words = error instanceof Error ? error.message : error;
    throw new Error(`${words}; use what JSON has, such as z.iso.datetime() in place of z.date()`, { cause: error });
  }
}

/** Drops the bounds of z.int() that are those of JavaScript and say nothing to a model. */
function dropSafeBounds(schema: { minimum?: unknown; maximum?: unknown }): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) {
    delete schema.minimum;
  }
  if (schema.maximum === Number.MAX_SAFE_INTEGER) {
    delete schema.maximum;
  }
}

/** The value that a schema makes of arguments. Throws a ToolError that says to the model what does not fit. */
export async function readArguments(schema: Schema | undefined, value: unknown): Promise<unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new ToolError("the arguments do not fit the tool:\n- arguments: must be an object");
  }
  if (!schema || !isZod(schema)) {
    return value; // toolhost has validated it
  }
  const parsed = await safeParseAsync(schema, value);
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `- ${issuePath(issue)}: ${issue.message}`);
    throw new ToolError(`the arguments do not fit the tool:\n${lines.join("\n")}`);
  }
  return parsed.data;
}

function issuePath(issue: $ZodIssue): string {
  let path = "";
  for (const part of issue.path) {
    path += typeof part === "number" ? `[${part}]` : `${path && "."}${String(part)}`;
  }
  return path || "arguments";
}
