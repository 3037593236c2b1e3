/** The client of a toolhost. */
import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { RetryPolicy } from "../plugin/tool.js";
import type { Answer } from "../question.js";
import type { StandardSchema } from "../standard.js";
import type { DecideOptions } from "./agentclient.js";
import type { ToolCaller } from "./caller.js";
import { type CredentialOptions } from "./credentials.js";
import { type CallEvent, type Outcome } from "./events.js";
import { Execution } from "./execution.js";
import { type CallerInfo, type Principal } from "./identity.js";
import { type Arguments, type ArtifactPiece, type CallKey, type CallOptions, type RequestOptions, type TypedOutcome } from "./options.js";
import { type ArgumentCompletion, type ArgumentOwner, type Prompt, type PromptText, type Resource, type ResourceChange, type ResourceContent, type ResourceTemplate } from "./resources.js";
import type { InboxChange, InboxDecision, InboxVerdict } from "./runs.js";
import { type RenderedTools, type ToolFormat, type ToolInfo, type ToolMatch, type ToolQuery, type Viewer } from "./tools.js";
import { type VersionInfo } from "./version.js";
/** The options of a Toolhost client. */
export interface ClientOptions extends CredentialOptions {
    /**
     * unix:///PATH or HOST:PORT, or those of several toolhosts with one ledger, separated by commas: the
     * client uses one, and the next one when that one accepts no connection. Default: the environment
     * variable TOOLHOST_ADDR, else the default socket.
     */
    readonly address?: string;
    /** The default session of all methods. Default: the default session of this user. */
    readonly session?: string;
    /** The default run context of calls and of dynamic tools. */
    readonly context?: Readonly<Record<string, unknown>>;
    /** The default timeout of calls, in milliseconds. Default: the timeout of each tool. */
    readonly timeoutMs?: number;
    /** The principal for which the client makes requests by default. Default: the client itself. */
    readonly onBehalfOf?: Principal;
    /**
     * How often and with which pauses `call` repeats a call. Default: never. A call is repeated only
     * if that cannot execute it twice: after `rate_limited`; after `unavailable`, if the call reached
     * no plugin or the error has `retryAfterMs`; and after `outcome_unknown`, if the call has a call
     * id. The pause is at least `retryAfterMs` of the error.
     */
    readonly retry?: RetryPolicy;
    /**
     * The deadline of every request except calls and `watchCall`, in milliseconds. Default: 30000. 0
     * means no deadline.
     */
    readonly rpcTimeoutMs?: number;
}
/** The options of requests about calls that toolhost holds. */
export interface HeldCallOptions extends RequestOptions {
    /** The principal for which the client makes the request. Default: that of the client. */
    readonly onBehalfOf?: Principal;
}
/**
 * A client of a toolhost. It connects on first use, and connects again after the connection is
 * lost. All methods throw a ToolhostError for infrastructure errors. Any number of calls may run at
 * the same time; they share one connection. An open client does not keep the process alive.
 */
