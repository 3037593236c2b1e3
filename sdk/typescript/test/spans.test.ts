// The author's own spans: which toolhost receives, and which it does not.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { EventEmitter } from "node:events";
import { join } from "node:path";
import { test } from "node:test";
import { create, fromBinary } from "@bufbuild/protobuf";
import { context, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { type Tool, tool } from "@toolhost/sdk";
import { plugin as contract } from "@toolhost/sdk/proto";
import { CallStream } from "../dist/plugin/stream.js";

const { ConnectRequestSchema, ConnectResponseSchema } = contract;
type Response = ReturnType<typeof fromBinary<typeof ConnectResponseSchema>>;
type Received = Extract<Response["frame"], { case: "spans" }>["value"]["spans"][number];

const traceId = "0af7651916cd43dd8448eb211c80319c";
const callId = "b7ad6b7169203331";
const spec = { name: "t", description: "Does what a test needs." };
const tracer = trace.getTracer("author"); // before the SDK sets its provider
const maxSpans = 128;

/** A plugin's stream, and what came out of it. */
class Wire {
  readonly spans: Received[] = [];
  dropped = 0;
  bytes = 0;
  readonly #stream: CallStream;
  #heard = () => {};

  constructor(...tools: Tool[]) {
    this.#stream = new CallStream({ name: "p", tools }, async (bytes) => {
      const { frame } = fromBinary(ConnectResponseSchema, bytes.slice());
      if (frame.case === "spans") {
        this.spans.push(...frame.value.spans);
        this.dropped += frame.value.dropped;
        this.bytes += bytes.length;
      }
      this.ended ||= frame.case === "end";
      this.#heard();
    });
  }

  ended = false;

  /** Starts a call. */
  start(spanBytes: number, credit = 1 << 30): void {
    const traceparent = `00-${traceId}-${callId}-01`;
    const value = { tool: "t", complete: true, credit, context: { traceparent, spanBytes } };
    this.#stream.take(create(ConnectRequestSchema, { call: 1, frame: { case: "start", value } }));
  }

  /** Makes a call, and returns its spans by name. */
  async call(spanBytes = 128 << 10): Promise<Map<string, Received>> {
    this.start(spanBytes);
    await this.until(() => this.ended);
    return new Map(this.spans.map((span) => [span.name, span]));
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      await new Promise<void>((resolve) => {
        this.#heard = resolve;
      });
    }
  }

  close(): Promise<void> {
    return this.#stream.close();
  }
}

const hex = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString("hex");
const attributesOf = ({ attributes }: { attributes: Received["attributes"] }) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.value]));

test("spans nest, and have what the tool set", async () => {
  const wire = new Wire(
    tool(spec, async () => {
      await tracer.startActiveSpan("outer", { kind: SpanKind.CLIENT, attributes: { a: "1" } }, async (outer) => {
        await new Promise((go) => setImmediate(go));
        const inner = trace.getTracer("library").startSpan("inner", { startTime: [1_700_000_000, 7] });
        inner.setAttributes({ n: 1, f: 1.5, b: true, list: ["x", 1], none: undefined, big: 1n << 70n });
        inner.setAttribute("n", 2);
        inner.addEvent("found", { rows: 3 }, new Date(5));
        inner.recordException(new TypeError("no table"));
        inner.setStatus({ code: SpanStatusCode.ERROR, message: "no table" });
        inner.updateName("renamed \ud800");
        inner.end();
        inner.setAttribute("late", true);
        outer.setStatus({ code: SpanStatusCode.OK }).setStatus({ code: SpanStatusCode.ERROR });
        outer.end();
      });
      tracer.startSpan("root", { root: true }).end();
      tracer.startSpan("elsewhere", {}, ROOT_CONTEXT).end();
      const emitter = context.bind(context.active(), new EventEmitter());
      emitter.on("e", () => tracer.startSpan("in an event").end());
      context.with(ROOT_CONTEXT, () => emitter.emit("e"));
      context.with(
        ROOT_CONTEXT,
        context.bind(context.active(), () => tracer.startSpan("bound").end()),
      );
      return "done";
    }),
  );
  const got = await wire.call();
  assert.deepEqual([...got.keys()].sort(), ["bound", "in an event", "outer", "renamed \ufffd", "root"]);
  const [outer, inner] = [got.get("outer") as Received, got.get("renamed \ufffd") as Received];
  assert.equal(hex(outer.parentSpanId), callId);
  assert.deepEqual(inner.parentSpanId, outer.spanId);
  assert.equal(hex(got.get("root")?.parentSpanId), "");
  assert.equal(hex(got.get("bound")?.parentSpanId), callId);
  assert.equal(outer.kind, contract.SpanKind.CLIENT);
  assert.equal(outer.status, contract.SpanStatus.OK);
  assert.ok(outer.endTimeUnixNano >= outer.startTimeUnixNano && outer.startTimeUnixNano > 1_700_000_000_000_000_000n);
  assert.deepEqual(attributesOf(outer), { a: "1" });
  assert.equal(inner.startTimeUnixNano, 1_700_000_000_000_000_007n);
  assert.equal(inner.kind, contract.SpanKind.INTERNAL);
  assert.deepEqual([inner.status, inner.statusMessage], [contract.SpanStatus.ERROR, "no table"]);
  assert.deepEqual(attributesOf(inner), { n: 2n, f: 1.5, b: true, list: '["x",1]', big: String(1n << 70n) });
  const [found, exception] = inner.events;
  assert.deepEqual([found?.name, found?.timeUnixNano, found && attributesOf(found)], ["found", 5_000_000n, { rows: 3n }]);
  assert.equal(exception && attributesOf(exception)["exception.message"], "no table");
  assert.equal(wire.dropped, 0);
});

