/** Runs of agentd: how they are started, what they are, and the decisions that they wait for. */
import type { Usage } from "../content.js";

/**
 * The state of a run. `waiting`: a person has to decide something. `interrupted`: no agentd works
 * on the run. `finished`: the run has ended, and a message continues it.
 */
export type RunState = "running" | "waiting" | "interrupted" | "finished";

/** Why a run ended. proto/agentd/v1/agent_service.proto documents every reason. */
export type StopReason =
  | "end_turn"
  | "completed"
  | "return_direct"
  | "max_tokens"
  | "refusal"
  | "content_filter"
  | "context_overflow"
  | "max_turns"
  | "max_calls"
  | "token_budget"
  | "cost_budget"
  | "wall_time"
  | "output_size"
  | "failures"
  | "timeouts"
  | "repetition"
  | "no_tool_calls"
  | "invalid_answer"
  | "empty_response"
  | "call_as_text"
  | "cancelled"
  | "model_error"
  | "internal_error";

/**
 * When a run counts as completed. `explicit`: when the model calls `attempt_completion`.
 * `end_turn`: when the model gives a response without calls.
 */
export type Completion = "explicit" | "end_turn";

/**
 * What a person has to decide. `approval`: approve a call, possibly with other arguments, or reject
 * it. `question`: answer the model, or reject to leave the question unanswered. `outcome`: after a
 * call whose outcome is unknown, approve to execute it again, answer to tell the model how it
 * ended, or reject to leave it unknown. `pause`: approve to continue a paused run, or reject to end
 * it. `tool`: the tool of a running call asks; answer with a JSON object that fits the schema, or
 * with a text if the schema has only one text, or reject to decline.
 */
export type DecisionKind = "approval" | "question" | "outcome" | "pause" | "tool";

/** The result of a decision. `expired`: nobody responded in time, which counts as a rejection. */
export type Verdict = "approve" | "reject" | "answer" | "expired";

/** Selects the tools that a model may use. A tool must match every property that is set. */
export interface ToolChoice {
  /** The names of the tools. */
  readonly names?: readonly string[];
  /** The categories of the tools. */
  readonly categories?: readonly string[];
  /** A tool must have at least one of these tags. */
  readonly tags?: readonly string[];
  /** The plugins of the tools. */
  readonly plugins?: readonly string[];
  /** The names of tools that are never selected. */
  readonly excluded?: readonly string[];
  /** Selects only dangerous tools, or only tools that are not dangerous. */
  readonly dangerous?: boolean;
  /** The highest cost of one call. */
  readonly maxCostPerUse?: number;
  /** How many tools the model sees at a time. It finds the others with `tool_search`. */
  readonly maxTools?: number;
}

/** How a model chooses its words. A missing property means the setting of the agent. */
export interface Sampling {
  /** How random the choice is, from 0 to 2. */
  readonly temperature?: number;
  /** The part of the probability from which the model chooses, from 0 to 1. */
  readonly topP?: number;
  /** How much a reasoning model thinks. */
  readonly effort?: "none" | "low" | "medium" | "high";
}

/** The limits of a run. A missing property means the limit of agentd. */
export interface Limits {
  /** The most responses of the model. */
  readonly maxTurns?: number;
  /** The most tool calls. */
  readonly maxCalls?: number;
  /** The most tokens of one response. */
  readonly maxResponseTokens?: number;
  /** The most tokens, input and output, of the model and the tools together. */
  readonly maxTokens?: number;
  /** The highest cost of the model and the tools together. The model must have a price. */
  readonly maxCost?: number;
  /**
   * The longest working time, in milliseconds. Time in which the run only waits for a person does
   * not count.
   */
  readonly maxWallTimeMs?: number;
  /** The most bytes of text that the tools return in total. */
  readonly maxOutput?: number;
  /** The most failed calls in succession. */
  readonly maxFailures?: number;
  /** The most timeouts of one tool in succession before the run pauses. */
  readonly maxTimeouts?: number;
  /**
   * The most results in succession that repeat an earlier result for the same tool and arguments.
   */
  readonly maxRepeats?: number;
}

