/** The connections of a client to a server. */
import {
  create,
  type DescMessage,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import {
  type Client,
  type ClientDuplexStream,
  type ClientOptions,
  connectivityState,
  Metadata,
  type MethodDefinition,
} from "@grpc/grpc-js";
import { ToolhostError } from "../error.js";
import { asBuffer, methodDefinition } from "../wire/rpc.js";
import { type Address, formatAddress } from "./address.js";
import { dial } from "./dial.js";
import { failureOf, sayable, unanswered } from "./failure.js";

/** An RPC in progress. */
type Cancellable = { cancel(): void } & NodeJS.EventEmitter;

/** A gRPC connection, and the number of RPCs that use it. */
interface Connection {
  readonly client: Client;
  users: number;
  retired: boolean; // accepts no more RPCs
}

/**
 * A server, to which the first RPC connects. After a failure the next RPC connects again at once.
 * gRPC itself would wait a second or longer, and fail all RPCs meanwhile with the earlier error.
 */
export class Link {
  /** Where the server is. */
  readonly address: Address;
  readonly #server: string;
  readonly #options: ClientOptions;
  readonly #rpcTimeoutMs: number;
  #current: Connection | undefined; // the connection for new RPCs
  #dialing: Promise<Connection> | undefined;
  readonly #all = new Set<Connection>();
  readonly #calls = new Set<Cancellable>(); // in progress
  #closed = false;

  /**
   * `server` is the name of the program, for error messages, and `limit` is the largest message in
   * bytes. `rpcTimeoutMs` is the deadline of a unary RPC, 0 for none.
   */
  constructor(address: Address, server: string, limit: number, rpcTimeoutMs = 30_000) {
    this.address = address;
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

  /** Whether the client was closed. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Closes all connections and cancels their RPCs. */
  close(): void {
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
  async unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    signal?: AbortSignal,
  ): Promise<MessageShape<O>> {
    const { path, responseDeserialize } = methodDefinition(method);
    const message = encode(method.input, request);
    return this.use(signal, ({ client }) => {
      return new Promise((resolve, reject) => {
        const options = this.#rpcTimeoutMs > 0 ? { deadline: Date.now() + this.#rpcTimeoutMs } : {};
        const metadata = new Metadata();
        const call = client.makeUnaryRequest(
          path,
          asBuffer,
          responseDeserialize,
          message,
          metadata,
          options,
          (error, response) => {
            signal?.removeEventListener("abort", cancel);
            if (error || !response) {
              reject(signal?.aborted ? abortFailure(signal) : error);
            } else {
              resolve(response);
            }
          },
        );
        const cancel = () => call.cancel();
        signal?.addEventListener("abort", cancel, { once: true });
        this.#track(call);
      });
    });
  }

  /** Makes a server-streaming RPC. Leaving the loop ends it. */
  async *stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    request: MessageInitShape<I>,
    signal?: AbortSignal,
  ): AsyncGenerator<MessageShape<O>> {
    const { path, responseDeserialize } = methodDefinition(method);
    const message = encode(method.input, request);
    const connection = await this.acquire(signal);
    let failure: unknown;
    const call = connection.client.makeServerStreamRequest(path, asBuffer, responseDeserialize, message);
    const cancel = () => call.cancel();
    signal?.addEventListener("abort", cancel, { once: true });
    this.#track(call);
    call.on("error", (error: unknown) => {
      failure = error;
    });
    try {
      yield* call as AsyncIterable<MessageShape<O>>;
    } catch (error) {
      failure = error;
      throw signal?.aborted ? abortFailure(signal) : this.failure(error);
    } finally {
      signal?.removeEventListener("abort", cancel);
      call.cancel();
      this.release(connection, failure);
    }
  }

  /** Starts a bidirectional RPC on an acquired connection. */
  duplex<I, O>(connection: Connection, method: MethodDefinition<I, O>, metadata: Metadata): ClientDuplexStream<I, O> {
    const { path, requestSerialize, responseDeserialize } = method;
    return this.#track(connection.client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata));
  }

  #track<C extends Cancellable>(call: C): C {
    this.#calls.add(call);
    call.on("status", () => this.#calls.delete(call));
    return call;
  }

  /** Runs an RPC on a connection, and converts its failure. */
  async use<T>(signal: AbortSignal | undefined, rpc: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await this.acquire(signal);
    let failure: unknown;
    try {
      return await rpc(connection);
    } catch (error) {
      failure = error;
      throw this.failure(error);
    } finally {
      this.release(connection, failure);
    }
  }

  /** Returns a connection for one RPC. The caller must release it. */
  async acquire(signal?: AbortSignal): Promise<Connection> {
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
  release(connection: Connection, error: unknown): void {
    connection.users--;
    if (unanswered(error)) {
      this.#retire(connection);
    }
    this.#closeIfDone(connection);
  }

  /** Converts the failure of an RPC. */
  failure(error: unknown): ToolhostError {
    if (this.#closed) {
      return new ToolhostError("cancelled", "the client is closed", { cause: error });
    }
    if (!unanswered(error)) {
      return failureOf(error);
    }
    return this.#noAnswer(failureOf(error).message, error);
  }

  get #advice(): string {
    return `start one with \`${this.#server} serve\`, or say with ${this.#server.toUpperCase()}_ADDR or \`address\` where one is`;
  }

  #noAnswer(reason: string, cause: unknown): ToolhostError {
    return new ToolhostError("unavailable", `no ${this.#server} answers at ${formatAddress(this.address)}: ${reason}`, {
      cause,
    });
  }

  #usable(): Connection | undefined {
    const connection = this.#current;
    if (!connection || connection.client.getChannel().getConnectivityState(false) === connectivityState.READY) {
      return connection;
    }
    this.#retire(connection);
    this.#closeIfDone(connection);
    return undefined;
  }

  /** Returns the connection attempt in progress, or starts one. */
  #dialed(): Promise<Connection> {
    this.#dialing ??= this.#dial().finally(() => {
      this.#dialing = undefined;
    });
    return this.#dialing;
  }

  async #dial(): Promise<Connection> {
    let client: Client;
    try {
      client = await dial(this.address, this.#options);
    } catch (error) {
      throw this.#noAnswer(`${error instanceof Error ? error.message : error}; ${this.#advice}`, error);
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

  #retire(connection: Connection): void {
    connection.retired = true;
    if (this.#current === connection) {
      this.#current = undefined;
    }
  }

  #closeIfDone(connection: Connection): void {
    if (connection.retired && connection.users === 0 && this.#all.delete(connection)) {
      connection.client.close();
    }
  }
}

/**
 * Encodes a request. Throws a ToolhostError for values of wrong types, which JavaScript code can
 * pass.
 */
function encode<I extends DescMessage>(schema: I, request: MessageInitShape<I>): Uint8Array {
  return sayable(() => toBinary(schema, create(schema, request)));
}

/** Waits for a promise, or until a signal is aborted. */
export async function heeding<T>(signal: AbortSignal | undefined, promise: Promise<T>): Promise<T> {
  if (!signal) {
    return promise;
  }
  if (signal.aborted) {
    throw abortFailure(signal);
  }
  let cancel = () => {};
  const aborted = new Promise<never>((_, reject) => {
    cancel = () => reject(abortFailure(signal));
    signal.addEventListener("abort", cancel, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

/** Converts the reason of an aborted signal to a ToolhostError. */
export function abortFailure(signal: AbortSignal): ToolhostError {
  const { reason } = signal;
  if (reason instanceof ToolhostError) {
    return reason;
  }
  const timeout = reason instanceof Error && reason.name === "TimeoutError";
  const message = reason instanceof Error ? reason.message : String(reason);
  return new ToolhostError(timeout ? "timeout" : "cancelled", message, { cause: reason });
}
