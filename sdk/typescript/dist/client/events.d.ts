/** The events and outcomes of calls. */
import type { Result } from "../content.js";
import type { ToolhostError } from "../error.js";
import { type CallEvent as CallEventMessage } from "../gen/toolhost/v1/tool_service_pb.js";
import type { ModelQuestion, PersonQuestion, QuestionEnd, QuestionKind } from "../question.js";
import type { LogRecord, Status } from "../status.js";
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
/** Converts messages to events, and joins the chunks of large results. */
export declare class EventReader {
    #private;
    /**
     * Returns the event of a message. Returns undefined for a chunk and for a message of an unknown
     * kind.
     */
    read(message: CallEventMessage): CallEvent | undefined;
}
export {};
