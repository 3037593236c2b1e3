import { Result } from "../content.js";
import type { Call } from "./call.js";
/** A call that a filter examines. */
export interface FilterCall {
    /** The id of the filtered call. Undefined if it has none. */
    readonly callId: string | undefined;
    /**
     * The identity of the caller. For a tool in `tools` of the filter, it is empty unless the tool
     * declares the context key `toolhost.principal`.
     */
    readonly principal: string;
    /** The session of the filtered call. Undefined if it has none. */
    readonly session: string | undefined;
    /** The name of the tool. */
    readonly tool: string;
    /** The plugin of the tool. */
    readonly plugin: string;
    /**
     * Before the call, the arguments of the caller or of the previous filter. After the call, the
     * executed arguments. Integers beyond 2^53 are bigint.
     */
    readonly arguments: Readonly<Record<string, unknown>>;
}
/** An executed call that a filter examines. */
export interface FilteredCall extends FilterCall {
    /** The result of the tool. */
    readonly result: Result;
}
/** What a filter changes before a call. Returning nothing allows the call unchanged. */
export type BeforeAnswer = {
    readonly arguments: Readonly<Record<string, unknown>>;
} | {
    readonly deny: string;
} | {
    readonly answer: Result;
};
/** What a filter changes after a call. Returning nothing keeps the result. */
export type AfterAnswer = {
    readonly result: Result;
};
type Answer<A> = A | undefined | void | Promise<A | undefined | void>;
/**
 * A filter. The configuration of the operator selects the calls and the order of the filters. The
 * functions run concurrently for different calls. If one throws, the filter has failed, and the
 * configuration decides about the call.
 */
export interface Filter {
    /**
     * 1 to 64 of the characters A-Z a-z 0-9 _ -, beginning with a letter. No tool of the plugin may
     * have the same name.
     */
    readonly name: string;
    /** What it does, for operators. */
    readonly description?: string;
    /**
     * Names of tools of the same plugin whose calls always pass the filter. The operator configures
     * nothing. Such a call fails if the filter fails. `before` runs before the rules of the operator
     * and the approval of a person, which decide about the arguments that it returns. So it must have
     * no side effects, and must not return `answer`. Default: none; only the configuration of the
     * operator applies the filter.
     */
    readonly tools?: readonly string[];
    /**
     * Runs before a call, when its arguments are neither repaired nor validated. `own` is the call of
     * the filter itself.
     */
    readonly before?: (call: FilterCall, own: Call) => Answer<BeforeAnswer>;
    /**
     * Runs after the tool has returned a result, also if that reports a failure. `own` is the call of
     * the filter itself.
     */
    readonly after?: (call: FilteredCall, own: Call) => Answer<AfterAnswer>;
}
/** Runs a filter, and returns its answer in the form that toolhost expects. */
export declare function askFilter(filter: Filter, question: string, own: Call): Promise<Result>;
/** Encodes the request of a filter, for tests of filters. */
export declare function encodeQuestion(phase: "before" | "after", call: Partial<FilteredCall>): string;
/** Decodes the result in the answer of a filter, for tests of filters. */
export declare function decodeAnsweredResult(value: unknown): Result;
export {};
