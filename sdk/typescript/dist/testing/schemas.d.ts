/**
 * Returns a function that returns one line for each violation of a JSON Schema. Returns undefined
 * if zod cannot convert the schema, so that only toolhost can check it. Throws if zod 4.2 or later
 * is not installed.
 */
export declare function checker(schema: string): Promise<((value: unknown) => string[]) | undefined>;
