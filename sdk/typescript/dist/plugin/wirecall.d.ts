/** The frames of one call in both directions, with flow control, deadline and cancellation. */
import { type MessageInitShape } from "@bufbuild/protobuf";
import { ToolhostError } from "../error.js";
import { type ArtifactPiece, type ConnectRequest, ConnectResponseSchema, type StartCall } from "../gen/toolhost/plugin/v1/plugin_pb.js";
import type { Answer } from "../gen/toolhost/tool/v1/question_pb.js";
/**
 * The largest payload of one chunk, and of the content in the end of a call, all blocks together.
 */
export declare const pieceBytes: number;
/** A frame of the plugin, without the number of the call. */
export type Frame = NonNullable<MessageInitShape<typeof ConnectResponseSchema>["frame"]>;
/** Writes an encoded frame. The promise settles when it accepts more. */
export type Write = (frame: Uint8Array) => Promise<void>;
/**
 * The frames of one call. toolhost grants credit in bytes. A frame is sent while the credit is
 * positive and reduces it by its size, possibly below zero; otherwise it waits for a grant. The end
 * of the call needs no credit.
 */
export declare class WireCall {
    #private;
    /** The frame that started the call. */
    readonly start: StartCall;
    /** The deadline. Undefined if there is none. */
    readonly deadline: Date | undefined;
    constructor(number: number, start: StartCall, write: Write);
    /**
     * Aborted with a ToolhostError when the call is cancelled, its deadline passes, or the connection
     * ends.
     */
    get signal(): AbortSignal;
    /** The bytes that wait for credit. */
    get queued(): number;
    /** Whether the arguments are complete. */
    get complete(): boolean;
    /** Handles a frame of toolhost. */
    take({ frame }: ConnectRequest): void;
    /** Stops the work. Only the first reason is kept. */
    stop(reason: ToolhostError): void;
    /** Returns the argument text that arrived since the last call of this method, without waiting. */
    news(): Uint8Array[];
    /** Returns the complete argument text. */
    text(): Buffer;
    /** Waits until a condition holds. Rejects with the reason if the call is stopped first. */
    until(condition: () => boolean): Promise<void>;
    /**
     * Sends a frame after all earlier frames, once there is credit. Rejects if the call is stopped
     * first. A `late` frame is sent even after the stop, if there is credit at that time.
     */
    send(frame: Frame, late?: boolean): Promise<void>;
    /** Waits until all queued frames are sent, or dropped because the call is stopped. */
    drained(): Promise<void>;
    /**
     * Requests a piece of an artifact. The caller must wait for the answer before the next request.
     */
    ask(handle: string, offset: number, limit: number): Promise<ArtifactPiece>;
    /** Asks the caller of the tool, and returns the answer. Several questions can be open. */
    question(frame: (number: number) => Frame): Promise<Answer | undefined>;
    /** Sends the end of the call. No frame follows it. */
    end(frame: Frame): Promise<void>;
}
