import { type RawJSON } from "../json.js";
import { type StandardJSONSchema } from "../standard.js";
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
export declare function aliases(...names: [string, ...string[]]): Record<"x-toolhost-aliases", readonly string[]>;
/** Reports whether a schema is one of a library, which validates values and has a type. */
export declare function isStandard(schema: Schema): schema is StandardJSONSchema;
/**
 * Returns the JSON Schema text of the arguments or results that a schema describes. Throws if the
 * library cannot convert it.
 */
export declare function schemaText(schema: Schema, io: "input" | "output"): string;
/**
 * Validates arguments, and returns the output of the schema. A bigint that the schema refuses becomes
 * a number: a schema that takes numbers says that rounding is right there. Throws a ToolError that
 * tells the model what does not fit.
 */
export declare function readArguments(schema: Schema | undefined, value: unknown): Promise<unknown>;
/**
 * Returns why a value does not fit a schema. Returns undefined if it fits, or if the validation is
 * asynchronous.
 */
export declare function misfit(schema: Schema, value: unknown): string | undefined;
