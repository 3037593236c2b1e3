import { ToolhostError } from "../error.js";
import { ToolService } from "../gen/toolhost/v1/tool_service_pb.js";
import { toAnswer } from "../wire/questions.js";
import { toValues } from "../wire/scalars.js";
import { findAddresses, formatAddress } from "./address.js";
import { CallStream } from "./callstream.js";
import { resolveCredentials } from "./credentials.js";
import { EventReader } from "./events.js";
import { Execution } from "./execution.js";
import { sayable } from "./failure.js";
import { callerInfo, onBehalfOfField } from "./identity.js";
import { makeDecision, readChanges, readDecision, readPages } from "./inboxrequests.js";
import { heeding, Link } from "./link.js";
import { argumentBytes, isStream, optionsMessage, typedOutcome, } from "./options.js";
import { toMessage, toPart, toPrompt, toResource, toTemplate, } from "./resources.js";
import { pauseBeforeRetry } from "./retry.js";
import { toDecideRequest } from "./runwire.js";
import { selectionMessage, toolFormats, toolInfo, } from "./tools.js";
import { versionInfo } from "./version.js";
/** The largest message that either side accepts, in bytes. */
const maxMessageBytes = 4 << 20;
/**
 * A client of a toolhost. It connects on first use, and connects again after the connection is
 * lost. All methods throw a ToolhostError for infrastructure errors. Any number of calls may run at
 * the same time; they share one connection. An open client does not keep the process alive.
 */
