/** What happens to a call, as its caller is told. */
import type { Result } from "../content.js";
import type { ToolhostError } from "../error.js";
import type { CallEnded, CallEvent as CallEventMessage } from "../gen/toolhost/v1/tool_service_pb.js";
import type { LogRecord, Status } from "../status.js";
import { Pieces } from "../wire/chunks.js";
import { fromError, fromLogRecord, fromResult, fromStatus } from "../wire/messages.js";
import { fromTime } from "../wire/scalars.js";

/** What all events have. */
interface EventBase {
  /** The event's place among the call's events, from 1. */
  readonly seq: number;
  /** When it happened. */
  readonly time: Date;
}

/** The call is with an instance. */
export interface StartedEvent extends EventBase {
  readonly type: "started";
  /** The call's id. */
  readonly callId: string;
  /** The plugin. */
  readonly plugin: string;
  /** The instance. */
  readonly instance: string;
  /** Which try this is, from 1. */
  readonly attempt: number;
}

/** The call shows people how it stands. */
export interface StatusEvent extends EventBase {
  readonly type: "status";
  /** What changed. */
  readonly status: Status;
}

/** The tool wrote a line of its log. */
export interface LogEvent extends EventBase {
  readonly type: "log";
  /** The line. */
  readonly record: LogRecord;
}

/** Where a call ran and what came of it. */
export interface Outcome {
  /** The call's id. */
  readonly callId: string;
  /** The plugin; empty if the call reached none. */
  readonly plugin: string;
  /** The instance; empty if the call reached none. */
  readonly instance: string;
  /** Whether the outcome is that of an earlier execution of the same call id. */
  readonly replayed: boolean;
  /** What the tool answered. */
  readonly result: Result;
}

/** The call has ended: with a result, or with a failure of the machinery. Nothing comes after it. */
export interface EndedEvent extends EventBase, Omit<Outcome, "result"> {
  readonly type: "ended";
  /** What the tool answered; undefined if the machinery failed. */
  readonly result: Result | undefined;
  /** Why the machinery failed; undefined if the tool answered. */
  readonly error: ToolhostError | undefined;
}

/** Something that happened to a call. `started` comes first unless the call failed before; `ended` comes last, once. */
export type CallEvent = StartedEvent | StatusEvent | LogEvent | EndedEvent;

/** Makes events of messages, and puts results together that come in pieces. */
export class EventReader {
  readonly #pieces = new Pieces();

  /** Returns the event of a message, or undefined if it is a piece of one, or not known. */
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
    const ended = { type: "ended", callId, plugin, instance, replayed } as const;
    if (outcome.case === "error") {
      return { ...ended, result: undefined, error: fromError(outcome.value) };
    }
    if (outcome.case === "result") {
      this.#pieces.join(outcome.value.content);
    }
    return { ...ended, result: outcome.case === "result" ? fromResult(outcome.value) : undefined, error: undefined };
  }
}
