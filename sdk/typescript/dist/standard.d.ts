/**
 * The types of Standard Schema (standardschema.dev), which zod, valibot, arktype and other
 * libraries implement. The specification asks libraries to copy these types, so that they need no
 * dependency.
 */
/** A schema that validates values. */
export interface StandardSchema<Input = unknown, Output = Input> {
    readonly "~standard": {
        readonly version: 1;
        readonly vendor: string;
        readonly types?: {
            readonly input: Input;
            readonly output: Output;
        } | undefined;
        readonly validate: (value: unknown) => Validated<Output> | Promise<Validated<Output>>;
    };
}
/** A schema that validates values and can be converted to a JSON Schema. zod has it from 4.2 on. */
export interface StandardJSONSchema<Input = unknown, Output = Input> {
    readonly "~standard": StandardSchema<Input, Output>["~standard"] & {
        readonly jsonSchema: {
            readonly input: (options: JSONSchemaOptions) => Record<string, unknown>;
            readonly output: (options: JSONSchemaOptions) => Record<string, unknown>;
        };
    };
}
/** The options of a conversion to a JSON Schema. */
export interface JSONSchemaOptions {
    readonly target: "draft-2020-12" | "draft-07" | "openapi-3.0" | ({} & string);
    readonly libraryOptions?: Record<string, unknown> | undefined;
}
/** The result of a validation. */
export type Validated<Output> = {
    readonly value: Output;
    readonly issues?: undefined;
} | {
    readonly issues: readonly Issue[];
};
/** A violation of a schema. */
export interface Issue {
    readonly message: string;
    readonly path?: readonly (PropertyKey | {
        readonly key: PropertyKey;
    })[] | undefined;
}
type TypesOf<S> = S extends {
    readonly "~standard": {
        readonly types?: infer T;
    };
} ? NonNullable<T> : never;
/** The type of the values that a schema accepts. */
export type InferInput<S> = TypesOf<S> extends {
    readonly input: infer I;
} ? I : never;
/** The type of the values that a schema returns. */
export type InferOutput<S> = TypesOf<S> extends {
    readonly output: infer O;
} ? O : never;
/** Returns one line for each issue. `whole` names the value itself. */
export declare function issueLines(issues: readonly Issue[], whole: string): string[];
export {};
