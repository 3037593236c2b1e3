/**
 * The gRPC server of a plugin: its own service, the health check, and the shutdown of go-plugin.
 */
import { once } from "node:events";
import { createServer, type Server as NetServer, type Socket } from "node:net";
import { join } from "node:path";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import {
  type handleBidiStreamingCall,
  type handleUnaryCall,
  type MethodDefinition,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  status,
  type UntypedHandleCall,
} from "@grpc/grpc-js";
import {
  type ConnectRequest,
  type DescribeRequest,
  type DescribeResponse,
  ToolPluginService,
} from "../gen/toolhost/plugin/v1/plugin_pb.js";
import { asBuffer, methodDefinition } from "../wire/rpc.js";
import { describePlugin } from "./dynamic.js";
import type { Plugin } from "./plugin.js";
import { CallStream } from "./stream.js";

/** The name of the socket. The protocol allows 16 bytes. */
const socketName = "s";

/** The events that `serve` handles. */
export interface Events {
  /** toolhost has connected. */
  connected(): void;
  /** A connection has ended. */
  disconnected(): void;
  /** toolhost requested the end of the plugin, or its stream has ended. */
  over(): void;
}

/** A plugin's gRPC server. */
export class PluginServer {
  readonly #plugin: Plugin;
  readonly #events: Events;
  readonly #server = new Server();
  readonly #streams = new Set<CallStream>();

  constructor(plugin: Plugin, events: Events) {
    this.#plugin = plugin;
    this.#events = events;
    const { connect, describe } = ToolPluginService.method;
    // The encoded size of a frame is its cost, so frames are encoded before gRPC receives them.
    const frames: MethodDefinition<ConnectRequest, Uint8Array> = {
      ...methodDefinition(connect),
      responseSerialize: asBuffer,
    } as never;
    this.#add(methodDefinition(describe), this.#describe);
    this.#add(frames, this.#connect);
    this.#add(plain("/grpc.health.v1.Health/Check"), checkHealth);
    this.#add(plain("/plugin.GRPCController/Shutdown"), this.#shutdown);
  }

  #add<I, O>(definition: MethodDefinition<I, O>, handler: UntypedHandleCall): void {
    const { path } = definition;
    this.#server.addService({ [path]: definition }, { [path]: handler });
  }

  /** Listens in a folder, and returns the path of the socket. */
  async listen(folder: string): Promise<string> {
    // gRPC does not report the end of a connection, so the plugin listens itself.
    const injector = this.#server.createConnectionInjector(ServerCredentials.createInsecure());
    const listener: NetServer = createServer((connection: Socket) => {
      this.#events.connected();
      connection.on("close", () => this.#events.disconnected());
      connection.on("error", () => {}); // "close" follows every error
      injector.injectConnection(connection);
    });
    const path = join(folder, socketName);
    listener.listen(path);
    await once(listener, "listening");
    return path;
  }

  /** Cancels all calls and waits for them. */
  async close(): Promise<void> {
    await Promise.all([...this.#streams].map((stream) => stream.close()));
  }

  #describe: handleUnaryCall<DescribeRequest, DescribeResponse> = (call, answer) => {
    describePlugin(this.#plugin, call.request).then(
      (description) => answer(null, description),
      (error: unknown) => answer({ code: status.INTERNAL, details: String(error) }),
    );
  };

  #connect: handleBidiStreamingCall<ConnectRequest, Uint8Array> = (duplex) => {
    const stream = new CallStream(this.#plugin, writer(duplex));
    this.#streams.add(stream);
    duplex.on("data", (request: ConnectRequest) => stream.take(request));
    duplex.on("error", () => {}); // "close" follows every error
    for (const event of ["end", "cancelled", "close"]) {
      duplex.on(event, () => this.#events.over());
    }
  };

  #shutdown: handleUnaryCall<Buffer, Buffer> = (_, answer) => {
    answer(null, Buffer.alloc(0));
    // gRPC writes the answer first.
    setImmediate(() => this.#events.over());
  };
}

/**
 * Returns a function that passes encoded frames to gRPC, and waits while the buffer of gRPC is
 * full.
 */
function writer(duplex: ServerDuplexStream<ConnectRequest, Uint8Array>): (bytes: Uint8Array) => Promise<void> {
  let drained: Promise<void> | undefined;
  return async (bytes) => {
    if (duplex.destroyed || duplex.cancelled) {
      return; // the stream has ended
    }
    if (duplex.write(bytes)) {
      return;
    }
    drained ??= new Promise((resolve) => {
      const over = () => {
        drained = undefined;
        for (const event of ["drain", "close", "cancelled"]) {
          duplex.off(event, over);
        }
        resolve();
      };
      for (const event of ["drain", "close", "cancelled"]) {
        duplex.on(event, over);
      }
    });
    await drained;
  };
}

/** Returns a unary method whose messages are bytes. */
function plain(path: string): MethodDefinition<Buffer, Buffer> {
  const same = (bytes: Buffer) => bytes;
  return {
    path,
    requestStream: false,
    responseStream: false,
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  };
}

/** An encoded grpc.health.v1.HealthCheckResponse with the status SERVING. */
const serving = Buffer.from([8, 1]);

/** Answers for the whole server and for the service `plugin`, which go-plugin requests. */
const checkHealth: handleUnaryCall<Buffer, Buffer> = (call, answer) => {
  let service = "";
  for (const reader = new BinaryReader(call.request); reader.pos < reader.len; ) {
    const [field, wire] = reader.tag();
    if (field === 1) {
      service = reader.string();
    } else {
      reader.skip(wire);
    }
  }
  if (service === "" || service === "plugin") {
    answer(null, serving);
  } else {
    answer({ code: status.NOT_FOUND, details: "unknown service" });
  }
};
