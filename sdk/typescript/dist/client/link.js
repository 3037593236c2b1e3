/** The connections of a client to a server. */
import { create, toBinary, } from "@bufbuild/protobuf";
import { connectivityState, Metadata, } from "@grpc/grpc-js";
import { ToolhostError } from "../error.js";
import { asBuffer, methodDefinition } from "../wire/rpc.js";
import { formatAddress } from "./address.js";
import { dial } from "./dial.js";
import { failureOf, refusesToken, sayable, unanswered } from "./failure.js";
/**
 * A server, to which the first RPC connects. After a failure the next RPC connects again at once.
 * gRPC itself would wait a second or longer, and fail all RPCs meanwhile with the earlier error.
 */
export class Link {
    #server;
    #places;
    #place = 0; // of the current server
    #options;
    #rpcTimeoutMs;
    #current; // the connection for new RPCs
    #dialing;
    #all = new Set();
    #calls = new Set(); // in progress
    #closed = false;
    /**
     * Any server of `places` will do: the link is connected to one of them, and tries the next ones when
     * that one accepts no connection. They all get the tokens of the first one.
     *
     * `server` is the name of the program, for error messages, and `limit` is the largest message in
     * bytes. `rpcTimeoutMs` is the deadline of a unary RPC, 0 for none.
     */
    constructor(places, server, limit, rpcTimeoutMs = 30_000) {
        this.#places = places;
        this.#server = server;
        this.#rpcTimeoutMs = rpcTimeoutMs;
        this.#options = {
            "grpc.max_receive_message_length": limit,
            "grpc.max_send_message_length": limit,
            "grpc.enable_http_proxy": 0,
            "grpc.service_config_disable_resolution": 1,
            "grpc.use_local_subchannel_pool": 1,
        };
    }
    /** Where the current server is. */
    get address() {
        return this.#places[this.#place].address;
    }
    get #tokens() {
        return this.#places[0]?.credentials.tokens;
    }
    /** Whether the client was closed. */
    get closed() {
        return this.#closed;
    }
    /** Closes all connections and cancels their RPCs. */
    close() {
        this.#closed = true;
        // gRPC lets RPCs continue after close.
        for (const call of this.#calls) {
            call.cancel();
        }
        this.#current = undefined;
        for (const { client } of this.#all) {
            client.close();
        }
        this.#all.clear();
    }
    /** Makes a unary RPC. */
    async unary(method, request, signal) {
        const { path, responseDeserialize } = methodDefinition(method);
        const message = encode(method.input, request);
        return this.#use(signal, ({ client }, metadata) => {
            return new Promise((resolve, reject) => {
                const options = this.#rpcTimeoutMs > 0 ? { deadline: Date.now() + this.#rpcTimeoutMs } : {};
                const call = client.makeUnaryRequest(path, asBuffer, responseDeserialize, message, metadata, options, (error, response) => {
                    signal?.removeEventListener("abort", cancel);
                    if (error || !response) {
                        reject(signal?.aborted ? abortFailure(signal) : error);
                    }
                    else {
                        resolve(response);
                    }
                });
                const cancel = () => call.cancel();
                signal?.addEventListener("abort", cancel, { once: true });
                this.#track(call);
            });
        });
    }
    /**
     * Makes a server-streaming RPC. Leaving the loop ends it. The RPC is repeated once with another
     * token if the server refuses the token.
     */
    async *stream(method, request, signal) {
        const token = await heeding(signal, this.token());
        let begun = false;
        try {
            for await (const message of this.#stream(method, request, signal, token)) {
                begun = true;
                yield message;
            }
            return;
        }
        catch (error) {
            if (begun || !(await this.renewed(token, error))) {
                throw signal?.aborted ? abortFailure(signal) : this.failure(error);
            }
        }
        try {
            yield* this.#stream(method, request, signal, await heeding(signal, this.token()));
        }
        catch (error) {
            throw signal?.aborted ? abortFailure(signal) : this.failure(error);
        }
    }
    async *#stream(method, request, signal, token) {
        const { path, responseDeserialize } = methodDefinition(method);
        const message = encode(method.input, request);
        const connection = await this.acquire(signal);
        let failure;
        const call = connection.client.makeServerStreamRequest(path, asBuffer, responseDeserialize, message, authorize(token));
        const cancel = () => call.cancel();
        signal?.addEventListener("abort", cancel, { once: true });
        this.#track(call);
        call.on("error", (error) => {
            failure = error;
        });
        try {
            yield* call;
        }
        catch (error) {
            failure = error;
            throw error;
        }
        finally {
            signal?.removeEventListener("abort", cancel);
            call.cancel();
            this.release(connection, failure);
        }
    }
    /** Starts a bidirectional RPC on an acquired connection. */
    duplex(connection, method, metadata) {
        const { path, requestSerialize, responseDeserialize } = method;
        return this.#track(connection.client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata));
    }
    #track(call) {
        this.#calls.add(call);
        call.on("status", () => this.#calls.delete(call));
        return call;
    }
    /** Returns the current token. Undefined if the client sends none. */
    async token() {
        try {
            return await this.#tokens?.get();
        }
        catch (error) {
            const reason = error instanceof Error ? error.message : String(error);
            const words = `there is no token for the ${this.#server} at ${formatAddress(this.address)}: ${reason}`;
            throw new ToolhostError("unavailable", words, { cause: error });
        }
    }
    /** Whether further calls belong on a stream with this token on this connection. */
    suits(connection, token) {
        const tokens = this.#tokens;
        return connection === this.#usable() && (tokens === undefined || (token !== undefined && tokens.has(token)));
    }
    /** Reports whether the server refused a token with an error, and there is another token. */
    async renewed(refused, error) {
        return refusesToken(error) && this.renew(refused);
    }
    /** Reports whether there is another token than one that the server refused. */
    async renew(refused) {
        return refused !== undefined && (await this.#tokens?.renew(refused)) === true;
    }
    /**
     * Runs an RPC on a connection, and converts its failure. The RPC is repeated once with another
     * token if the server refuses the token, because the server has not executed it then.
     */
    async #use(signal, rpc) {
        const token = await heeding(signal, this.token());
        try {
            return await this.#once(signal, token, rpc);
        }
        catch (error) {
            if (!(await this.renewed(token, error))) {
                throw this.failure(error);
            }
        }
        try {
            return await this.#once(signal, await heeding(signal, this.token()), rpc);
        }
        catch (error) {
            throw this.failure(error);
        }
    }
    async #once(signal, token, rpc) {
        const connection = await this.acquire(signal);
        let failure;
        try {
            return await rpc(connection, authorize(token));
        }
        catch (error) {
            failure = error;
            throw error;
        }
        finally {
            this.release(connection, failure);
        }
    }
    /** Returns a connection for one RPC. The caller must release it. */
    async acquire(signal) {
        if (this.#closed) {
            throw new ToolhostError("cancelled", "the client is closed");
        }
        if (signal?.aborted) {
            throw abortFailure(signal);
        }
        const connection = this.#usable() ?? (await heeding(signal, this.#dialed()));
        connection.users++;
        return connection;
    }
    /**
     * Releases a connection after an RPC with its error, if any. A connection without an answering
     * server is not used again.
     */
    release(connection, error) {
        connection.users--;
        if (unanswered(error)) {
            this.#retire(connection);
        }
        this.#closeIfDone(connection);
    }
    /** Converts the failure of an RPC. */
    failure(error) {
        if (this.#closed) {
            return new ToolhostError("cancelled", "the client is closed", { cause: error });
        }
        if (refusesToken(error)) {
            const { kind, message } = failureOf(error);
            const who = `the ${this.#server} at ${formatAddress(this.address)}`;
            return new ToolhostError(kind, `${who} does not accept the credentials of this client: ${message}`, { cause: error });
        }
        if (!unanswered(error)) {
            return failureOf(error);
        }
        return this.#noAnswer(failureOf(error).message, error);
    }
    get #advice() {
        return `start one with \`${this.#server} serve\`, or say with ${this.#server.toUpperCase()}_ADDR or \`address\` where one is`;
    }
    #noAnswer(reason, cause) {
        return new ToolhostError("unavailable", `no ${this.#server} answers at ${formatAddress(this.address)}: ${reason}`, {
            cause,
        });
    }
    #usable() {
        const connection = this.#current;
        if (!connection || connection.client.getChannel().getConnectivityState(false) === connectivityState.READY) {
            return connection;
        }
        this.#retire(connection);
        this.#closeIfDone(connection);
        return undefined;
    }
    /** Returns the connection attempt in progress, or starts one. */
    #dialed() {
        this.#dialing ??= this.#dial().finally(() => {
            this.#dialing = undefined;
        });
        return this.#dialing;
    }
    async #dial() {
        let client;
        for (let tried = 1; client === undefined; tried++) {
            try {
                const { address, credentials } = this.#places[this.#place];
                client = await dial(address, credentials.tls, this.#options);
            }
            catch (error) {
                const failure = this.#noAnswer(`${error instanceof Error ? error.message : error}; ${this.#advice}`, error);
                this.#place = (this.#place + 1) % this.#places.length;
                if (tried === this.#places.length || this.#closed) {
                    throw failure;
                }
            }
        }
        if (this.#closed) {
            client.close();
            throw new ToolhostError("cancelled", "the client is closed");
        }
        const connection = { client, users: 0, retired: false };
        this.#all.add(connection);
        this.#current = connection;
        return connection;
    }
    #retire(connection) {
        connection.retired = true;
        if (this.#current === connection) {
            this.#current = undefined;
        }
    }
    #closeIfDone(connection) {
        if (connection.retired && connection.users === 0 && this.#all.delete(connection)) {
            connection.client.close();
        }
    }
}
/** Adds a token to the metadata of an RPC. */
export function authorize(token, metadata = new Metadata()) {
    if (token) {
        metadata.set("authorization", `Bearer ${token.value}`);
    }
    return metadata;
}
/**
 * Encodes a request. Throws a ToolhostError for values of wrong types, which JavaScript code can
 * pass.
 */
function encode(schema, request) {
    return sayable(() => toBinary(schema, create(schema, request)));
}
/** Waits for a promise, or until a signal is aborted. */
export async function heeding(signal, promise) {
    if (!signal) {
        return promise;
    }
    if (signal.aborted) {
        throw abortFailure(signal);
    }
    let cancel = () => { };
    const aborted = new Promise((_, reject) => {
        cancel = () => reject(abortFailure(signal));
        signal.addEventListener("abort", cancel, { once: true });
    });
    try {
        return await Promise.race([promise, aborted]);
    }
    finally {
        signal.removeEventListener("abort", cancel);
    }
}
/** Converts the reason of an aborted signal to a ToolhostError. */
export function abortFailure(signal) {
    const { reason } = signal;
    if (reason instanceof ToolhostError) {
        return reason;
    }
    const timeout = reason instanceof Error && reason.name === "TimeoutError";
    const message = reason instanceof Error ? reason.message : String(reason);
    return new ToolhostError(timeout ? "timeout" : "cancelled", message, { cause: reason });
}
