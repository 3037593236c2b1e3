/** The client of an agentd. */
import { ToolhostError } from "../error.js";
import { AgentService } from "../gen/agentd/v1/agent_service_pb.js";
import { findAddress, formatAddress } from "./address.js";
import { resolveCredentials } from "./credentials.js";
import { sayable } from "./failure.js";
import { callerInfo } from "./identity.js";
import { makeDecision, readChanges, readDecision, readPage, readPages } from "./inboxrequests.js";
import { Link } from "./link.js";
import { fromRun, fromRunEvent, toAttachments, toDecideRequest, toDecision, toStartRequest, toStates } from "./runwire.js";
import { versionInfo } from "./version.js";
/** The largest event of a run in bytes. An event carries a whole tool result. */
const maxRunEventBytes = 64 << 20;
/**
 * A client of an agentd. It connects on first use, and connects again after the connection is lost.
 * All methods throw a ToolhostError for infrastructure errors. An open client does not keep the
 * process alive.
 */
export class AgentClient {
    #link;
    /** Creates a client. It does not connect yet. */
    constructor(options = {}) {
        const address = findAddress(options.address, "agentd");
        const credentials = resolveCredentials("agentd", address, options);
        this.#link = new Link([{ address, credentials }], "agentd", maxRunEventBytes, options.rpcTimeoutMs);
    }
    /** The address of the agentd. */
    get address() {
        return formatAddress(this.#link.address);
    }
    /** Closes the connection. Requests in progress fail with the kind `cancelled`. Runs continue. */
    close() {
        this.#link.close();
    }
    /** Closes the client at the end of an `await using` block. */
    async [Symbol.asyncDispose]() {
        this.close();
    }
    /** Returns the version, the commit and the contracts of the running agentd. */
    async version(options = {}) {
        const { version } = await this.#link.unary(AgentService.method.getVersion, {}, options.signal);
        return versionInfo(version, "agentd");
    }
    /**
     * Returns how agentd identified this client, and what the client may do. Every client that agentd
     * has identified may ask.
     */
    async whoAmI(options = {}) {
        const { caller } = await this.#link.unary(AgentService.method.whoAmI, {}, options.signal);
        return callerInfo(caller, "agentd");
    }
    /**
     * Starts a run and returns its id immediately. The same run id with the same prompt returns the
     * existing run. Error kinds: invalid_argument; conflict if the id belongs to a run with another
     * prompt.
     */
    async startRun(task, options = {}) {
        const request = sayable(() => toStartRequest(typeof task === "string" ? { prompt: task } : task));
        const { runId } = await this.#link.unary(AgentService.method.startRun, request, options.signal);
        return runId;
    }
    /**
     * Starts a run and waits for its end. `onEvent` receives every event, and the client waits for
     * the promise that it returns, so it can respond to decisions. The signal stops the waiting and
     * not the run.
     */
    async run(task, options = {}) {
        const runId = await this.startRun(task, options);
        let finished;
        for await (const event of this.watchRun(runId, options)) {
            await options.onEvent?.(event, runId);
            if (event.type === "runFinished") {
                finished = event;
            }
        }
        if (!finished) {
            throw new ToolhostError("internal", `agentd ended the events of run ${runId} before the end of the run`);
        }
        return finished;
    }
    /**
     * Sends a message of the user, and returns the `seq` of its event. A finished run continues. To
     * send a message again when it is unclear whether it arrived, choose its `messageId`, 1 to 64 of
     * the characters A-Z a-z 0-9 _ -: agentd adds it once. Error kinds: not_found; invalid_argument if
     * the model of the run does not read an attachment; conflict if `messageId` belongs to a message
     * with another text.
     */
    async sendMessage(runId, text, options = {}) {
        const messageId = options.messageId || crypto.randomUUID();
        const request = sayable(() => ({ runId, text, messageId, attachments: toAttachments(options.attachments) }));
        return Number((await this.#link.unary(AgentService.method.sendMessage, request, options.signal)).seq);
    }
    /**
     * Yields the events of a run whose `seq` is greater than `afterSeq` (default 0), until the run
     * finishes: first those in the journal, then new ones. To continue after an error, watch again
     * with the `seq` of the last durable event. Leaving the loop does not cancel the run. Error
     * kinds: not_found.
     */
    async *watchRun(runId, options = {}) {
        const request = sayable(() => ({ runId, afterSeq: BigInt(options.afterSeq ?? 0) }));
        for await (const { event: message } of this.#link.stream(AgentService.method.watchRun, request, options.signal)) {
            const event = message && fromRunEvent(message);
            if (event) {
                yield event;
            }
        }
    }
    /**
     * Makes decisions that a run waits for, all of them or none, and returns the `seq` of the first.
     * `getRun` and the events `decisionRequested` name the open decisions. Error kinds: not_found if
     * a decision is not open; invalid_argument if a verdict does not fit the kind of the decision.
     */
    async respond(runId, decisions, options = {}) {
        const request = sayable(() => ({ runId, decisions: decisions.map(toDecision), decidedBy: options.by ?? "" }));
        return Number((await this.#link.unary(AgentService.method.respond, request, options.signal)).seq);
    }
    /**
     * Approves a decision. With arguments, the call is executed with these instead of its own. See
     * `respond`.
     */
    approve(runId, decisionId, options = {}) {
        const { arguments: args, reason } = options;
        return this.respond(runId, [{ verdict: "approve", decisionId, arguments: args, reason }], options);
    }
    /** Rejects a decision. The model reads the reason. See `respond`. */
    reject(runId, decisionId, options = {}) {
        return this.respond(runId, [{ verdict: "reject", decisionId, reason: options.reason }], options);
    }
    /** Answers a question. See `respond`. */
    answer(runId, decisionId, text, options = {}) {
        return this.respond(runId, [{ verdict: "answer", decisionId, text }], options);
    }
    /** Requests that a run stops, without waiting for its end. Error kinds: not_found. */
    async cancelRun(runId, options = {}) {
        await this.#link.unary(AgentService.method.cancelRun, { runId, reason: options.reason ?? "" }, options.signal);
    }
    /**
     * Deletes a finished run with its sub-runs, and returns their ids, its own first. No run can have
     * their ids again. Error kinds: not_found; conflict if one of them, or a run of which the run is a
     * sub-run, has not finished.
     */
    async deleteRun(runId, options = {}) {
        const { runIds } = await this.#link.unary(AgentService.method.deleteRun, { runId }, options.signal);
        return runIds;
    }
    /** Returns the summary of a run, with its open decisions. Error kinds: not_found. */
    async getRun(runId, options = {}) {
        const { run } = await this.#link.unary(AgentService.method.getRun, { runId }, options.signal);
        if (!run) {
            throw new ToolhostError("internal", "agentd sent no run");
        }
        return fromRun(run);
    }
    /**
     * Yields the summaries of runs, the newest first. It requests the next page when the loop reaches
     * it.
     */
    async *listRuns(filter = {}) {
        const { states, parentRunId = "", pageSize = 0, signal } = filter;
        const request = sayable(() => ({ states: toStates(states), parentRunId, pageSize }));
        for (let pageToken = "";;) {
            const page = await this.#link.unary(AgentService.method.listRuns, { ...request, pageToken }, signal);
            yield* page.runs.map(fromRun);
            pageToken = page.nextPageToken;
            if (!pageToken) {
                return;
            }
        }
    }
    /**
     * Yields the decisions that wait for a person: those of the runs that this client may see, and the
     * calls that agentd's toolhost holds and this client may see. The run whose decision ends first comes
     * first, and a held call by its end within a page. `inboxPage` says in addition whether the toolhost
     * has answered. Error kinds: unsupported for an agentd of before.
     */
    async *inbox(options = {}) {
        yield* readPages(this.#link, { tenants: [...(options.tenants ?? [])] }, options.signal);
    }
    /**
     * Returns one page of what `inbox` yields, and which decisions are missing. A `pageSize` of 0 means
     * that the server chooses. Error kinds: invalid_argument for a token that the server did not give out.
     */
    async inboxPage(options = {}) {
        const { tenants = [], pageSize = 0, pageToken = "", signal } = options;
        return readPage(this.#link, sayable(() => ({ tenants: [...tenants], pageSize, pageToken })), signal);
    }
    /**
     * Yields what `inbox` yields, and what becomes of it, until the loop is left. A slow reader gets fewer
     * changes. To continue after an error of the kind unavailable, watch again with the last `position`
     * that was defined. Error kinds: invalid_argument for the position of another client or filter, and
     * denied if the rights of this client change: then watch again without a position; unsupported for an
     * agentd of before.
     */
    async *watchInbox(options = {}) {
        const { tenants = [], position = "", signal } = options;
        yield* readChanges(this.#link, { tenants: [...tenants], position }, signal);
    }
    /**
     * Returns one decision as a whole, also after it was made. Error kinds: not_found; unavailable for a
     * held call while agentd's toolhost does not answer.
     */
    async inboxDecision(name, options = {}) {
        return readDecision(this.#link, { name }, options.signal);
    }
    /**
     * Makes one decision of the inbox, and returns it as it was made. `etag` is that of what the person
     * has seen. Error kinds: not_found; conflict if the decision is not that any more, or another
     * verdict came first; invalid_argument if the verdict does not fit; denied.
     */
    async decide(name, etag, verdict, options = {}) {
        const request = sayable(() => toDecideRequest(name, etag, verdict, options));
        return makeDecision(this.#link, request, options.signal);
    }
}
