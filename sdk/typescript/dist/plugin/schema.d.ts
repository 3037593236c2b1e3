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
