/** The connections of a client to a server. */
import { type DescMessage, type DescMethodServerStreaming, type DescMethodUnary, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import { type Client, type ClientDuplexStream, Metadata, type MethodDefinition } from "@grpc/grpc-js";
import { ToolhostError } from "../error.js";
import { type Address } from "./address.js";
import type { Credentials } from "./credentials.js";
import type { Token } from "./tokens.js";
/** Where a server is, and the credentials for it. */
export interface Place {
    readonly address: Address;
    readonly credentials: Credentials;
}
/** A gRPC connection, and the number of RPCs that use it. */
export interface Connection {
    readonly client: Client;
    users: number;
    retired: boolean;
}
/**
 * A server, to which the first RPC connects. After a failure the next RPC connects again at once.
 * gRPC itself would wait a second or longer, and fail all RPCs meanwhile with the earlier error.
 */
export declare class Link {
    #private;
    /**
     * Any server of `places` will do: the link is connected to one of them, and tries the next ones when
     * that one accepts no connection. They all get the tokens of the first one.
     *
     * `server` is the name of the program, for error messages, and `limit` is the largest message in
     * bytes. `rpcTimeoutMs` is the deadline of a unary RPC, 0 for none.
     */
    constructor(places: readonly Place[], server: string, limit: number, rpcTimeoutMs?: number);
    /** Where the current server is. */
    get address(): Address;
    /** Whether the client was closed. */
    get closed(): boolean;
    /** Closes all connections and cancels their RPCs. */
    close(): void;
    /** Makes a unary RPC. */
    unary<I extends DescMessage, O extends DescMessage>(method: DescMethodUnary<I, O>, request: MessageInitShape<I>, signal?: AbortSignal): Promise<MessageShape<O>>;
    /**
     * Makes a server-streaming RPC. Leaving the loop ends it. The RPC is repeated once with another
     * token if the server refuses the token.
     */
    stream<I extends DescMessage, O extends DescMessage>(method: DescMethodServerStreaming<I, O>, request: MessageInitShape<I>, signal?: AbortSignal): AsyncGenerator<MessageShape<O>>;
    /** Starts a bidirectional RPC on an acquired connection. */
    duplex<I, O>(connection: Connection, method: MethodDefinition<I, O>, metadata: Metadata): ClientDuplexStream<I, O>;
    /** Returns the current token. Undefined if the client sends none. */
    token(): Promise<Token | undefined>;
    /** Whether further calls belong on a stream with this token on this connection. */
    suits(connection: Connection, token: Token | undefined): boolean;
    /** Reports whether the server refused a token with an error, and there is another token. */
    renewed(refused: Token | undefined, error: unknown): Promise<boolean>;
    /** Reports whether there is another token than one that the server refused. */
    renew(refused: Token | undefined): Promise<boolean>;
    /** Returns a connection for one RPC. The caller must release it. */
    acquire(signal?: AbortSignal): Promise<Connection>;
    /**
     * Releases a connection after an RPC with its error, if any. A connection without an answering
     * server is not used again.
     */
    release(connection: Connection, error: unknown): void;
    /** Converts the failure of an RPC. */
    failure(error: unknown): ToolhostError;
}
/** Adds a token to the metadata of an RPC. */
export declare function authorize(token: Token | undefined, metadata?: Metadata): Metadata;
/** Waits for a promise, or until a signal is aborted. */
export declare function heeding<T>(signal: AbortSignal | undefined, promise: Promise<T>): Promise<T>;
/** Converts the reason of an aborted signal to a ToolhostError. */
export declare function abortFailure(signal: AbortSignal): ToolhostError;