/** Whether a run can ask a person. */
export interface People {
  /**
   * Whether a person watches the run and responds. If false, the run treats every decision as
   * rejected.
   */
  readonly attended: boolean;
  /** After how many milliseconds an open decision counts as rejected. Default: 24 hours. */
  readonly expiryMs?: number;
  /**
   * Whether a person decides how to continue after a call whose outcome is unknown. Default: the
   * model decides.
   */
  readonly askOutcome?: boolean;
}

/** How much of a conversation the model reads. A missing property means the default of agentd. */
export interface Window {
  /** The context window of the model, in tokens, for input and output together. */
  readonly tokens?: number;
  /** The used fraction of the window at which agentd removes old results, at most 1. */
  readonly clearAt?: number;
  /** The used fraction of the window at which the model summarizes the conversation, at most 1. */
  readonly summarizeAt?: number;
  /** How many of the last responses stay unchanged, with their results. */
  readonly keep?: number;
}

/**
 * A file for the model of a run. agentd takes the content when it accepts the prompt or the message. A
 * prompt or a message has at most 20 attachments with 12 MiB in total; a run has at most 100 with
 * 20 MiB.
 */
export interface Attachment {
  /** The name of the file, without folders. The model may see it. */
  readonly name?: string;
  /**
   * The type that you expect. agentd determines the type from the content, and refuses a
   * contradiction. Default: any.
   */
  readonly mimeType?: string;
  /** The content, at most 10 MiB. Text must be UTF-8. Required, unless `artifact` is set. */
  readonly data?: Uint8Array;
  /** An artifact of toolhost that the principal of the run may read. */
  readonly artifact?: {
    readonly handle: string;
    /** The session of the call that returned the artifact. Default: that of the run. */
    readonly session?: string;
  };
}

/** An attachment of a prompt or a message, without its content. */
export interface AttachmentInfo {
  /** Empty if the file has no name. */
  readonly name: string;
  /** The type of the content. */
  readonly mimeType: string;
  /** The size of the content in bytes. */
  readonly size: number;
  /** The SHA-256 of the content, in lower-case hexadecimal. */
  readonly sha256: string;
  /** The handle that the content was read from. Undefined if the caller sent it. */
  readonly artifact: string | undefined;
}

/** A task for an agent. A missing property means the default of agentd. */
export interface RunOptions {
  /** The files that go with the prompt. The model must read their types. */
  readonly attachments?: readonly Attachment[];
  /** The message of the user. */
  readonly prompt: string;
  /** The id: 1 to 64 of the characters A-Z a-z 0-9 _ -. Default: agentd generates one. */
  readonly runId?: string;
  /** The instructions that precede the conversation. */
  readonly systemPrompt?: string;
  /** The session of the run's calls. Default: the run id. */
  readonly session?: string;
  /** The initial run context, as JSON values by key. */
  readonly context?: Readonly<Record<string, unknown>>;
  /** The tools that the model may use. Default: all. */
  readonly tools?: ToolChoice;
  /** The limits of the run. */
  readonly limits?: Limits;
  /** Whether the run can ask a person. */
  readonly people?: People;
  /** A name of `agents` in agentd.yaml. Default: the default agent of agentd, if it has one. */
  readonly agent?: string;
  /** A name of `models` in agentd.yaml. Default: the models of the agent. */
  readonly model?: string;
  /** How the model chooses its words. Default: as the agent says. */
  readonly sampling?: Sampling;
  /** When the run counts as completed. */
  readonly completion?: Completion;
  /**
   * The JSON Schema of the answer, whose type is `object`. The run then succeeds only with an answer
   * that fits it; see `RunFinished.result`. Default: the answer is text.
   */
  readonly responseSchema?: Readonly<Record<string, unknown>>;
  /** The W3C traceparent of the run. */
  readonly traceparent?: string;
  /** How much of the conversation the model reads. */
  readonly window?: Window;
  /**
   * The tools of agentd itself that the model may use: any of `ask_user`, `attempt_completion`,
   * `compact_conversation`, `new_task` and `tool_search`.
   */
  readonly systemTools?: readonly string[];
  /** How many levels of sub-runs may exist below the run. */
  readonly subRuns?: number;
}

