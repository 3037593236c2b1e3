/**
 * One Connect stream of a client, which carries calls by their numbers. All calls of a client share
 * one stream, because opening a stream costs more than a call. Flow control is per call; see
 * `Inbox`.
 */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { ToolhostError } from "../error.js";
import { ConnectRequestSchema, ConnectResponseSchema, ToolService, } from "../gen/toolhost/v1/tool_service_pb.js";
import { asBuffer, methodDefinition } from "../wire/rpc.js";
import { acceptsBatches, announceBatches, fieldBytes, Gatherer } from "./batch.js";
import { sayable, unanswered } from "./failure.js";
import { authorize } from "./link.js";
/**
 * How long a stream without calls stays open. An open stream keeps the process alive, and opening
 * another is cheap.
 */
const idleMs = 200;
/** The most calls that toolhost accepts on one stream. */
const maxCalls = 4096;
/** The greatest number of a call, a uint32. */
const maxNumber = 2 ** 32 - 1;
// Frames are encoded before gRPC receives them, because a frame beyond the limit would end the
// stream and all its calls.
const connect = {
    ...methodDefinition(ToolService.method.connect),
    requestSerialize: asBuffer,
    responseDeserialize: (bytes) => ({ message: fromBinary(ConnectResponseSchema, bytes), bytes }),
};
/**
 * One stream. It opens immediately, and ends when the client closes, when it is idle, or when the
 * connection fails.
 */
