import { encodeJSON, parseJSON } from "../json.js";
import { describePlugin } from "../plugin/dynamic.js";
import { encodeQuestion } from "../plugin/filter.js";
import { complaint, descriptionJSON } from "../plugin/introduction.js";
import { validatePlugin } from "../plugin/plugin.js";
import { toDuration, toValues } from "../wire/scalars.js";
import { TestCall } from "./call.js";
import { TestClient } from "./client.js";
import { filtered } from "./filtered.js";
import { callFiltered } from "./ownfilters.js";
import { checker } from "./schemas.js";
import { MemoryToolhost } from "./toolhost.js";
/**
 * Runs the tools of a plugin in a test. The first call runs `open` of the plugin. `close`, or the
 * end of an `await using` block, cancels the remaining calls and runs `close` of the plugin.
 */
export class TestHost {
    #plugin;
    #toolhost;
    #opened;
    #number = 0;
    /** Throws if the declaration of the plugin is invalid. */
    constructor(plugin) {
        const problems = validatePlugin(plugin);
        if (problems.length > 0) {
            throw new Error(complaint(plugin, problems));
        }
        this.#plugin = plugin;
        this.#toolhost = new MemoryToolhost(plugin);
    }
    /**
     * Returns the declaration of the plugin with its JSON Schemas, as a session and its context see
     * it.
     */
    async describe(options = {}) {
        const { session = "", context } = options;
        const description = await describePlugin(this.#plugin, { tools: [], session, context: toValues(context) });
        return JSON.parse(descriptionJSON(description));
    }
    /**
     * Runs a tool and waits for the end of the call. Throws if the result does not fit the output
     * schema. The call passes the filters that the plugin applies to the tool. `stream` runs the tool
     * alone.
     */
    async call(tool, args = {}, options = {}) {
        await this.#openPlugin();
        const text = typeof args === "string" ? args : encodeJSON(args);
        const own = (this.#plugin.filters ?? []).filter((f) => f.tools?.includes(tool));
        const value = own.length > 0 ? objectOf(text) : undefined;
        if (value === undefined) {
            return (await this.#callAlone(tool, text, options)).done;
        }
        const { callId, session } = options;
        return callFiltered(own, { callId, session, tool, plugin: this.#plugin.name, arguments: value }, {
            host: this,
            run: (changed) => this.#callAlone(tool, changed, options),
            refused: (error) => Object.assign(this.#open(tool, options, ""), { result: undefined, error }),
        });
    }
    async #callAlone(tool, text, options) {
        const refusal = await this.#refusal(tool, text, options);
        const done = this.#open(tool, options, refusal);
        if (refusal === undefined) {
            done.complete(text);
        }
        await done.ended;
        await this.#checkOutput(tool, done, options);
        return { done, executed: refusal === undefined };
    }
    /**
     * Starts a call whose arguments arrive in pieces: `append` them, `complete` it, and wait for
     * `ended`.
     */
    stream(tool, options = {}) {
        return this.#open(tool, options);
    }
    /**
     * Asks a tool what became of the call with `callId` and these arguments. It executes nothing.
     * Rejects with a ToolhostError if the tool gives no answer.
     */
    async settle(tool, args = {}, options = {}) {
        await this.#openPlugin();
        const text = Buffer.from(typeof args === "string" ? args : encodeJSON(args));
        const { signal, artifacts = {}, answer } = options;
        const start = { ...this.#start(tool, options), settle: true, complete: true, arguments: text };
        const heard = { statuses: [], logs: [], news: () => { } };
        const { number, ended } = this.#toolhost.open(start, heard, artifacts, answer);
        const cancel = () => this.#toolhost.send(number, { case: "cancel", value: {} });
        if (signal?.aborted) {
            cancel();
        }
        signal?.addEventListener("abort", cancel, { once: true });
        const { error, settlement = { verdict: "unknown" } } = await ended;
        signal?.removeEventListener("abort", cancel);
        if (error) {
            throw error;
        }
        return settlement;
    }
    #open(tool, options, refusal) {
        return new TestCall(this.#toolhost, this.#start(tool, options), options, refusal);
    }
    #start(tool, options) {
        this.#number++;
        const { callId = `call-${this.#number}`, attempt = 1, session = "", workspace = "", traceparent = "" } = options;
        const spec = this.#plugin.tools?.find((t) => t.spec.name === tool)?.spec;
        const timeout = toDuration(options.timeoutMs);
        return {
            callId,
            effectKey: callId,
            tool,
            attempt,
            ...(timeout && { timeout }),
            context: {
                session,
                workspace,
                traceparent,
                ...(options.answer && { answers: { person: true, model: true } }),
                values: toValues(only(options.context, spec?.contextKeys)),
                secrets: only(options.secrets, spec?.requiresAuth),
            },
        };
    }
    /** Runs the `before` function of a filter. */
    before(filter, call, options = {}) {
        return this.#ask("before", filter, call, options);
    }
    /** Runs the `after` function of a filter, for a call with the result `call.result`. */
    after(filter, call, options = {}) {
        return this.#ask("after", filter, call, options);
    }
    async #ask(phase, filter, call, options) {
        const own = this.stream(filter, options);
        own.complete(encodeQuestion(phase, call));
        await own.ended;
        return filtered(own);
    }
    /**
     * Cancels the remaining calls, waits for them, and runs `close` of the plugin if `open` has run.
     */
    async close() {
        await this.#toolhost.close();
        const opened = this.#opened;
        this.#opened = undefined;
        if (opened !== undefined) {
            await opened;
            await this.#plugin.close?.();
        }
    }
    /** Closes the host at the end of an `await using` block. */
    [Symbol.asyncDispose]() {
        return this.close();
    }
    /** A client for code under test that takes a `ToolCaller`. */
    get client() {
        return new TestClient(this, this.#plugin);
    }
    /** Runs `open` of the plugin once, before the first call. */
    #openPlugin() {
        this.#opened ??= Promise.resolve().then(() => this.#plugin.open?.());
        return this.#opened;
    }
    /**
     * Returns the message of toolhost to the model for arguments that do not fit the schema, or
     * undefined if they fit.
     */
    async #refusal(tool, text, options) {
        const schema = (await this.describe(options)).tools.find(({ name }) => name === tool)?.input_schema;
        let value;
        try {
            value = JSON.parse(text);
        }
        catch (error) {
            return `the arguments are not JSON: ${error instanceof Error ? error.message : error}`;
        }
        const lines = schema ? ((await checker(JSON.stringify(schema)))?.(value) ?? []) : [];
        return lines.length > 0 ? `the arguments do not fit the tool's schema:\n${lines.join("\n")}` : undefined;
    }
    async #checkOutput(tool, { result }, options) {
        const schema = (await this.describe(options)).tools.find(({ name }) => name === tool)?.output_schema;
        const check = schema && result && !result.isError ? await checker(JSON.stringify(schema)) : undefined;
        for (const block of result?.content ?? []) {
            const lines = block.kind === "json" ? (check?.(parseJSON(block.json)) ?? []) : [];
            if (lines.length > 0) {
                throw new Error(`tool ${JSON.stringify(tool)}: its result does not fit its output schema:\n${lines.join("\n")}`);
            }
        }
    }
}
function only(values = {}, declared = []) {
    return Object.fromEntries(Object.entries(values).filter(([key]) => declared.includes(key)));
}
/** Returns the object that JSON text is; undefined if it is none. No filter sees other arguments. */
function objectOf(text) {
    try {
        const value = parseJSON(text);
        const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
        return isObject ? value : undefined;
    }
    catch {
        return undefined;
    }
}