/** A tool that starts many spans, each below the one before, and ends all but the last recorded one. */
function many(count: number): Tool {
  return tool(spec, () => {
    const spans: Span[] = [];
    let below = context.active();
    for (let i = 0; i < count; i++) {
      const span = tracer.startSpan("n".repeat(1000), {}, below);
      assert.equal(span.isRecording(), i < maxSpans);
      for (let j = 0; j < 100; j++) {
        span.setAttribute(`k${j}`, "ä".repeat(5000)).addEvent("e");
      }
      spans.push(span);
      below = trace.setSpan(below, span);
    }
    spans.forEach((span, i) => {
      i === maxSpans - 1 || span.end();
    });
    return "done";
  });
}

test("the spans of a call are bounded in bytes", async () => {
  const room = 128 << 10;
  const wire = new Wire(many(500));
  await wire.call(room);
  assert.ok(wire.bytes > 0 && wire.bytes <= room, `${wire.bytes} bytes`);
  assert.equal(wire.spans.length + wire.dropped, 500);
  for (const { name, attributes, events } of wire.spans) {
    assert.deepEqual([name.length, attributes.length, events.length], [128, 32, 32]);
    assert.equal(attributes[0]?.value.value, "ä".repeat(512));
  }
});

test("the first spans of a call are recorded, with their parents", async () => {
  const wire = new Wire(many(maxSpans + 10));
  await wire.call(1 << 30);
  assert.deepEqual([wire.spans.length, wire.dropped], [maxSpans - 1, 11]); // one has not ended
  const known = new Set([callId, ...wire.spans.map((span) => hex(span.spanId))]);
  assert.ok(wire.spans.every((span) => known.has(hex(span.parentSpanId))));
});

test("a span is sent before the call ends", async () => {
  const wire = new Wire(
    tool(spec, async (_, call) => {
      tracer.startSpan("early").end();
      await new Promise((go) => call.signal.addEventListener("abort", go));
    }),
  );
  wire.start(1 << 10);
  await wire.until(() => wire.spans.length === 1);
  assert.equal(wire.ended, false);
  await wire.close();
});

test("a tool does not wait for a toolhost that grants no credit", async () => {
  let worked = () => {};
  const working = new Promise<void>((resolve) => {
    worked = resolve;
  });
  const wire = new Wire(
    tool(spec, () => {
      tracer.startSpan("s").end();
      worked();
    }),
  );
  wire.start(1 << 10, 0);
  await working;
  await wire.close();
  assert.equal(wire.spans.length, 0);
});

test("a call that is not recorded sends nothing", async () => {
  let recording: boolean | undefined;
  const wire = new Wire(
    tool(spec, () => {
      recording = tracer.startSpan("s").isRecording();
    }),
  );
  await wire.call(0);
  assert.deepEqual([recording, wire.spans.length, wire.dropped], [false, 0, 0]);
});

test("the provider of the author stays", () => {
  const script = `
    import { trace } from "@opentelemetry/api";
    const own = { getTracer: () => ({}) };
    trace.setGlobalTracerProvider(own);
    const { install } = await import(${JSON.stringify(join(import.meta.dirname, "../dist/plugin/tracing.js"))});
    install(await import("@opentelemetry/api"));
    console.log(trace.getTracerProvider().getDelegate() === own);`;
  const args = ["--input-type=module", "-e", script];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: import.meta.dirname, encoding: "utf8" });
  assert.equal(stdout, "true\n", stderr);
});