export class CallStream {
    /** Settles when the stream is open; rejects with a ToolhostError if it cannot be opened. */
    ready;
    #link;
    #limit;
    #calls = new Map(); // calls that have not ended
    #idle; // starts when the stream opens, and again at each end of a call
    #out = new Gatherer(ConnectRequestSchema.field, (message) => {
        if (this.#stream?.writable) {
            this.#stream.write(message);
        }
    });
    #stream;
    #release = () => { };
    #drained;
    #last = 0; // the last number of a call
    #heard = false; // whether toolhost has sent an event
    #over = false;
    #connection; // after the stream has opened
    #token;
    /** `limit` is the largest frame in bytes. */
    constructor(link, limit) {
        this.#link = link;
        this.#limit = limit;
        this.ready = this.#open();
        this.ready.catch(() => {
            this.#over = true;
        });
    }
    /**
     * Whether the stream accepts another call. It does not if its token or its connection was replaced.
     * The server lets the calls that the stream has end normally, and the stream is idle then.
     */
    get free() {
        const replaced = this.#connection && !this.#link.suits(this.#connection, this.#token);
        return !this.#over && !replaced && this.#calls.size < maxCalls;
    }
    /** The token of the stream. Undefined if the client sends none. */
    get token() {
        return this.#token;
    }
    async #open() {
        this.#token = await this.#link.token();
        const connection = await this.#link.acquire();
        this.#release = (error) => this.#link.release(connection, error);
        const stream = await this.#accepted(connection);
        this.#connection = connection;
        this.#stream = stream;
        this.#idle = setTimeout(() => this.#rest(), idleMs).unref();
        stream.on("metadata", (metadata) => {
            this.#out.batches = acceptsBatches(metadata);
        });
        stream.on("data", (arrived) => this.#read(arrived));
        stream.on("error", (error) => this.#end(error));
        stream.on("end", () => this.#end(undefined));
    }
    /**
     * Starts the stream. If it carries a token, it also waits until toolhost has accepted the stream, so
     * that no call is sent to a toolhost that refuses the token. It then starts the stream once more
     * with another token.
     */
    async #accepted(connection) {
        const start = () => this.#link.duplex(connection, connect, authorize(this.#token, announceBatches()));
        for (let again = true;; again = false) {
            const stream = start();
            const refusal = this.#token && (await answer(stream, this.#out));
            if (!refusal) {
                return stream;
            }
            if (!again || !(await this.#link.renewed(this.#token, refusal))) {
                this.#release(refusal);
                throw this.#link.failure(refusal);
            }
            this.#token = await this.#link.token();
        }
    }
    #read({ message, bytes }) {
        this.#heard = true;
        this.#out.ackToken = message.ackToken;
        this.#take(message, bytes);
        if (message.batch.length > 0) {
            const encoded = fieldBytes(bytes, ConnectResponseSchema.field.batch.number);
            for (const [i, frame] of message.batch.entries()) {
                this.#take(frame, encoded[i] ?? bytes);
            }
        }
    }
    #take({ call: number, event }, bytes) {
        const call = this.#calls.get(number);
        if (!event || !call) {
            return; // the call has ended
        }
        if (event.event.case === "ended") {
            this.#calls.delete(number);
            this.#idle?.refresh();
            call.take(event, 0);
            return;
        }
        call.take(event, eventBytes(bytes));
    }
    /** Ends the stream. With status OK, toolhost has executed none of the remaining calls. */
    #end(error) {
        if (this.#over && this.#calls.size === 0) {
            this.#free(error);
            return;
        }
        this.#over = true;
        const answered = error !== undefined && !unanswered(error) && !this.#link.closed;
        // A status before the first event means that toolhost rejected the stream and executed nothing.
        const lost = error !== undefined && !(answered && !this.#heard);
        const failure = error === undefined
            ? new ToolhostError("unavailable", "toolhost is shutting down; the call was not executed")
            : this.#link.failure(error);
        const calls = [...this.#calls.values()];
        this.#calls.clear();
        this.#free(error);
        for (const call of calls) {
            call.lose(failure, lost);
        }
    }
    #free(error) {
        clearTimeout(this.#idle);
        this.#release(error);
        this.#release = () => { };
    }
    #rest() {
        if (this.#calls.size === 0 && !this.#over) {
            this.#over = true;
            this.#stream?.end();
        }
    }
    /** Assigns a number to a call. The call may send frames once the stream is ready. */
    enter(call) {
        do {
            this.#last = (this.#last % maxNumber) + 1;
        } while (this.#calls.has(this.#last));
        this.#calls.set(this.#last, call);
        return this.#last;
    }
    /** Releases the number of a call of which nothing was sent. */
    leave(number) {
        this.#calls.delete(number);
        this.#idle?.refresh();
    }
    /**
     * Sends a frame of a call, unless the call has ended. Throws a ToolhostError if the frame is too
     * large.
     */
    put(number, frame) {
        if (!this.#calls.has(number)) {
            return;
        }
        const bytes = sayable(() => toBinary(ConnectRequestSchema, create(ConnectRequestSchema, { call: number, frame })));
        if (bytes.length > this.#limit) {
            const words = `the call has ${bytes.length} bytes of context and options, and the limit is ${this.#limit}; use a smaller context`;
            throw new ToolhostError("invalid_argument", words);
        }
        this.#out.put(bytes);
    }
    /** Settles when the stream accepts more. Undefined if it does so now. */
    room() {
        const stream = this.#stream;
        if (!stream?.writableNeedDrain) {
            return undefined;
        }
        this.#drained ??= new Promise((resolve) => {
            const over = () => {
                this.#drained = undefined;
                stream.off("drain", over).off("close", over).off("error", over).off("end", over);
                resolve();
            };
            stream.on("drain", over).on("close", over).on("error", over).on("end", over);
        });
        return this.#drained;
    }
}
/** Waits until toolhost accepts a stream, or returns the error with which it refuses the stream. */
function answer(stream, out) {
    return new Promise((resolve) => {
        stream.once("error", resolve);
        stream.once("metadata", (metadata) => {
            out.batches = acceptsBatches(metadata);
            stream.off("error", resolve);
            resolve(undefined);
        });
    });
}
/** Returns the size of the event in an encoded frame, which is its cost. */
function eventBytes(frame) {
    for (const reader = new BinaryReader(frame); reader.pos < reader.len;) {
        const [field, wire] = reader.tag();
        if (field === ConnectResponseSchema.field.event.number) {
            return reader.uint32();
        }
        reader.skip(wire);
    }
    return 0;
}
