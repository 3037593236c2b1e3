/**
 * One Connect stream of a client, which carries calls by their numbers. All calls of a client share
 * one stream, because opening a stream costs more than a call. Flow control is per call; see
 * `Inbox`.
 */
import { type MessageInitShape } from "@bufbuild/protobuf";
import { ToolhostError } from "../error.js";
import { type CallEvent as CallEventMessage, ConnectRequestSchema } from "../gen/toolhost/v1/tool_service_pb.js";
import { type Link } from "./link.js";
import type { Token } from "./tokens.js";
/** A frame of the client, without the number of the call. */
export type Frame = NonNullable<MessageInitShape<typeof ConnectRequestSchema>["frame"]>;
/** A call on a stream. */
export interface StreamedCall {
    /** Receives an event and its cost in bytes. `ended` is the last event and costs nothing. */
    take(event: CallEventMessage, cost: number): void;
    /** The stream ended before the call. `lost` says whether toolhost may have executed the call. */
    lose(failure: ToolhostError, lost: boolean): void;
}
/**
 * One stream. It opens immediately, and ends when the client closes, when it is idle, or when the
 * connection fails.
 */
export declare class CallStream {
    #private;
    /** Settles when the stream is open; rejects with a ToolhostError if it cannot be opened. */
    readonly ready: Promise<void>;
    /** `limit` is the largest frame in bytes. */
    constructor(link: Link, limit: number);
    /**
     * Whether the stream accepts another call. It does not if its token or its connection was replaced.
     * The server lets the calls that the stream has end normally, and the stream is idle then.
     */
    get free(): boolean;
    /** The token of the stream. Undefined if the client sends none. */
    get token(): Token | undefined;
    /** Assigns a number to a call. The call may send frames once the stream is ready. */
    enter(call: StreamedCall): number;
    /** Releases the number of a call of which nothing was sent. */
    leave(number: number): void;
    /**
     * Sends a frame of a call, unless the call has ended. Throws a ToolhostError if the frame is too
     * large.
     */
    put(number: number, frame: Frame): void;
    /** Settles when the stream accepts more. Undefined if it does so now. */
    room(): Promise<void> | undefined;
}