export class Toolhost {
    #link;
    #defaults;
    #stream; // the one that accepts new calls
    /** Creates a client. It does not connect yet. */
    constructor(options = {}) {
        const places = findAddresses(options.address, "toolhost").map((address) => {
            return { address, credentials: resolveCredentials("toolhost", address, options) };
        });
        this.#link = new Link(places, "toolhost", maxMessageBytes, options.rpcTimeoutMs);
        this.#defaults = options;
    }
    /** The address of the toolhost. Of several, it is the one that the client uses now. */
    get address() {
        return formatAddress(this.#link.address);
    }
    /** Closes the connection. Calls in progress end as if the connection was lost. */
    close() {
        this.#link.close();
    }
    /** Closes the client at the end of an `await using` block. */
    async [Symbol.asyncDispose]() {
        this.close();
    }
    #viewer(viewer) {
        const { session, context, onBehalfOf } = this.#defaults;
        return {
            ...(session !== undefined && { session }),
            ...(context && { context }),
            ...(onBehalfOf && { onBehalfOf }),
            ...viewer,
        };
    }
    /** Returns the fields of a request about an existing call or artifact that say to which it belongs. */
    #owner(options) {
        const { session = "", onBehalfOf } = this.#defaults;
        return { session: options.session ?? session, ...onBehalfOfField(options.onBehalfOf ?? onBehalfOf) };
    }
    #selection(query) {
        const viewer = this.#viewer(query);
        return { selection: selectionMessage(viewer), ...onBehalfOfField(viewer.onBehalfOf) };
    }
    /**
     * Makes a unary RPC of any service of toolhost, such as `AdminService.method.listPlugins` of
     * `@toolhost/sdk/proto`.
     */
    invoke(method, request, signal) {
        return this.#link.unary(method, request, signal);
    }
    /** Returns the version, the commit and the contracts of the running toolhost. */
    async version(options = {}) {
        const { version } = await this.#link.unary(ToolService.method.getVersion, {}, options.signal);
        return versionInfo(version, "toolhost");
    }
    /**
     * Returns how toolhost identified this client, and what the client may do. Every client that toolhost
     * has identified may ask.
     */
    async whoAmI(options = {}) {
        const { caller } = await this.#link.unary(ToolService.method.whoAmI, {}, options.signal);
        return callerInfo(caller, "toolhost");
    }
    /** Returns the matching tools, ordered by name. */
    async listTools(query = {}) {
        const tools = [];
        for (let pageToken = "";;) {
            const page = await this.#link.unary(ToolService.method.listTools, { ...this.#selection(query), pageToken, pageSize: 1000 }, // the limit of toolhost
            query.signal);
            tools.push(...page.tools.map(toolInfo));
            pageToken = page.nextPageToken;
            if (!pageToken) {
                return tools;
            }
        }
    }
    /** Returns one tool, as it is declared for a session. Error kinds: not_found. */
    async getTool(name, viewer = {}) {
        const { session = "", context, onBehalfOf, signal } = this.#viewer(viewer);
        const request = sayable(() => ({ name, session, context: toValues(context), ...onBehalfOfField(onBehalfOf) }));
        const answer = await this.#link.unary(ToolService.method.getTool, request, signal);
        if (!answer.tool) {
            throw new ToolhostError("internal", "toolhost sent no tool");
        }
        return toolInfo(answer.tool);
    }
    /** Returns the matching tools that contain at least one of the words, the best match first. */
    async searchTools(words, query = {}) {
        const request = { query: words, ...this.#selection(query) };
        const { matches } = await this.#link.unary(ToolService.method.searchTools, request, query.signal);
        return matches.flatMap(({ tool, score }) => (tool ? [{ tool: toolInfo(tool), score }] : []));
    }
    /** Returns the matching tools that are available, in the format of a model API or of a prompt. */
    async renderTools(format, query = {}) {
        if (!Object.hasOwn(toolFormats, format)) {
            const known = Object.keys(toolFormats).join(", ");
            throw new ToolhostError("invalid_argument", `there is no format ${JSON.stringify(format)}; use one of ${known}`);
        }
        const request = { format: toolFormats[format], ...this.#selection(query) };
        const answer = await this.#link.unary(ToolService.method.renderTools, request, query.signal);
        const { mediaType, tools } = answer;
        const omitted = answer.omitted.map(({ name, reason }) => ({ name, reason }));
        return { content: Buffer.from(answer.content).toString("utf8"), mediaType, tools, omitted };
    }
    async call(tool, args = {}, options = {}) {
        const named = options.callId !== undefined;
        for (let attempt = 1;; attempt++) {
            try {
                const outcome = await this.#callOnce(tool, args, options);
                return options.output ? await typedOutcome(outcome, options.output) : outcome;
            }
            catch (error) {
                // An argument stream can be read only once.
                const pause = isStream(args) ? undefined : pauseBeforeRetry(this.#defaults.retry, attempt, error, named);
                if (pause === undefined) {
                    throw error;
                }
                const waiting = new Promise((resolve) => setTimeout(resolve, pause));
                await heeding(options.signal, waiting);
            }
        }
    }
    async #callOnce(tool, args, options, renew = true) {
        const { onEvent } = options;
        const stream = this.#calls();
        const execution = this.#execute(tool, args, options, !onEvent, stream);
        let begun = false;
        if (onEvent) {
            for await (const event of execution) {
                if (event.type !== "ended") {
                    begun = true;
                    onEvent(event);
                }
            }
        }
        try {
            return await execution.outcome();
        }
        catch (error) {
            // toolhost refuses a call unexecuted when the token of its stream has expired.
            const refused = error instanceof ToolhostError && error.kind === "unavailable" && error.plugin === undefined;
            if (!refused || begun || !renew || isStream(args) || !(await this.#link.renew(stream.token))) {
                throw error;
            }
        }
        return this.#callOnce(tool, args, options, false);
    }
    /**
     * Starts a call and returns it while it runs. Without arguments, `send` and `complete` of the
     * execution supply them in pieces, and a tool that declares `partialArguments` receives them
     * before they are complete. The call is executed once its arguments are complete, and the client
     * never repeats it.
     */
    execute(tool, args, options = {}) {
        return this.#execute(tool, args, options, false, this.#calls());
    }
    #execute(tool, args, options, outcomeOnly, stream) {
        const { signal } = options;
        const { timeoutMs } = this.#defaults;
        const all = this.#viewer({ ...(timeoutMs !== undefined && { timeoutMs }), ...options });
        const opening = { tool, options: { ...sayable(() => optionsMessage(all)), outcomeOnly }, signal };
        if (args === undefined || isStream(args)) {
            const execution = new Execution(stream, opening, undefined);
            if (args) {
                void sendPieces(args, execution);
            }
            return execution;
        }
        const whole = sayable(() => argumentBytes(args));
        return new Execution(stream, opening, whole);
    }
    /** Returns the stream that all calls share, or a new one if that accepts no more calls. */
    #calls() {
        if (!this.#stream?.free) {
            this.#stream = new CallStream(this.#link, maxMessageBytes);
        }
        return this.#stream;
    }
    /**
     * Yields the events of an existing call of this user whose `seq` is greater than `afterSeq`:
     * first the stored events, then new ones, up to `ended`. Leaving the loop does not cancel the
     * call. Error kinds: not_found.
     */
    async *watchCall(callId, options = {}) {
        const { afterSeq = 0, signal } = options;
        const request = sayable(() => ({ callId, ...this.#owner(options), afterSeq: BigInt(afterSeq) }));
        const reader = new EventReader();
        for await (const { event: message } of this.#link.stream(ToolService.method.watchCall, request, signal)) {
            const event = message && reader.read(message);
            if (event) {
                yield event;
            }
        }
    }
    /**
     * Returns the resources that plugins offer, ordered by plugin and URI. It may start instances, and
     * leaves out plugins that cannot be listed. Error kinds: not_found for an unknown plugin.
     */
    async listResources(options = {}) {
        const request = sayable(() => ({ plugin: options.plugin ?? "", ...this.#owner(options), pageSize: 1000 }));
        const found = [];
        for (let pageToken = "";;) {
            const page = await this.#link.unary(ToolService.method.listResources, { ...request, pageToken }, options.signal);
            found.push(...page.resources.map(toResource));
            pageToken = page.nextPageToken;
            if (pageToken === "") {
                return found;
            }
        }
    }
    /** Returns the templates of resources that plugins offer, ordered by plugin and template. */
    async listResourceTemplates(options = {}) {
        const request = sayable(() => ({ plugin: options.plugin ?? "", ...this.#owner(options), pageSize: 1000 }));
        const found = [];
        for (let pageToken = "";;) {
            const method = ToolService.method.listResourceTemplates;
            const page = await this.#link.unary(method, { ...request, pageToken }, options.signal);
            found.push(...page.resourceTemplates.map(toTemplate));
            pageToken = page.nextPageToken;
            if (pageToken === "") {
                return found;
            }
        }
    }
    /**
     * Returns the content of a resource. Content that is too large is an artifact. Error kinds:
     * not_found; invalid_argument if several plugins offer the URI; denied by a rule.
     */
    async readResource(uri, options = {}) {
        const { plugin = "", maxShownBytes = 0, signal } = options;
        const request = sayable(() => ({ plugin, uri, ...this.#owner(options), maxShownBytes }));
        const { contents } = await this.#link.unary(ToolService.method.readResource, request, signal);
        return contents.map(toPart);
    }
    /** Returns the prompts that plugins offer, ordered by plugin and name. */
    async listPrompts(options = {}) {
        const request = sayable(() => ({ plugin: options.plugin ?? "", ...this.#owner(options), pageSize: 1000 }));
        const found = [];
        for (let pageToken = "";;) {
            const page = await this.#link.unary(ToolService.method.listPrompts, { ...request, pageToken }, options.signal);
            found.push(...page.prompts.map(toPrompt));
            pageToken = page.nextPageToken;
            if (pageToken === "") {
                return found;
            }
        }
    }
    /**
     * Returns a prompt with its arguments filled in. Error kinds: not_found; invalid_argument if several
     * plugins offer the name; denied by a rule.
     */
    async getPrompt(name, args = {}, options = {}) {
        const request = sayable(() => ({ plugin: options.plugin ?? "", name, arguments: { ...args }, ...this.#owner(options) }));
        const { plugin, description, messages } = await this.#link.unary(ToolService.method.getPrompt, request, options.signal);
        return { plugin, description, messages: messages.map(toMessage) };
    }
    /** Returns values of an argument of a prompt or a template. Error kinds: those of getPrompt. */
    async completeArgument(of, argument, value, options = {}) {
        const owner = "prompt" in of ? { case: "prompt", value: of.prompt } : { case: "uriTemplate", value: of.uriTemplate };
        const request = sayable(() => ({
            plugin: options.plugin ?? "",
            of: owner,
            argument,
            value,
            arguments: { ...options.arguments },
            ...this.#owner(options),
        }));
        const { values, total, more } = await this.#link.unary(ToolService.method.completeArgument, request, options.signal);
        return { values, total, more };
    }
    /**
     * Yields notices of changes: of lists, and of the resources with these URIs. The first notice is
     * empty: from then on, no change is missed. Error kinds: those of readResource.
     */
    async *watchResources(uris = [], options = {}) {
        const { plugin = "", signal } = options;
        const request = sayable(() => ({ plugin, resources: uris.map((uri) => ({ plugin, uri })), ...this.#owner(options) }));
        for await (const change of this.#link.stream(ToolService.method.watchResources, request, signal)) {
            yield { plugin: change.plugin, resources: change.resourcesChanged, prompts: change.promptsChanged, uri: change.uri };
        }
    }
    /**
     * Requests cancellation of a call of any client, without waiting for its end. Error kinds:
     * not_found.
     */
    async cancelCall(callId, options = {}) {
        const { reason = "", signal } = options;
        await this.#link.unary(ToolService.method.cancelCall, { callId, ...this.#owner(options), reason }, signal);
    }
    /**
     * Answers a question that the tool of a call has asked; see QuestionEvent. Only the first answer
     * counts. Error kinds: not_found if the question is not open any more; invalid_argument if the
     * answer does not fit it, which leaves it open.
     */
    async answerQuestion(callId, question, answer, options = {}) {
        const { signal } = options;
        const request = sayable(() => ({ callId, ...this.#owner(options), question, answer: toAnswer(answer) }));
        await this.#link.unary(ToolService.method.answerQuestion, request, signal);
    }
    /**
     * Returns a part of an artifact by the handle from a result: at most `limit` bytes (default 64
     * KiB, at most 1 MiB) from an offset in bytes. Error kinds: not_found.
     */
    async readArtifact(handle, options = {}) {
        const { offset = 0, limit = 0, signal } = options;
        const request = sayable(() => ({ handle, ...this.#owner(options), offset: BigInt(offset), limit }));
        const { data, mediaType, size, name } = await this.#link.unary(ToolService.method.readArtifact, request, signal);
        return { data, mediaType, size: Number(size), name };
    }
    /** Yields a whole artifact in pieces. Error kinds: not_found. */
    async *artifact(handle, options = {}) {
        for (let offset = 0;;) {
            const { data, size } = await this.readArtifact(handle, { ...options, offset, limit: 1 << 20 });
            if (data.length > 0) {
                yield data;
            }
            offset += data.length;
            if (data.length === 0 || offset >= size) {
                return;
            }
        }
    }
    /**
     * Yields the calls that toolhost holds until a person approves them, and that this client may see: its
     * own, and with the right calls.list or calls.approve those of a tenant. That which ends first comes
     * first. Error kinds: unsupported for a toolhost of before.
     */
    async *inbox(options = {}) {
        const { tenants = [], onBehalfOf = this.#defaults.onBehalfOf, signal } = options;
        yield* readPages(this.#link, { tenants: [...tenants], ...onBehalfOfField(onBehalfOf) }, signal);
    }
    /**
     * Yields what `inbox` yields, and what becomes of it, until the loop is left. `AgentClient.watchInbox`
     * says how to continue, and which errors there are.
     */
    async *watchInbox(options = {}) {
        const { tenants = [], position = "", onBehalfOf = this.#defaults.onBehalfOf, signal } = options;
        yield* readChanges(this.#link, { tenants: [...tenants], position, ...onBehalfOfField(onBehalfOf) }, signal);
    }
    /**
     * Returns one held call as a whole, also for some time after the decision was made. Error kinds:
     * not_found.
     */
    async inboxDecision(name, options = {}) {
        const { onBehalfOf = this.#defaults.onBehalfOf, signal } = options;
        return readDecision(this.#link, { name, ...onBehalfOfField(onBehalfOf) }, signal);
    }
    /**
     * Approves or rejects a held call, and returns it with the verdict. `etag` is that of what the person
     * has seen. To reject a call of its own, a client needs no right. Error kinds: not_found; conflict if
     * the decision is not that any more, or another verdict came first; invalid_argument if the verdict
     * does not fit; denied.
     */
    async decide(name, etag, verdict, options = {}) {
        const { onBehalfOf = this.#defaults.onBehalfOf, signal } = options;
        const request = sayable(() => ({ ...toDecideRequest(name, etag, verdict, options), ...onBehalfOfField(onBehalfOf) }));
        return makeDecision(this.#link, request, signal);
    }
}
/**
 * Sends the pieces of an argument stream to a call. If the stream throws, the call ends without
 * being executed.
 */
async function sendPieces(args, execution) {
    try {
        for await (const piece of args) {
            await execution.send(piece);
            if (execution.over) {
                return;
            }
        }
        await execution.complete();
    }
    catch (error) {
        execution.abandon(error);
    }
}
