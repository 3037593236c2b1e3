import type { ToolCaller } from "../client/caller.js";
import type { Content } from "../content.js";
import { type FilterCall, type FilteredCall } from "../plugin/filter.js";
import { type Plugin } from "../plugin/plugin.js";
import type { Answer, ModelQuestion, PersonQuestion } from "../question.js";
import type { Settlement } from "../settlement.js";
import { TestCall } from "./call.js";
import { type Filtered } from "./filtered.js";
/** The options of a call in a test. */
export interface TestOptions {
    /** The call id. Default: the host generates one. */
    readonly callId?: string;
    /** The number of the attempt. Default: 1. */
    readonly attempt?: number;
    /** The session. */
    readonly session?: string;
    /** The folder that the tool may work in. */
    readonly workspace?: string;
    /** The run context. As in production, a tool receives only the keys that it declares. */
    readonly context?: Readonly<Record<string, unknown>>;
    /** The available secrets. As in production, a tool receives only those that it declares. */
    readonly secrets?: Readonly<Record<string, string>>;
    /** The W3C traceparent. */
    readonly traceparent?: string;
    /** The longest duration of the call, in milliseconds. */
    readonly timeoutMs?: number;
    /** Cancels the call. */
    readonly signal?: AbortSignal;
    /** Blocks of content that the tool can read as artifacts, by handle. */
    readonly artifacts?: Readonly<Record<string, Content>>;
    /**
     * Answers the questions of the tool. The question has either `person` or `model`. Default: a tool
     * that asks gets the error `unsupported`.
     */
    readonly answer?: Answerer;
}
/** Answers a question of a tool in a test. */
export type Answerer = (question: {
    person: PersonQuestion;
} | {
    model: ModelQuestion;
}) => Answer | Promise<Answer>;
interface Declared {
    readonly name: string;
    readonly input_schema?: unknown;
    readonly output_schema?: unknown;
    readonly [member: string]: unknown;
}
/** The declaration of a plugin, as `--describe` prints it. */
export interface Description {
    readonly name: string;
    readonly tools: readonly Declared[];
    readonly [member: string]: unknown;
}
/**
 * Runs the tools of a plugin in a test. The first call runs `open` of the plugin. `close`, or the
 * end of an `await using` block, cancels the remaining calls and runs `close` of the plugin.
 */
export declare class TestHost implements AsyncDisposable {
    #private;
    /** Throws if the declaration of the plugin is invalid. */
    constructor(plugin: Plugin);
    /**
     * Returns the declaration of the plugin with its JSON Schemas, as a session and its context see
     * it.
     */
    describe(options?: Pick<TestOptions, "session" | "context">): Promise<Description>;
    /**
     * Runs a tool and waits for the end of the call. Throws if the result does not fit the output
     * schema. The call passes the filters that the plugin applies to the tool. `stream` runs the tool
     * alone.
     */
    call(tool: string, args?: Readonly<Record<string, unknown>> | string, options?: TestOptions): Promise<TestCall>;
    /**
     * Starts a call whose arguments arrive in pieces: `append` them, `complete` it, and wait for
     * `ended`.
     */
    stream(tool: string, options?: TestOptions): TestCall;
    /**
     * Asks a tool what became of the call with `callId` and these arguments. It executes nothing.
     * Rejects with a ToolhostError if the tool gives no answer.
     */
    settle(tool: string, args?: Readonly<Record<string, unknown>> | string, options?: TestOptions): Promise<Settlement>;
    /** Runs the `before` function of a filter. */
    before(filter: string, call: Partial<FilterCall>, options?: TestOptions): Promise<Filtered>;
    /** Runs the `after` function of a filter, for a call with the result `call.result`. */
    after(filter: string, call: Partial<FilteredCall>, options?: TestOptions): Promise<Filtered>;
    /**
     * Cancels the remaining calls, waits for them, and runs `close` of the plugin if `open` has run.
     */
    close(): Promise<void>;
    /** Closes the host at the end of an `await using` block. */
    [Symbol.asyncDispose](): Promise<void>;
    /** A client for code under test that takes a `ToolCaller`. */
    get client(): ToolCaller;
}
export {};