/** A decision that a run waits for. */
export interface PendingDecision {
  /** The id of the decision. */
  readonly decisionId: string;
  /** What the person has to decide. Undefined for a kind that this version does not know. */
  readonly kind: DecisionKind | undefined;
  /** The call that waits. Undefined for the kind `pause`. */
  readonly callId: string | undefined;
  /** The tool of that call. Undefined for the kind `pause`. */
  readonly tool: string | undefined;
  /**
   * The name of the tool for people, as its plugin declares it. Show it beside `tool`, never
   * instead of it.
   */
  readonly displayName: string | undefined;
  /**
   * The arguments of the call, as text. For the kind `approval` they are the final arguments, a
   * JSON object, and an approval executes exactly these. For other kinds the model wrote them, so
   * they may be invalid JSON.
   */
  readonly arguments: string;
  /** Why the run asks. For the kind `question`, the question. */
  readonly reason: string;
  /** The answers that the model suggests. Any other answer is valid too. */
  readonly options: readonly string[];
  /** The policy rule that requires the approval. Undefined if no rule does. */
  readonly rule: string | undefined;
  /** When the run asked. */
  readonly requestTime: Date | undefined;
  /** When the decision counts as rejected. Undefined means never. */
  readonly expireTime: Date | undefined;
  /** The sub-run that waits. Undefined if the run itself waits. */
  readonly runId: string | undefined;
  /** The plugin that asks, for the kind `tool`. Show its name with the question. */
  readonly plugin: string | undefined;
  /** The JSON Schema of the answer, for the kind `tool`, as text. Undefined for other kinds. */
  readonly schema: string | undefined;
}

/**
 * A decision that a run of any principal, or a call that toolhost holds, waits for or has waited for.
 * All of it but `rule` is what a model, a tool or a caller wrote: escape it.
 */
export interface InboxDecision extends PendingDecision {
  /** RUN/DECISION, or calls/ID of a call that toolhost holds, for `inboxDecision`. */
  readonly name: string;
  /** The run that waits, for `respond`. May be empty for a held call. */
  readonly runId: string;
  /** The run of which the run is a sub-run. Undefined if it is none. */
  readonly parentRunId: string | undefined;
  /** The tenant of the run or the call. */
  readonly tenant: string;
  /** The key of the principal that the run or the call belongs to. Undefined for runs of earlier versions. */
  readonly principal: string | undefined;
  /** Whether another principal than that of the run or the call has to approve. */
  readonly fourEyes: boolean;
  /** What the call would change, as a unified diff. `inbox` does not set it, and not `schema`. */
  readonly diff: string | undefined;
  /** Whether texts are not whole or are left out. `inboxDecision` has the whole. */
  readonly cut: boolean;
  /** Why this client cannot make the decision now. Undefined means that it can. */
  readonly notAllowed: string | undefined;
  /** Whether the decision waits. */
  readonly waiting: boolean;
  /** The verdict. Undefined if there is none, and for one that this version does not know. */
  readonly verdict: Verdict | undefined;
  /** The reason or the answer of the person who decided. */
  readonly text: string;
  /** The person who decided, as their client named them. Nobody has verified it. */
  readonly decidedBy: string;
  /** The key of the principal that decided. Undefined if nobody did. */
  readonly decidedByPrincipal: string | undefined;
  /** When the decision was made. */
  readonly decideTime: Date | undefined;
  /**
   * The digest of what the person sees, for `decide`. Only `inboxDecision` sets it, and only while the
   * decision waits: `inbox` does not return the whole.
   */
  readonly etag: string | undefined;
  /** The groups of which the approver has to be in one. Empty means any approver. */
  readonly approverGroups: readonly string[];
  /** The agent of a held call. Undefined for a run. */
  readonly agent: string | undefined;
  /** The session of a held call. Undefined for a run. */
  readonly session: string | undefined;
  /**
   * The values of the caller's context on which a held call depends, a JSON object as text: those that
   * the tool gets, and those that rules read. Undefined if there are none.
   */
  readonly context: string | undefined;
}

