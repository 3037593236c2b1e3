/** The events and outcomes of calls. */
import type { Result } from "../content.js";
import type { ToolhostError } from "../error.js";
import type { CallEnded, CallEvent as CallEventMessage } from "../gen/toolhost/v1/tool_service_pb.js";
import type { LogRecord, Status } from "../status.js";
import { Pieces } from "../wire/chunks.js";
import { fromError, fromLogRecord, fromResult, fromStatus } from "../wire/messages.js";
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
export type CallEvent = StartedEvent | StatusEvent | LogEvent | EndedEvent;

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
        const { callId, plugin, instance, attempt } = event.value;
        return { type: "started", ...base, callId, plugin, instance, attempt };
      }
      case "status":
        return { type: "status", ...base, status: fromStatus(event.value) };
      case "log":
        return { type: "log", ...base, record: fromLogRecord(event.value) };
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
