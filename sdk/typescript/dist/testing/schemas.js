/** Checks of arguments and results against JSON Schemas, as toolhost makes them. */
import { issueLines } from "../standard.js";
/**
 * Returns a function that returns one line for each violation of a JSON Schema. Returns undefined
 * if zod cannot convert the schema, so that only toolhost can check it. Throws if zod 4.2 or later
 * is not installed.
 */
export async function checker(schema) {
    const { fromJSONSchema } = await import("zod").catch((cause) => {
        throw new Error("TestHost needs zod to check JSON Schemas; run npm install --save-dev zod", { cause });
    });
    if (!fromJSONSchema) {
        throw new Error("TestHost needs zod 4.2 or later to check JSON Schemas; run npm install --save-dev zod@latest");
    }
    let type;
    try {
        type = fromJSONSchema(JSON.parse(schema));
    }
    catch {
        return undefined;
    }
    return (value) => {
        const validated = type["~standard"].validate(value);
        return validated instanceof Promise || !validated.issues ? [] : issueLines(validated.issues, "arguments");
    };
}
