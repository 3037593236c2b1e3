import { ToolhostError } from "../error.js";
import { EventReader } from "./events.js";
import { failureOf } from "./failure.js";
import { Inbox, windowBytes } from "./inbox.js";
import { abortFailure, heeding } from "./link.js";
/** The largest piece of argument text in one frame. */
const pieceBytes = 64 << 10;
/**
 * How long the client waits for the end of a cancelled call. Most tools stop immediately, and the
 * end says what happened.
 */
const cancelGraceMs = 1_000;
/**
 * A call in progress. Its events can be read once, by iterating over it or by `outcome`. Leaving
 * the loop, or the block of `await using`, detaches from the call. A call without a call id, or
 * with incomplete arguments, is then cancelled. A call with a call id continues, and `watchCall` or
 * the same call returns its outcome.
 */
export class Execution {
    #stream;
    #opening;
    #opened;
    #events = new EventReader();
    #inbox = new Inbox((bytes) => this.#put({ case: "credit", value: { bytes } }));
    #read; // settles when the reader has finished
    #readerDone = () => { };
    #number;
    #sent = false; // whether toolhost may know the number
    #complete = false; // whether toolhost may have all arguments, and so may have executed the call
    #callId;
    #over = false; // whether the end has arrived, read or unread
    #reading = false;
    #ended; // after it was read
    #grace;
    /** Use `Toolhost.execute`. */
    constructor(stream, opening, whole) {
        this.#stream = stream;
        this.#opening = opening;
        this.#callId = opening.options.callId || undefined;
        this.#read = new Promise((resolve) => {
            this.#readerDone = resolve;
        });
        this.#number = stream.enter(this.#streamed);
        this.#opened = this.#open(whole).catch((error) => {
            if (!this.#sent) {
                stream.leave(this.#number);
            }
            this.#finish(failureOf(error));
        });
    }
    async #open(whole) {
        const { tool, options, signal } = this.#opening;
        await heeding(signal, this.#stream.ready);
        if (this.#over) {
            this.#stream.leave(this.#number); // it was abandoned before the stream was ready
            return;
        }
        signal?.addEventListener("abort", this.#abort, { once: true });
        // Large arguments are sent in pieces, so that they do not delay other calls.
        const complete = whole !== undefined && whole.length <= windowBytes;
        this.#complete = complete;
        const text = complete ? whole : new Uint8Array();
        this.#stream.put(this.#number, { case: "start", value: { tool, arguments: text, complete, options } });
        this.#sent = true;
        if (whole && !complete) {
            await this.#append(whole);
            this.#finishArguments();
        }
    }
    /** Receives the events of the call from the stream. */
    #streamed = {
        take: (event, cost) => {
            if (event.event.case === "started") {
                this.#callId = event.event.value.callId;
            }
            if (event.event.case === "ended") {
                this.#end(event);
            }
            else {
                this.#inbox.put(event, cost);
            }
        },
        lose: (failure, lost) => this.#finish(lost ? this.#explain(failure) : failure),
    };
    #abort = () => {
        const { signal } = this.#opening;
        const failure = signal ? abortFailure(signal) : new ToolhostError("cancelled", "");
        this.#put({ case: "cancel", value: { reason: `the caller stopped waiting: ${failure.message}` } });
        this.#grace = setTimeout(() => {
            const advice = this.#callId
                ? `; watchCall with the id ${this.#callId} returns its outcome`
                : "; give calls a callId to watch them";
            const words = `${failure.message}; the call was cancelled and has not ended yet${this.#complete ? advice : ""}`;
            this.#finish(new ToolhostError(failure.kind, words, failure));
        }, cancelGraceMs).unref();
    };
    /**
     * Sends the next piece of argument text. A piece may end at any byte. The promise settles when
     * the client accepts more.
     */
    async send(text) {
        await this.#opened;
        await this.#append(typeof text === "string" ? Buffer.from(text) : text);
    }
    /** Marks the arguments as complete. toolhost then validates them and executes the call. */
    async complete() {
        await this.#opened;
        this.#finishArguments();
    }
    async #append(text) {
        for (let at = 0; at < text.length && !this.#over; at += pieceBytes) {
            this.#put({ case: "append", value: { text: text.subarray(at, at + pieceBytes) } });
            await this.#stream.room();
        }
    }
    #finishArguments() {
        if (!this.#over) {
            this.#complete = true; // set before the frame is sent, because the frame allows the execution
            this.#put({ case: "complete", value: {} });
        }
    }
    /** Requests cancellation of the call. The call still ends, usually with the error `cancelled`. */
    async cancel(reason = "") {
        await this.#opened;
        this.#put({ case: "cancel", value: { reason } });
    }
    /** Whether the call has ended. */
    get over() {
        return this.#over;
    }
    /** Ends the call because its argument stream failed. */
    abandon(error) {
        const { kind, message } = failureOf(error);
        const words = `the arguments of the call could not be read, and it was not executed: ${message}`;
        this.#put({ case: "cancel", value: { reason: words } });
        this.#finish(new ToolhostError(kind, words, { cause: error }));
    }
    /**
     * Reads all remaining events and returns the outcome. Throws a ToolhostError for an
     * infrastructure error.
     */
    async outcome() {
        if (!this.#reading) {
            for await (const _ of this) {
                // The caller did not ask for the events.
            }
        }
        const ended = await this.#read;
        if (!ended) {
            const words = "the loop over the events ended before the call did; read all events to get the outcome";
            throw new ToolhostError("cancelled", words, { callId: this.#callId });
        }
        const { callId, plugin, instance, replayed, result, error } = ended;
        if (error) {
            throw error;
        }
        if (!result) {
            throw new ToolhostError("internal", "toolhost ended the call without an outcome", { callId });
        }
        return { callId, plugin, instance, replayed, result };
    }
    /** Detaches from the call at the end of an `await using` block. */
    async [Symbol.asyncDispose]() {
        if (!this.#ended) {
            this.#leave();
        }
    }
    /** Yields the events up to the end. A lost connection is also an `ended` event. */
    async *[Symbol.asyncIterator]() {
        if (this.#ended) {
            return;
        }
        if (this.#reading) {
            const words = "another loop reads the events of the call; read them in one loop, and use `outcome` elsewhere";
            throw new ToolhostError("invalid_argument", words, { callId: this.#callId });
        }
        this.#reading = true;
        try {
            while (!this.#ended) {
                const event = this.#eventOf(await this.#inbox.next());
                if (event?.type === "ended") {
                    this.#ended = event;
                    this.#readerDone(event);
                }
                if (event) {
                    yield event;
                }
            }
        }
        finally {
            this.#leave();
        }
    }
    #eventOf(item) {
        if (!("$typeName" in item)) {
            return item;
        }
        const event = this.#events.read(item);
        const { signal } = this.#opening;
        if (event?.type === "ended" && signal?.aborted && event.error?.kind === "cancelled") {
            // The signal of this caller caused the cancellation, so its kind applies.
            return { ...event, error: new ToolhostError(abortFailure(signal).kind, event.error.message, event.error) };
        }
        return event;
    }
    /** Detaches from the call. */
    #leave() {
        this.#readerDone(undefined); // the end was not read
        if (this.#over) {
            return;
        }
        if (!this.#complete || !this.#opening.options.callId) {
            this.#put({ case: "cancel", value: { reason: "the caller no longer reads the call" } });
        }
        this.#inbox.drop();
        this.#forget();
    }
    /** Ends the call with an error that the client determined itself. */
    #finish(failure) {
        this.#end({
            type: "ended",
            seq: 0,
            time: new Date(),
            callId: this.#callId ?? "",
            plugin: undefined,
            instance: undefined,
            replayed: false,
            result: undefined,
            error: new ToolhostError(failure.kind, failure.message, { ...failure, callId: this.#callId, cause: failure.cause }),
        });
    }
    #end(last) {
        this.#over = true;
        this.#inbox.finish(last);
        this.#forget();
    }
    #forget() {
        clearTimeout(this.#grace);
        this.#opening.signal?.removeEventListener("abort", this.#abort);
    }
    /** Returns the error for a call whose connection was lost. */
    #explain(failure) {
        if (!this.#complete) {
            const words = `the connection was lost before the arguments were complete; the call was not executed (${failure.message})`;
            return new ToolhostError(failure.kind, words);
        }
        const advice = this.#opening.options.callId
            ? "send the same call with the same call id again to get its outcome; toolhost does not execute it twice"
            : "its outcome cannot be found, because it had no call id; give calls with side effects a call id";
        const words = `the connection was lost while the call ran, and it may have been executed; ${advice} (${failure.message})`;
        return new ToolhostError("outcome_unknown", words);
    }
    #put(frame) {
        if (this.#sent) {
            this.#stream.put(this.#number, frame);
        }
    }
}
