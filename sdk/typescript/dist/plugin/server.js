/**
 * The gRPC server of a plugin: its own service, the health check, and the shutdown of go-plugin.
 */
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { Server, ServerCredentials, status, } from "@grpc/grpc-js";
import { ToolPluginService, } from "../gen/toolhost/plugin/v1/plugin_pb.js";
import { asBuffer, methodDefinition } from "../wire/rpc.js";
import { describePlugin } from "./dynamic.js";
import { CallStream } from "./stream.js";
/** The name of the socket. The protocol allows 16 bytes. */
const socketName = "s";
/** A plugin's gRPC server. */
export class PluginServer {
    #plugin;
    #events;
    #server = new Server();
    #streams = new Set();
    constructor(plugin, events) {
        this.#plugin = plugin;
        this.#events = events;
        const { connect, describe } = ToolPluginService.method;
        // The encoded size of a frame is its cost, so frames are encoded before gRPC receives them.
        const frames = {
            ...methodDefinition(connect),
            responseSerialize: asBuffer,
        };
        this.#add(methodDefinition(describe), this.#describe);
        this.#add(frames, this.#connect);
        this.#add(plain("/grpc.health.v1.Health/Check"), checkHealth);
        this.#add(plain("/plugin.GRPCController/Shutdown"), this.#shutdown);
    }
    #add(definition, handler) {
        const { path } = definition;
        this.#server.addService({ [path]: definition }, { [path]: handler });
    }
    /** Listens in a folder, and returns the path of the socket. */
    async listen(folder) {
        // gRPC does not report the end of a connection, so the plugin listens itself.
        const injector = this.#server.createConnectionInjector(ServerCredentials.createInsecure());
        const listener = createServer((connection) => {
            this.#events.connected();
            connection.on("close", () => this.#events.disconnected());
            connection.on("error", () => { }); // "close" follows every error
            injector.injectConnection(connection);
        });
        const path = join(folder, socketName);
        listener.listen(path);
        await once(listener, "listening");
        return path;
    }
    /** Cancels all calls and waits for them. */
    async close() {
        await Promise.all([...this.#streams].map((stream) => stream.close()));
    }
    #describe = (call, answer) => {
        describePlugin(this.#plugin, call.request).then((description) => answer(null, description), (error) => answer({ code: status.INTERNAL, details: String(error) }));
    };
    #connect = (duplex) => {
        const stream = new CallStream(this.#plugin, writer(duplex));
        this.#streams.add(stream);
        duplex.on("data", (request) => stream.take(request));
        duplex.on("error", () => { }); // "close" follows every error
        for (const event of ["end", "cancelled", "close"]) {
            duplex.on(event, () => this.#events.over());
        }
    };
    #shutdown = (_, answer) => {
        answer(null, Buffer.alloc(0));
        // gRPC writes the answer first.
        setImmediate(() => this.#events.over());
    };
}
/**
 * Returns a function that passes encoded frames to gRPC, and waits while the buffer of gRPC is
 * full.
 */
function writer(duplex) {
    let drained;
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
function plain(path) {
    const same = (bytes) => bytes;
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
const checkHealth = (call, answer) => {
    let service = "";
    for (const reader = new BinaryReader(call.request); reader.pos < reader.len;) {
        const [field, wire] = reader.tag();
        if (field === 1) {
            service = reader.string();
        }
        else {
            reader.skip(wire);
        }
    }
    if (service === "" || service === "plugin") {
        answer(null, serving);
    }
    else {
        answer({ code: status.NOT_FOUND, details: "unknown service" });
    }
};