export declare class Toolhost implements ToolCaller, AsyncDisposable {
    #private;
    /** Creates a client. It does not connect yet. */
    constructor(options?: ClientOptions);
    /** The address of the toolhost. Of several, it is the one that the client uses now. */
    get address(): string;
    /** Closes the connection. Calls in progress end as if the connection was lost. */
    close(): void;
    /** Closes the client at the end of an `await using` block. */
    [Symbol.asyncDispose](): Promise<void>;
    /**
     * Makes a unary RPC of any service of toolhost, such as `AdminService.method.listPlugins` of
     * `@toolhost/sdk/proto`.
     */
    invoke<I extends DescMessage, O extends DescMessage>(method: DescMethodUnary<I, O>, request: MessageInitShape<I>, signal?: AbortSignal): Promise<MessageShape<O>>;
    /** Returns the version, the commit and the contracts of the running toolhost. */
    version(options?: RequestOptions): Promise<VersionInfo>;
    /**
     * Returns how toolhost identified this client, and what the client may do. Every client that toolhost
     * has identified may ask.
     */
    whoAmI(options?: RequestOptions): Promise<CallerInfo>;
    /** Returns the matching tools, ordered by name. */
    listTools(query?: ToolQuery): Promise<ToolInfo[]>;
    /** Returns one tool, as it is declared for a session. Error kinds: not_found. */
    getTool(name: string, viewer?: Viewer): Promise<ToolInfo>;
    /** Returns the matching tools that contain at least one of the words, the best match first. */
    searchTools(words: string, query?: ToolQuery): Promise<ToolMatch[]>;
    /** Returns the matching tools that are available, in the format of a model API or of a prompt. */
    renderTools(format: ToolFormat, query?: ToolQuery): Promise<RenderedTools>;
    /**
     * Executes a call and waits for its outcome. Throws a ToolhostError for an infrastructure error;
     * a failure that the tool reports is a result with `isError`. With `output`, the outcome also has
     * `value`, the validated JSON value of the result, and a result without a fitting value is an
     * error of kind `internal`. `onEvent` receives every event before the end. A client with `retry`
     * may make several attempts, each of which has the whole timeout.
     */
    call<O>(tool: string, args: Arguments, options: CallOptions & {
        output: StandardSchema<unknown, O>;
    }): Promise<TypedOutcome<O>>;
    call(tool: string, args?: Arguments, options?: CallOptions): Promise<Outcome>;
    /**
     * Starts a call and returns it while it runs. Without arguments, `send` and `complete` of the
     * execution supply them in pieces, and a tool that declares `partialArguments` receives them
     * before they are complete. The call is executed once its arguments are complete, and the client
     * never repeats it.
     */
    execute(tool: string, args: Arguments | undefined, options?: CallOptions): Execution;
    /**
     * Yields the events of an existing call of this user whose `seq` is greater than `afterSeq`:
     * first the stored events, then new ones, up to `ended`. Leaving the loop does not cancel the
     * call. Error kinds: not_found.
     */
    watchCall(callId: string, options?: CallKey & {
        afterSeq?: number;
    }): AsyncGenerator<CallEvent>;
    /**
     * Returns the resources that plugins offer, ordered by plugin and URI. It may start instances, and
     * leaves out plugins that cannot be listed. Error kinds: not_found for an unknown plugin.
     */
    listResources(options?: CallKey & {
        plugin?: string;
    }): Promise<Resource[]>;
    /** Returns the templates of resources that plugins offer, ordered by plugin and template. */
    listResourceTemplates(options?: CallKey & {
        plugin?: string;
    }): Promise<ResourceTemplate[]>;
    /**
     * Returns the content of a resource. Content that is too large is an artifact. Error kinds:
     * not_found; invalid_argument if several plugins offer the URI; denied by a rule.
     */
    readResource(uri: string, options?: CallKey & {
        plugin?: string;
        maxShownBytes?: number;
    }): Promise<ResourceContent[]>;
    /** Returns the prompts that plugins offer, ordered by plugin and name. */
    listPrompts(options?: CallKey & {
        plugin?: string;
    }): Promise<Prompt[]>;
    /**
     * Returns a prompt with its arguments filled in. Error kinds: not_found; invalid_argument if several
     * plugins offer the name; denied by a rule.
     */
    getPrompt(name: string, args?: Readonly<Record<string, string>>, options?: CallKey & {
        plugin?: string;
    }): Promise<PromptText>;
    /** Returns values of an argument of a prompt or a template. Error kinds: those of getPrompt. */
    completeArgument(of: ArgumentOwner, argument: string, value: string, options?: CallKey & {
        plugin?: string;
        arguments?: Readonly<Record<string, string>>;
    }): Promise<ArgumentCompletion>;
    /**
     * Yields notices of changes: of lists, and of the resources with these URIs. The first notice is
     * empty: from then on, no change is missed. Error kinds: those of readResource.
     */
    watchResources(uris?: readonly string[], options?: CallKey & {
        plugin?: string;
    }): AsyncGenerator<ResourceChange>;
    /**
     * Requests cancellation of a call of any client, without waiting for its end. Error kinds:
     * not_found.
     */
    cancelCall(callId: string, options?: CallKey & {
        reason?: string;
    }): Promise<void>;
    /**
     * Answers a question that the tool of a call has asked; see QuestionEvent. Only the first answer
     * counts. Error kinds: not_found if the question is not open any more; invalid_argument if the
     * answer does not fit it, which leaves it open.
     */
    answerQuestion(callId: string, question: number, answer: Answer, options?: CallKey): Promise<void>;
    /**
     * Returns a part of an artifact by the handle from a result: at most `limit` bytes (default 64
     * KiB, at most 1 MiB) from an offset in bytes. Error kinds: not_found.
     */
    readArtifact(handle: string, options?: CallKey & {
        offset?: number;
        limit?: number;
    }): Promise<ArtifactPiece>;
    /** Yields a whole artifact in pieces. Error kinds: not_found. */
    artifact(handle: string, options?: CallKey): AsyncGenerator<Uint8Array>;
    /**
     * Yields the calls that toolhost holds until a person approves them, and that this client may see: its
     * own, and with the right calls.list or calls.approve those of a tenant. That which ends first comes
     * first. Error kinds: unsupported for a toolhost of before.
     */
    inbox(options?: HeldCallOptions & {
        tenants?: readonly string[];
    }): AsyncGenerator<InboxDecision>;
    /**
     * Yields what `inbox` yields, and what becomes of it, until the loop is left. `AgentClient.watchInbox`
     * says how to continue, and which errors there are.
     */
    watchInbox(options?: HeldCallOptions & {
        tenants?: readonly string[];
        position?: string;
    }): AsyncGenerator<InboxChange>;
    /**
     * Returns one held call as a whole, also for some time after the decision was made. Error kinds:
     * not_found.
     */
    inboxDecision(name: string, options?: HeldCallOptions): Promise<InboxDecision>;
    /**
     * Approves or rejects a held call, and returns it with the verdict. `etag` is that of what the person
     * has seen. To reject a call of its own, a client needs no right. Error kinds: not_found; conflict if
     * the decision is not that any more, or another verdict came first; invalid_argument if the verdict
     * does not fit; denied.
     */
    decide(name: string, etag: string, verdict: InboxVerdict, options?: DecideOptions & HeldCallOptions): Promise<InboxDecision>;
}
