// The contract's bookkeeping: what a call may send, and when.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { type Tool, ToolhostError, tool } from "@toolhost/sdk";
import { plugin as contract } from "@toolhost/sdk/proto";
import { CallStream } from "../dist/plugin/stream.js";

const { ConnectRequestSchema, ConnectResponseSchema } = contract;
type Request = NonNullable<MessageInitShape<typeof ConnectRequestSchema>["frame"]>;
type Response = ReturnType<typeof fromBinary<typeof ConnectResponseSchema>>;

const spec = { name: "t", description: "Does what a test needs." };

/** A plugin's stream, and what came out of it. */
class Wire {
  readonly frames: Response[] = [];
  readonly sizes: number[] = [];
  readonly #stream: CallStream;

  constructor(...tools: Tool[]) {
    this.#stream = new CallStream({ name: "p", tools }, async (bytes) => {
      this.sizes.push(bytes.length);
      this.frames.push(fromBinary(ConnectResponseSchema, bytes.slice()));
    });
  }

  send(call: number, frame: Request): void {
    this.#stream.take(create(ConnectRequestSchema, { call, frame }));
  }

  start(call: number, credit: number, more: { tool?: string; complete?: boolean } = {}): void {
    this.send(call, { case: "start", value: { callId: `c-${call}`, tool: "t", complete: true, credit, ...more } });
  }

  kinds(): (string | undefined)[] {
    return this.frames.map(({ frame }) => frame.case);
  }

  close(): Promise<void> {
    return this.#stream.close();
  }
}

/** Lets all that can go on go on. */
async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) {
    await new Promise((go) => setImmediate(go));
  }
}

test("a frame is sent only while the credit is positive, and costs its whole size", async () => {
  const wire = new Wire(
    tool(spec, async (_, call) => {
      for (const message of ["a", "b", "c"]) {
        call.status({ message });
      }
      return "done";
    }),
  );
  wire.start(1, 1);
  await settle();
  assert.deepEqual(wire.kinds(), ["status"], "one byte of credit is enough for one frame");
  const debt = (wire.sizes[0] ?? 0) - 1;
  wire.send(1, { case: "credit", value: { bytes: debt } });
  await settle();
  assert.equal(wire.frames.length, 1, "the credit is 0");
  wire.send(1, { case: "credit", value: { bytes: 1 } });
  await settle();
  assert.equal(wire.frames.length, 2);
  wire.send(1, { case: "credit", value: { bytes: 1 << 20 } });
  await settle();
  assert.deepEqual(wire.kinds(), ["status", "status", "status", "status", "end"]);
});

test("a large result waits for credit, ends when it is cancelled, and is in pieces", async () => {
  const wire = new Wire(tool(spec, () => "ä".repeat(100_000)));
  wire.start(1, 1);
  wire.start(2, 1 << 20);
  await settle();
  const kindsOf = (call: number) => wire.frames.filter((f) => f.call === call).map((f) => f.frame.case);
  assert.deepEqual(kindsOf(1), ["chunk"]);
  assert.deepEqual(kindsOf(2), ["chunk", "chunk", "chunk", "chunk", "end"]);
  assert(wire.frames.every(({ frame }) => frame.case !== "chunk" || frame.value.data.length <= 64 << 10));
  wire.send(1, { case: "cancel", value: { reason: "enough" } });
  await settle();
  const { frame } = wire.frames.at(-1) as Response;
  assert(frame.case === "end" && frame.value.outcome.case === "error");
  assert.equal(frame.value.outcome.value.message, "the call was cancelled: enough");
});

test("what is said without waiting is bounded, and the end comes all the same", async () => {
  const stderr = process.stderr.write;
  let lines = 0;
  process.stderr.write = (() => {
    lines++;
    return true;
  }) as typeof stderr;
  const wire = new Wire(
    tool(spec, (_, call) => {
      for (let i = 0; i < 5_000; i++) {
        call.log.info("x".repeat(1000));
        void call.progress(i, 5_000);
      }
      return "done";
    }),
  );
  try {
    wire.start(1, 0);
    await settle();
    assert.deepEqual(wire.kinds(), []);
    wire.send(1, { case: "credit", value: { bytes: 64 << 20 } });
    await settle();
  } finally {
    process.stderr.write = stderr;
  }
  const kept = wire.kinds().filter((kind) => kind === "log").length;
  assert.equal(kept + lines, 5_000, "each line is in one place");
  assert(kept > 500 && kept < 1_500, `${kept} lines were kept`);
  assert.equal(wire.kinds().at(-1), "end");
});

test("a call ends exactly once, and what comes later is ignored", async () => {
  const wire = new Wire(tool(spec, () => "done"));
  wire.send(7, { case: "credit", value: { bytes: 1 } });
  wire.start(1, 1000, { complete: false });
  wire.send(1, { case: "cancel", value: {} });
  wire.send(1, { case: "complete", value: {} });
  await settle();
  wire.send(1, { case: "cancel", value: {} });
  wire.send(1, { case: "append", value: { text: Buffer.from("{}") } });
  wire.start(2, 1000, { tool: "other" });
  await settle();
  const ends = wire.frames.map(({ call, frame }) => [call, frame.case === "end" && frame.value.outcome.value]);
  assert.deepEqual(
    ends.map(([call, outcome]) => [call, typeof outcome === "object" && "message" in outcome && outcome.message]),
    [
      [1, "the call was cancelled"],
      [2, 'the plugin "p" has no tool "other"'],
    ],
  );
});

test("when the stream ends, calls are told, and waited for", async () => {
  let ended = false;
  const wire = new Wire(
    tool(spec, async (_, call) => {
      await new Promise((resolve) => call.signal.addEventListener("abort", resolve));
      await settle();
      ended = true;
    }),
  );
  wire.start(1, 1000);
  await settle();
  await wire.close();
  assert(ended);
});

test("a tool that answers with too much besides content", async () => {
  const wire = new Wire(
    tool(spec, async () => (await import("@toolhost/sdk")).result({ metadata: { big: "x".repeat(2 << 20) } })),
  );
  wire.start(1, 1000);
  await settle();
  const { frame } = wire.frames[0] as Response;
  assert(frame.case === "end" && frame.value.outcome.case === "error");
  assert.match(frame.value.outcome.value.message, /^the effects, metadata and artifacts of the tool's result have \d+ bytes/);
});

test("a failure of a kind that there is not still ends its call", async () => {
  const wire = new Wire(
    tool(spec, () => {
      throw new ToolhostError("broken" as "internal", "the words");
    }),
  );
  wire.start(1, 1000);
  await settle();
  const { frame } = wire.frames[0] as Response;
  assert(frame.case === "end" && frame.value.outcome.case === "error");
  assert.match(frame.value.outcome.value.message, /^the words \("broken" is none of invalid_argument, /);
});
