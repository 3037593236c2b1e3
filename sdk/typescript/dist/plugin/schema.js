/** The schemas of tools: conversion to JSON Schema, and validation of arguments. */
import { ToolError } from "../error.js";
import { encodeJSON } from "../json.js";
import { issueLines } from "../standard.js";
/**
 * Lists other names by which models send an argument, such as those that other tools have: as metadata
 * of a zod schema, `z.string().meta(aliases("file_path"))`, or as a part of a JSON Schema,
 * `{ type: "string", ...aliases("file_path") }`. toolhost renames an argument that was sent under one
 * of them, and shows them to no model. The name `*` of an array of objects says that models send the
 * properties of its only item in place of the array.
 */
export function aliases(...names) {
    return { "x-toolhost-aliases": names };
}
/** Reports whether a schema is one of a library, which validates values and has a type. */
export function isStandard(schema) {
    return "~standard" in schema;
}
/**
 * Returns the JSON Schema text of the input or output of a schema. Throws if the library cannot
 * convert it.
 */
export function schemaText(schema, io) {
    if (!isStandard(schema)) {
        return encodeJSON(schema);
    }
    const { $schema: _, ...rest } = derive(schema, io); // a schema without $schema is one of draft 2020-12
    return encodeJSON(rest);
}
function derive(schema, io) {
    const { vendor, jsonSchema } = schema["~standard"];
    if (!jsonSchema) {
        const advice = vendor === "zod" ? "use zod 4.2 or later, and not zod/mini" : "pass a JSON Schema instead";
        throw new Error(`the library ${vendor} cannot convert this schema to a JSON Schema; ${advice}`);
    }
    const options = {
        target: "draft-2020-12",
        ...(vendor === "zod" && { libraryOptions: { override: closeObject } }),
    };
    try {
        return jsonSchema[io](options);
    }
    catch (error) {
        const message = error instanceof Error ? error.message : error;
        throw new Error(`${message}; use types that JSON has, such as z.iso.datetime() instead of z.date()`, { cause: error });
    }
}
/**
 * Adapts the JSON Schema of a zod schema. `z.object` ignores unknown properties, but a model that
 * misspells a property must be told, so the schema rejects them. The bounds that `z.int` adds are
 * those of JavaScript, and tell a model nothing.
 */
function closeObject({ zodSchema, jsonSchema }) {
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
export async function readArguments(schema, value) {
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
function roundBigints(value, issues) {
    let found = false;
    const round = (part) => {
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
        let holder = value;
        const keys = path.map((key) => (typeof key === "object" ? key.key : key));
        const last = keys.pop();
        for (const key of keys) {
            holder = typeof holder === "object" && holder !== null ? Reflect.get(holder, key) : undefined;
        }
        if (last === undefined) {
            round(value);
        }
        else if (typeof holder === "object" && holder !== null && Object.hasOwn(holder, last)) {
            Reflect.set(holder, last, round(Reflect.get(holder, last)));
        }
    }
    return found;
}
/**
 * Returns why a value does not fit a schema. Returns undefined if it fits, or if the validation is
 * asynchronous.
 */
export function misfit(schema, value) {
    if (!isStandard(schema)) {
        return undefined;
    }
    try {
        const validated = schema["~standard"].validate(value);
        if (validated instanceof Promise) {
            validated.catch(() => { }); // the call validates again
            return undefined;
        }
        return validated.issues?.map(({ message }) => message).join("; ");
    }
    catch {
        return undefined;
    }
}
