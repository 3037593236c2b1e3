/** The frames of one call in both directions, with flow control, deadline and cancellation. */
import { create, toBinary } from "@bufbuild/protobuf";
import { ToolhostError } from "../error.js";
import { ConnectResponseSchema, } from "../gen/toolhost/plugin/v1/plugin_pb.js";
import { fromDuration, wellFormed } from "../wire/scalars.js";
/**
 * The largest payload of one chunk, and of the content in the end of a call, all blocks together.
 */
export const pieceBytes = 64 << 10;
/** The largest status or log record in bytes. */
const maxEventBytes = 1 << 20;
/** The largest argument text of one call in bytes. */
const maxArgumentBytes = 64 << 20;
/** The longest delay that setTimeout supports. */
const maxTimerMs = 2 ** 31 - 1;
/**
 * The frames of one call. toolhost grants credit in bytes. A frame is sent while the credit is
 * positive and reduces it by its size, possibly below zero; otherwise it waits for a grant. The end
 * of the call needs no credit.
 */
export class WireCall {
    /** The frame that started the call. */
    start;
    /** The deadline. Undefined if there is none. */
    deadline;
    #number;
    #write;
    #abort = new AbortController();
    #timer;
    #questions = [];
    #asked = new Map(); // by number; questions without an answer
    #numbers = 0; // of questions
    #pieces = [];
    #seen = 0; // pieces that `news` has returned
    #size = 0;
    #complete;
    #credit;
    #queue = [];
    #queued = 0;
    #last = Promise.resolve(); // settles when the last queued frame is sent or dropped
    #pumping = false;
    #ended = false;
    #wakers = [];
    constructor(number, start, write) {
        this.start = start;
        this.#number = number;
        this.#write = write;
        this.#complete = start.complete;
        this.#credit = start.credit;
        this.#pieces = [start.arguments];
        this.#size = start.arguments.length;
        const timeout = fromDuration(start.timeout);
        if (timeout !== undefined) {
            this.deadline = new Date(Date.now() + timeout);
            const over = () => this.stop(new ToolhostError("timeout", "the call's time is up"));
            this.#timer = setTimeout(over, Math.min(timeout, maxTimerMs));
        }
    }
    /**
     * Aborted with a ToolhostError when the call is cancelled, its deadline passes, or the connection
     * ends.
     */
    get signal() {
        return this.#abort.signal;
    }
    /** The bytes that wait for credit. */
    get queued() {
        return this.#queued;
    }
    /** Whether the arguments are complete. */
    get complete() {
        return this.#complete;
    }
    /** Handles a frame of toolhost. */
    take({ frame }) {
        switch (frame.case) {
            case "credit":
                this.#credit += frame.value.bytes;
                break;
            case "append":
                this.#append(frame.value.text);
                break;
            case "complete":
                if (!this.#complete && frame.value.arguments.length > 0) {
                    this.#pieces = [frame.value.arguments];
                }
                this.#complete = true;
                break;
            case "cancel": {
                const { reason } = frame.value;
                this.stop(new ToolhostError("cancelled", `the call was cancelled${reason && `: ${reason}`}`));
                break;
            }
            case "artifact":
                this.#questions.shift()?.(frame.value);
                break;
            case "answer":
                this.#asked.get(frame.value.number)?.(frame.value.answer);
                break;
        }
        this.#wake();
    }
    #append(text) {
        if (this.#complete) {
            return;
        }
        this.#size += text.length;
        if (this.#size > maxArgumentBytes) {
            this.#pieces = [];
            const words = `the arguments are larger than the ${maxArgumentBytes} bytes that are allowed`;
            this.stop(new ToolhostError("invalid_argument", words));
            return;
        }
        this.#pieces.push(text);
    }
    /** Stops the work. Only the first reason is kept. */
    stop(reason) {
        this.#abort.abort(reason);
        this.#wake();
    }
    /** Returns the argument text that arrived since the last call of this method, without waiting. */
    news() {
        const fresh = this.#pieces.slice(this.#seen);
        this.#seen = this.#pieces.length;
        return fresh;
    }
    /** Returns the complete argument text. */
    text() {
        return Buffer.concat(this.#pieces);
    }
    /** Waits until a condition holds. Rejects with the reason if the call is stopped first. */
    async until(condition) {
        for (;;) {
            this.signal.throwIfAborted();
            if (condition()) {
                return;
            }
            await new Promise((resolve) => this.#wakers.push(resolve));
        }
    }
    #wake() {
        for (const waker of this.#wakers.splice(0)) {
            waker();
        }
    }
    /**
     * Sends a frame after all earlier frames, once there is credit. Rejects if the call is stopped
     * first. A `late` frame is sent even after the stop, if there is credit at that time.
     */
    send(frame, late = false) {
        const bytes = toBinary(ConnectResponseSchema, create(ConnectResponseSchema, { call: this.#number, frame }));
        if (bytes.length > maxEventBytes) {
            const words = `a status, log record or question of ${bytes.length} bytes; at most ${maxEventBytes} can be sent`;
            return Promise.reject(new ToolhostError("invalid_argument", words));
        }
        if (this.#ended) {
            return Promise.reject(new ToolhostError("cancelled", "the call has ended"));
        }
        const sending = new Promise((sent, failed) => {
            this.#queue.push({ bytes, late, sent, failed });
            this.#queued += bytes.length;
            void this.#pump();
        });
        this.#last = sending.catch(() => { });
        return sending;
    }
    async #pump() {
        if (this.#pumping) {
            return;
        }
        this.#pumping = true;
        for (let next = this.#queue.shift(); next; next = this.#queue.shift()) {
            try {
                await this.#pass(next);
                next.sent();
            }
            catch (reason) {
                next.failed(reason);
            }
            this.#queued -= next.bytes.length;
        }
        this.#pumping = false;
    }
    async #pass({ bytes, late }) {
        if (!(late && this.#credit > 0)) {
            await this.until(() => this.#credit > 0);
        }
        this.#credit -= bytes.length;
        await this.#write(bytes);
    }
    /** Waits until all queued frames are sent, or dropped because the call is stopped. */
    async drained() {
        await this.#last;
    }
    /**
     * Requests a piece of an artifact. The caller must wait for the answer before the next request.
     */
    async ask(handle, offset, limit) {
        let piece;
        const question = (answer) => {
            piece = answer;
        };
        this.#questions.push(question);
        try {
            await this.send({ case: "readArtifact", value: { handle: wellFormed(handle), offset: BigInt(offset), limit } });
        }
        catch (error) {
            // A request that was not sent must not receive the answer to the next one.
            this.#questions.splice(this.#questions.indexOf(question), 1);
            throw error;
        }
        await this.until(() => piece !== undefined);
        return piece;
    }
    /** Asks the caller of the tool, and returns the answer. Several questions can be open. */
    async question(frame) {
        const number = ++this.#numbers;
        let arrived;
        this.#asked.set(number, (answer) => {
            arrived = { answer };
        });
        try {
            await this.send(frame(number));
            await this.until(() => arrived !== undefined);
            return arrived.answer;
        }
        finally {
            this.#asked.delete(number);
        }
    }
    /** Sends the end of the call. No frame follows it. */
    async end(frame) {
        this.#ended = true;
        clearTimeout(this.#timer);
        this.#abort.abort(new ToolhostError("cancelled", "the call has ended"));
        this.#wake();
        await this.#write(toBinary(ConnectResponseSchema, create(ConnectResponseSchema, { call: this.#number, frame })));
    }
}
