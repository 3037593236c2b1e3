/** The events and outcomes of calls. */
import type { Result } from "../content.js";
import type { ToolhostError } from "../error.js";
import {
  type CallEnded,
  type CallEvent as CallEventMessage,
  QuestionEnd as PbEnd,
} from "../gen/toolhost/v1/tool_service_pb.js";
import type { ModelQuestion, PersonQuestion, QuestionEnd, QuestionKind } from "../question.js";
import type { LogRecord, Status } from "../status.js";
import { Pieces } from "../wire/chunks.js";
import { Words } from "../wire/enums.js";
import { fromError, fromLogRecord, fromResult, fromStatus } from "../wire/messages.js";
import { fromKinds, fromModelQuestion, fromPersonQuestion } from "../wire/questions.js";
import { fromTime } from "../wire/scalars.js";

/** What all events have. */
interface EventBase {
  /**
   * The position in the sequence of the call's events, from 1. 0 for an end that the client
   * determined itself, because it lost the connection.
   */
  readonly seq: number;
  /** When the event happened. */
  readonly time: Date;
}

/** An instance has received the call. */
export interface StartedEvent extends EventBase {
  readonly type: "started";
  /** The call id. */
  readonly callId: string;
  /** The plugin. */
  readonly plugin: string;
  /** The instance. */
  readonly instance: string;
  /** The number of the attempt, from 1. */
  readonly attempt: number;
  /**
   * What the operator permits the plugin to ask. A kind that is not in the option `answers` of the
   * call is refused.
   */
  readonly asks: readonly QuestionKind[];
}

/** The tool reported a status. */
export interface StatusEvent extends EventBase {
  readonly type: "status";
  /** The status. */
  readonly status: Status;
}

/** The tool wrote a log record. */
export interface LogEvent extends EventBase {
  readonly type: "log";
  /** The record. */
  readonly record: LogRecord;
}

/** The outcome of a call. */
export interface Outcome {
  /** The call id. */
  readonly callId: string;
  /** The plugin. Undefined if the call reached none. */
  readonly plugin: string | undefined;
  /** The instance. Undefined if the call reached none. */
  readonly instance: string | undefined;
  /** Whether the outcome is that of an earlier execution with the same call id. */
  readonly replayed: boolean;
  /** The result of the tool. */
  readonly result: Result;
}

/** The tool asks something; see `Toolhost.answerQuestion`. */
export interface QuestionEvent extends EventBase {
  readonly type: "question";
  /** The number of the question within the call, from 1. */
  readonly question: number;
  /** The call id. */
  readonly callId: string;
  /** The plugin that asks. Show its name with the question. */
  readonly plugin: string;
  /** The tool that asks. */
  readonly tool: string;
  /** When toolhost closes the question if no answer has come. */
  readonly expires: Date | undefined;
  /** The question, if it is for a person. */
  readonly person: PersonQuestion | undefined;
  /** The question, if it is for a model. */
  readonly model: ModelQuestion | undefined;
}

/** A question takes no answer any more. */
export interface QuestionClosedEvent extends EventBase {
  readonly type: "question_closed";
  /** The number of the question. */
  readonly question: number;
  /** Why it closed. */
  readonly reason: QuestionEnd;
}

/** The call has ended, with a result or an infrastructure error. It is the last event. */
export interface EndedEvent extends EventBase, Omit<Outcome, "result"> {
  readonly type: "ended";
  /** The result of the tool. Undefined if there is an error. */
  readonly result: Result | undefined;
  /** The infrastructure error. Undefined if the tool returned a result. */
  readonly error: ToolhostError | undefined;
}

/**
 * An event of a call. `started` is the first, unless the call failed before. `ended` is the last.
 */
export type CallEvent = StartedEvent | StatusEvent | LogEvent | QuestionEvent | QuestionClosedEvent | EndedEvent;

const questionEnds = new Words<QuestionEnd, PbEnd>({
  answered: PbEnd.ANSWERED,
  expired: PbEnd.EXPIRED,
  abandoned: PbEnd.ABANDONED,
});

/** Converts messages to events, and joins the chunks of large results. */
export class EventReader {
  readonly #pieces = new Pieces();

  /**
   * Returns the event of a message. Returns undefined for a chunk and for a message of an unknown
   * kind.
   */
  read(message: CallEventMessage): CallEvent | undefined {
    const { event } = message;
    const base = { seq: Number(message.seq), time: fromTime(message.time) ?? new Date() };
    switch (event.case) {
      case "started": {
        const { callId, plugin, instance, attempt, asks } = event.value;
        return { type: "started", ...base, callId, plugin, instance, attempt, asks: fromKinds(asks) };
      }
      case "status":
        return { type: "status", ...base, status: fromStatus(event.value) };
      case "log":
        return { type: "log", ...base, record: fromLogRecord(event.value) };
      case "question": {
        const { id, callId, plugin, tool, expireTime, question } = event.value;
        const person = question.case === "person" ? fromPersonQuestion(question.value) : undefined;
        const model = question.case === "model" ? fromModelQuestion(question.value) : undefined;
        if (!person && !model) {
          return undefined;
        }
        return { type: "question", ...base, question: id, callId, plugin, tool, expires: fromTime(expireTime), person, model };
      }
      case "questionClosed": {
        const { question, reason } = event.value;
        return { type: "question_closed", ...base, question, reason: questionEnds.word(reason) ?? "abandoned" };
      }
      case "chunk":
        this.#pieces.add(event.value);
        return undefined;
      case "ended":
        return { ...base, ...this.#ended(event.value) };
      default:
        return undefined;
    }
  }

  #ended({ callId, plugin, instance, replayed, outcome }: CallEnded): Omit<EndedEvent, "seq" | "time"> {
    const ended = { type: "ended", callId, plugin: plugin || undefined, instance: instance || undefined, replayed } as const;
    if (outcome.case === "error") {
      return { ...ended, result: undefined, error: fromError(outcome.value) };
    }
    if (outcome.case === "result") {
      this.#pieces.join(outcome.value.content);
    }
    return { ...ended, result: outcome.case === "result" ? fromResult(outcome.value) : undefined, error: undefined };
  }
}
