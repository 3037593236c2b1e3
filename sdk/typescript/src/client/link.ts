/** How a server is reached. */
import { connect } from "node:net";
import {
  create,
  type DescMessage,
  type DescMethodBiDiStreaming,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import {
  Client,
  type ClientDuplexStream,
  type ClientOptions,
  connectivityState,
  credentials,
  type MethodDefinition,
} from "@grpc/grpc-js";
import { ToolhostError } from "../error.js";
import { methodDefinition } from "../wire/rpc.js";
import { type Address, checkOwner, formatAddress } from "./address.js";
import { failureOf, unanswered } from "./failure.js";

/** How long connecting may take. */
const connectLimitMs = 10_000;

/** What all RPCs under way have. */
type Cancellable = { cancel(): void } & NodeJS.EventEmitter;

/** A gRPC connection with the number of RPCs on it. */
interface Connection {
  readonly client: Client;
  users: number;
  retired: boolean; // takes no more RPCs
}

/**
 * A server that is connected to when that is first needed, and anew after a failure: left to itself, gRPC would rest for
 * a second or longer and answer in the meantime what was true before.
 */
export class Link {
  /** Where the server is. */
  readonly address: Address;
  readonly #server: string;
  readonly #options: ClientOptions;
  #current: Promise<Connection> | undefined;
  readonly #all = new Set<Connection>();
  readonly #calls = new Set<Cancellable>(); // under way
  #closed = false;

  /** `server` is what should answer there; `limit` is how many bytes one message may have. */
  constructor(address: Address, server: string, limit: number) {
    this.address = address;
    this.#server = server;
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

  /** Ends all connections, and with them the RPCs on them. */
  close(): void {
    this.#closed = true;
    // gRPC would let them go on.
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
    const definition = methodDefinition(method);
    const message = create(method.input, request);
    return this.use(signal, ({ client }) => {
      return new Promise((resolve, reject) => {
        const { path, requestSerialize, responseDeserialize } = definition;
        const call = client.makeUnaryRequest(path, requestSerialize, responseDeserialize, message, (error, response) => {
          signal?.removeEventListener("abort", cancel);
          if (error || !response) {
            reject(signal?.aborted ? abortFailure(signal) : error);
          } else {
            resolve(response);
          }
        });
        const cancel = () => call.cancel();
        signal?.addEventListener("abort", cancel, { once: true });
        this.#track(call);
      });
    });
  }

  /** Makes an RPC that streams its answer. Leaving the loop ends it. */
  async *stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    request: MessageInitShape<I>,
    signal?: AbortSignal,
  ): AsyncGenerator<MessageShape<O>> {
    const { path, requestSerialize, responseDeserialize } = methodDefinition(method);
    const connection = await this.acquire(signal);
    let failure: unknown;
    const call = connection.client.makeServerStreamRequest(
      path,
      requestSerialize,
      responseDeserialize,
      create(method.input, request),
    );
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

  /** Begins an RPC that streams both ways, on a connection that was acquired. */
  duplex<I extends DescMessage, O extends DescMessage>(
    connection: Connection,
    method: DescMethodBiDiStreaming<I, O>,
  ): ClientDuplexStream<MessageShape<I>, MessageShape<O>> {
    const definition: MethodDefinition<MessageShape<I>, MessageShape<O>> = methodDefinition(method);
    const { path, requestSerialize, responseDeserialize } = definition;
    return this.#track(connection.client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize));
  }

  #track<C extends Cancellable>(call: C): C {
    this.#calls.add(call);
    call.on("status", () => this.#calls.delete(call));
    return call;
  }

  /** Runs an RPC, and says what it failed with. */
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

  /** Returns a connection for one RPC, which ends with release. */
  async acquire(signal?: AbortSignal): Promise<Connection> {
    if (signal?.aborted) {
      throw abortFailure(signal);
    }
    const connecting = this.#connect();
    try {
      const connection = await connecting;
      connection.users++;
      return connection;
    } catch (error) {
      if (this.#current === connecting) {
        this.#current = undefined;
      }
      throw error;
    }
  }

  /** Ends an RPC that failed with an error, or did not. A connection on which nobody answers takes no more. */
  release(connection: Connection, error: unknown): void {
    connection.users--;
    if (unanswered(error)) {
      this.#retire(connection);
    }
    this.#closeIfDone(connection);
  }

  /** Returns what an RPC failed with. */
  failure(error: unknown): ToolhostError {
    if (this.#closed) {
      return new ToolhostError("cancelled", "the client is closed", { cause: error });
    }
    if (!unanswered(error)) {
      return failureOf(error);
    }
    return this.#noAnswer(failureOf(error).message, error);
  }

  #noAnswer(reason: string, cause: unknown): ToolhostError {
    return new ToolhostError("unavailable", `no ${this.#server} answers at ${formatAddress(this.address)}: ${reason}`, {
      cause,
    });
  }

  async #connect(): Promise<Connection> {
    if (this.#closed) {
      throw new ToolhostError("cancelled", "the client is closed");
    }
    const before = await this.#current?.catch(() => undefined);
    if (before && !before.retired) {
      if (before.client.getChannel().getConnectivityState(false) === connectivityState.READY) {
        return before;
      }
      this.#retire(before);
      this.#closeIfDone(before);
    }
    this.#current ??= this.#dial();
    return this.#current;
  }

  async #dial(): Promise<Connection> {
    const { path, tcp } = this.address;
    const host = tcp?.host ?? "";
    const target =
      path === undefined ? `${host.includes(":") ? `ipv6:[${host}]` : `ipv4:${host}`}:${tcp?.port}` : `unix:${path}`;
    let client: Client | undefined;
    try {
      await checkOwner(this.address);
      client = new Client(target, credentials.createInsecure(), this.#options);
      await ready(client.getChannel());
      const connection = { client, users: 0, retired: false };
      this.#all.add(connection);
      return connection;
    } catch (error) {
      client?.close();
      throw this.#noAnswer(await reasonFor(this.address, error), error);
    }
  }

  #retire(connection: Connection): void {
    connection.retired = true;
    this.#current = undefined;
  }

  #closeIfDone(connection: Connection): void {
    if (connection.retired && connection.users === 0 && this.#all.delete(connection)) {
      connection.client.close();
    }
  }
}

