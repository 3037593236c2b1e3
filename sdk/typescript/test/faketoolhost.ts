// A toolhost of which a test says what it says.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { Server, ServerCredentials, type ServerDuplexStream } from "@grpc/grpc-js";
import { toolhost as contract } from "@toolhost/sdk/proto";
import { acceptsBatches, announceBatches } from "../dist/client/batch.js";
import { methodDefinition } from "../dist/wire/rpc.js";
import { eventually } from "./harness.js";

const { CallEventSchema, ConnectResponseSchema, ToolService } = contract;
type Request = contract.ConnectRequest;
type Stream = ServerDuplexStream<Request, contract.ConnectResponse>;

/** An event of a call. */
export type Event = MessageInitShape<typeof CallEventSchema>;

/** A toolhost that only listens: what it says, the tests say. */
export class FakeToolhost {
  readonly streams: Stream[] = [];
  readonly messages: Request[] = []; // as they came
  readonly requests: Request[] = []; // the frames in them
  readonly marks: bigint[] = []; // of what it wrote
  more = false; // it reads messages of more than one frame
  refusal: Partial<Record<"code" | "details", unknown>> | undefined;
  readonly #server = new Server();
  readonly address: string;

  constructor(home: string) {
    this.address = `unix://${join(home, "t.sock")}`;
    const definition = methodDefinition(ToolService.method.connect);
    this.#server.addService(
      { [definition.path]: definition },
      {
        [definition.path]: (stream: Stream) => {
          if (this.refusal) {
            stream.emit("error", this.refusal);
            return;
          }
          this.streams.push(stream);
          if (this.more) {
            assert(acceptsBatches(stream.metadata));
            stream.sendMetadata(announceBatches());
          }
          stream.on("data", (message: Request) => {
            this.messages.push(message);
            this.requests.push(message, ...message.batch);
          });
          stream.on("end", () => stream.end());
        },
      },
    );
  }

  async listen(): Promise<void> {
    const injector = this.#server.createConnectionInjector(ServerCredentials.createInsecure());
    const listener = createServer((connection) => injector.injectConnection(connection));
    listener.listen(this.address.slice("unix://".length)).unref();
    await once(listener, "listening");
  }

  /** Sends a message on the last stream, with a mark that needs all its bits. */
  write(message: MessageInitShape<typeof ConnectResponseSchema>): void {
    const mark = randomBytes(8).readBigUInt64LE() | (1n << 63n) | 1n;
    this.marks.push(mark);
    this.streams.at(-1)?.write(create(ConnectResponseSchema, { ...message, ackToken: mark }));
  }

  /** Says something of a call on the last stream, and returns what it costs. */
  say(call: number, event: Event["event"]): number {
    const sent = create(CallEventSchema, { seq: 1n, ...(event && { event }) });
    this.write({ call, event: sent });
    return toBinary(CallEventSchema, sent).length;
  }

  /** Ends a call with a text. */
  answer(call: number, text: string): void {
    const value = {
      callId: `c-${call}`,
      outcome: { case: "result", value: { content: [{ block: { case: "text", value: text } }] } },
    };
    this.say(call, { case: "ended", value } as Event["event"]);
  }

  /** The frames of a kind, once there are so many. */
  async frames(kind: Request["frame"]["case"], count: number): Promise<Request[]> {
    const found = () => this.requests.filter(({ frame }) => frame.case === kind);
    await eventually(`${count} frames ${kind}`, () => found().length >= count);
    assert.equal(found().length, count, kind);
    return found();
  }

  close(): void {
    this.#server.forceShutdown();
  }
}
