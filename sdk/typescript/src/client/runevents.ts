/**
 * The events of a run. A durable event is stored in the journal of the run and has a `seq` of its
 * own. A transient event (`textDelta`, `reasoningDelta`, `argumentDelta`, `answerDelta`,
 * `callStatus` and `turnReset`) reaches only the clients that watch at that moment.
 */
import type { Result, Usage } from "../content.js";
import type { ToolhostError } from "../error.js";
import type { Status } from "../status.js";
import type { AttachmentInfo, PendingDecision, StopReason, Verdict } from "./runs.js";

/** What all events have. */
interface RunEventBase {
  /**
   * The position in the journal, from 1. A transient event has the `seq` of the durable event that
   * follows it.
   */
  readonly seq: number;
  /** The position among the transient events with the same `seq`, from 1. 0 for a durable event. */
  readonly index: number;
  /** When the event happened. */
  readonly time: Date | undefined;
}

/** A call that the model requests. */
export interface ToolCall {
  readonly callId: string;
  readonly tool: string;
  /** The arguments as the model wrote them. They may be invalid JSON. */
  readonly arguments: string;
}

/** The end of a run. */
export interface RunFinished {
  /** Why the run ended. Undefined for a reason that this version does not know. */
  readonly stopReason: StopReason | undefined;
  /** The last text of the model, or the result that a tool returned directly. It may be empty. */
  readonly text: string;
  /** Further explanation of the stop reason. It may be empty. */
  readonly message: string;
  /** How many responses the model gave. */
  readonly turns: number;
  /** How many tool calls the run made. */
  readonly calls: number;
  /** The tokens of the whole run. */
  readonly usage: Usage;
  /** The cost of the whole run. */
  readonly cost: number;
  /**
   * The answer of a run with a response schema, which fits the schema. Undefined for any other run,
   * and for a run that did not succeed.
   */
  readonly result: Readonly<Record<string, unknown>> | undefined;
}

/** What an event carries. The property `type` distinguishes the events. */
export type RunPayload =
  | {
      readonly type: "runStarted";
      readonly runId: string;
      readonly prompt: string;
      readonly model: string;
      readonly session: string;
      /** The run that started this one as a sub-run. */
      readonly parentRunId: string | undefined;
      readonly parentCallId: string | undefined;
      /** The named agent. */
      readonly agent: string | undefined;
      /** The models that respond if `model` cannot, in order. */
      readonly fallbacks: readonly string[];
      readonly traceparent: string | undefined;
      readonly attachments: readonly AttachmentInfo[];
    }
  | { readonly type: "userMessage"; readonly text: string; readonly attachments: readonly AttachmentInfo[] }
  /** Transient: a piece of the text that the model writes. */
  | { readonly type: "textDelta"; readonly text: string }
  /** Transient: a piece of the model's reasoning, as far as the provider shows it. */
  | { readonly type: "reasoningDelta"; readonly text: string }
  /**
   * Transient: a piece of the arguments of a call that the model is writing. The pieces of a call,
   * in order, are the text of its arguments. The call may never be made.
   */
  | { readonly type: "argumentDelta"; readonly callId: string; readonly tool: string; readonly text: string }
  /**
   * Transient: the answer of a run with a response schema, as far as the model has written it. It
   * replaces the one before it, and may not fit the schema yet.
   */
  | { readonly type: "answerDelta"; readonly answer: Readonly<Record<string, unknown>> }
  /** A complete response of the model. Its calls begin afterwards. */
  | {
      readonly type: "assistantMessage";
      readonly text: string;
      readonly calls: readonly ToolCall[];
      /** Why the model stopped, such as `end_turn`, `tool_use` or `max_tokens`. */
      readonly stopReason: string;
      readonly usage: Usage;
      /** The cost, including `wastedUsage`. 0 if the model has no price. */
      readonly cost: number;
      /** The tokens of the attempts that failed before this response. */
      readonly wastedUsage: Usage;
      /** The model that responded. */
      readonly model: string | undefined;
    }
  | {
      readonly type: "callStarted";
      readonly callId: string;
      readonly tool: string;
      /** 1, and more after a person approved the call or had it executed again. */
      readonly attempt: number;
      readonly traceparent: string | undefined;
    }
  /** Transient: a tool reports its status. */
  | { readonly type: "callStatus"; readonly callId: string; readonly tool: string; readonly status: Status }
  | {
      readonly type: "callResult";
      readonly callId: string;
      readonly tool: string;
      /** What the model reads, also if there is an error. */
      readonly result: Result;
      /** The infrastructure error. Undefined if the tool returned a result. */
      readonly error: ToolhostError | undefined;
      readonly plugin: string | undefined;
      readonly instance: string | undefined;
    }
  /** Transient: the transient events since the last durable event are void. agentd asks the model again. */
  | { readonly type: "turnReset"; readonly reason: string; readonly attempt: number; readonly model: string | undefined }
  | { readonly type: "cancelRequested"; readonly reason: string; readonly stopReason: StopReason | undefined }
  | ({ readonly type: "runFinished" } & RunFinished)
  | { readonly type: "decisionRequested"; readonly decision: PendingDecision }
  | {
      readonly type: "decisionMade";
      readonly decisionId: string;
      readonly verdict: Verdict | undefined;
      /**
       * The arguments that replace those of the call, as JSON text. Undefined if they stay the
       * same.
       */
      readonly arguments: string | undefined;
      /** The reason or the answer. */
      readonly text: string;
      /** The person who decided. */
      readonly decidedBy: string;
    }
  /**
   * The run has used 80 % of a limit: `turns`, `calls`, `tokens`, `cost`, `wall_time` (seconds),
   * `output` (bytes) or `failures`.
   */
  | { readonly type: "budgetWarning"; readonly budget: string; readonly used: number; readonly limit: number }
  /**
   * Effects of tools changed the run context. `refused` says by key why agentd rejected a change.
   */
  | {
      readonly type: "contextChange";
      readonly keys: readonly string[];
      readonly refused: Readonly<Record<string, string>>;
    }
  /** The list of tasks changed. `todos` is the whole list. */
  | { readonly type: "todoChange"; readonly todos: unknown }
  | {
      readonly type: "subRunStarted";
      readonly callId: string;
      readonly runId: string;
      readonly prompt: string;
      readonly agent: string | undefined;
    }
  /** A sub-run waits for a person. If `decisionIds` is empty, it no longer waits. */
  | {
      readonly type: "subRunWaiting";
      readonly callId: string;
      readonly runId: string;
      readonly decisionIds: readonly string[];
    }
  /** A tool has used the model of the run during its call. Usage and cost count toward the run. */
  | {
      readonly type: "modelReplied";
      readonly callId: string;
      readonly tool: string;
      readonly plugin: string;
      readonly usage: Usage;
      readonly cost: number;
      /** Why the model did not reply. Undefined if it replied. */
      readonly error: ToolhostError | undefined;
    }
  /** From now on the model reads a shortened conversation. */
  | {
      readonly type: "compacted";
      readonly reason: string;
      readonly clearedResults: number;
      readonly summary: string;
      readonly replacedMessages: number;
      readonly overflow: boolean;
      readonly failure: string;
      readonly usage: Usage;
      readonly cost: number;
    }
  /** Another agentd process continues the run after an interruption. */
  | { readonly type: "runResumed" };

/** An event of a run. */
export type RunEvent = RunEventBase & RunPayload;