/** Waits until a channel is connected, or could not be. */
async function ready(channel: ReturnType<Client["getChannel"]>): Promise<void> {
  const deadline = Date.now() + connectLimitMs;
  for (;;) {
    const state = channel.getConnectivityState(true);
    if (state === connectivityState.READY) {
      return;
    }
    if (state === connectivityState.TRANSIENT_FAILURE || state === connectivityState.SHUTDOWN) {
      throw new Error("the connection could not be made");
    }
    await new Promise<void>((resolve, reject) => {
      channel.watchConnectivityState(state, deadline, (error) =>
        error ? reject(new Error("nobody answered in time")) : resolve(),
      );
    });
  }
}

const words: Readonly<Record<string, string>> = {
  ENOENT: "no such file or directory",
  ECONNREFUSED: "connection refused",
  EACCES: "permission denied",
};

/** Says why nobody answers, in the operating system's words where it was that which refused: gRPC does not tell. */
async function reasonFor({ path, tcp }: Address, error: unknown): Promise<string> {
  const refusal = await new Promise<NodeJS.ErrnoException>((resolve) => {
    const socket = path === undefined ? connect({ host: tcp?.host ?? "", port: tcp?.port ?? 0 }) : connect({ path });
    socket.on("error", resolve);
    socket.on("connect", () => {
      socket.destroy();
      resolve(error instanceof Error ? error : new Error(String(error)));
    });
  });
  return words[refusal.code ?? ""] ?? refusal.message;
}

/** Returns why a caller stopped waiting. */
export function abortFailure(signal: AbortSignal): ToolhostError {
  const { reason } = signal;
  if (reason instanceof ToolhostError) {
    return reason;
  }
  const timeout = reason instanceof Error && reason.name === "TimeoutError";
  const message = reason instanceof Error ? reason.message : String(reason);
  return new ToolhostError(timeout ? "timeout" : "cancelled", message, { cause: reason });
}