/** One page of decisions. */
export interface InboxPage {
  /** The decisions. */
  readonly decisions: readonly InboxDecision[];
  /** The token of the next page. Undefined means that this is the last page. */
  readonly nextPageToken: string | undefined;
  /**
   * One text for each source that did not answer, so that its decisions are missing: the toolhost of an
   * agentd. Escape it.
   */
  readonly unavailable: readonly string[];
  /**
   * The position of a `watchInbox` that continues after the first page: it yields what changes, and not
   * what waits already. Undefined on other pages.
   */
  readonly position: string | undefined;
}

/** One step of `watchInbox`: a run or a held call with all that it waits for now. */
export interface InboxChange {
  /** Whether to forget what earlier changes said: the inbox follows as a whole. */
  readonly restart: boolean;
  /** The run, or the name of the held call. Undefined if the change has none. */
  readonly source: string | undefined;
  /**
   * All that the source waits for, as `inbox` yields it, in place of what earlier changes said. Empty
   * means that it waits for nothing.
   */
  readonly decisions: readonly InboxDecision[];
  /** Whether everything that waits is known now. */
  readonly complete: boolean;
  /** Where `watchInbox` goes on after this change. Undefined until everything is known. */
  readonly position: string | undefined;
  /** As in `InboxPage`, if `complete` is set. */
  readonly unavailable: readonly string[];
}

/** A verdict about a decision of the inbox. */
export type InboxVerdict =
  | {
      readonly verdict: "approve";
      /** The arguments that replace those that were shown. Default: these. */
      readonly arguments?: Readonly<Record<string, unknown>> | undefined;
      readonly reason?: string | undefined;
    }
  | { readonly verdict: "reject"; readonly reason?: string | undefined }
  | { readonly verdict: "answer"; readonly text: string };

/** The summary of a run. */
export interface Run {
  /** The id. */
  readonly runId: string;
  /** The first message of the user. */
  readonly prompt: string;
  /** The model, as `provider:name`. */
  readonly model: string;
  /** The state. Undefined for a state that this version does not know. */
  readonly state: RunState | undefined;
  /**
   * Why the run ended. Undefined before its end, and for a reason that this version does not know.
   */
  readonly stopReason: StopReason | undefined;
  /** When the run started. */
  readonly startTime: Date | undefined;
  /** When the last event happened. */
  readonly updateTime: Date | undefined;
  /** The `seq` of the last event. */
  readonly lastSeq: number;
  /** How many responses the model gave. */
  readonly turns: number;
  /** How many tool calls the run made. */
  readonly calls: number;
  /** The tokens used so far. */
  readonly usage: Usage;
  /** The cost so far, in the currency of agentd's prices. */
  readonly cost: number;
  /**
   * The decisions that the run waits for. `getRun` fills them in, and `listRuns` leaves them empty.
   */
  readonly pendingDecisions: readonly PendingDecision[];
  /** The run that started this one as a sub-run. Undefined for a run that a client started. */
  readonly parentRunId: string | undefined;
  /** Whether the run has not ended, but no agentd works on it. */
  readonly interrupted: boolean;
}

/** A decision of a person. */
export type Decision =
  | {
      readonly verdict: "approve";
      readonly decisionId: string;
      /** The arguments that replace those of the call. Default: its own. */
      readonly arguments?: Readonly<Record<string, unknown>> | undefined;
      readonly reason?: string | undefined;
    }
  | { readonly verdict: "reject"; readonly decisionId: string; readonly reason?: string | undefined }
  | { readonly verdict: "answer"; readonly decisionId: string; readonly text: string };

/** Selects runs. A run must match every property that is set. */
export interface RunFilter {
  /** The states to include. Default: all. */
  readonly states?: readonly RunState[];
  /** The run whose sub-runs to include. Default: all runs. */
  readonly parentRunId?: string;
  /** How many runs one request returns. Default: 50. */
  readonly pageSize?: number;
  /** Stops the iteration. */
  readonly signal?: AbortSignal;
}
