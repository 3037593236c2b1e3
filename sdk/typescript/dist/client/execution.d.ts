/** A call in progress, from the view of its caller. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CallOptionsSchema } from "../gen/toolhost/v1/tool_service_pb.js";
import type { CallStream } from "./callstream.js";
import { type CallEvent, type Outcome } from "./events.js";
/** What opens a call. */
export interface Opening {
    readonly tool: string;
    readonly options: MessageInitShape<typeof CallOptionsSchema>;
    readonly signal: AbortSignal | undefined;
}
/**
 * A call in progress. Its events can be read once, by iterating over it or by `outcome`. Leaving
 * the loop, or the block of `await using`, detaches from the call. A call without a call id, or
 * with incomplete arguments, is then cancelled. A call with a call id continues, and `watchCall` or
 * the same call returns its outcome.
 */
export declare class Execution implements AsyncIterable<CallEvent>, AsyncDisposable {
    #private;
    /** Use `Toolhost.execute`. */
    constructor(stream: CallStream, opening: Opening, whole: Uint8Array | undefined);
    /**
     * Sends the next piece of argument text. A piece may end at any byte. The promise settles when
     * the client accepts more.
     */
    send(text: string | Uint8Array): Promise<void>;
    /** Marks the arguments as complete. toolhost then validates them and executes the call. */
    complete(): Promise<void>;
    /** Requests cancellation of the call. The call still ends, usually with the error `cancelled`. */
    cancel(reason?: string): Promise<void>;
    /** Whether the call has ended. */
    get over(): boolean;
    /** Ends the call because its argument stream failed. */
    abandon(error: unknown): void;
    /**
     * Reads all remaining events and returns the outcome. Throws a ToolhostError for an
     * infrastructure error.
     */
    outcome(): Promise<Outcome>;
    /** Detaches from the call at the end of an `await using` block. */
    [Symbol.asyncDispose](): Promise<void>;
    /** Yields the events up to the end. A lost connection is also an `ended` event. */
    [Symbol.asyncIterator](): AsyncGenerator<CallEvent>;
}
