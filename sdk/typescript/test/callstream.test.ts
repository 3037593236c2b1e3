// The caller's half of a Connect stream, against a toolhost that does what the test says.
import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { status } from "@grpc/grpc-js";
import { type CallEvent, type Execution, Toolhost, ToolhostError } from "@toolhost/sdk/client";
import { toolhost as contract } from "@toolhost/sdk/proto";
import { type Event, FakeToolhost } from "./faketoolhost.js";
import { eventually, fixture, folder, Running } from "./harness.js";

const { CallEventSchema, ConnectResponseSchema } = contract;

let home: string;
let fake: FakeToolhost;
let toolhost: Toolhost;

before(async () => {
  home = await folder();
});

after(async () => {
  await rm(home, { recursive: true });
});

/** A test with a fake of its own. */
function withFake(name: string, body: () => Promise<void>): void {
  test(name, async () => {
    fake = new FakeToolhost(home);
    await fake.listen();
    toolhost = new Toolhost({ address: fake.address });
    try {
      await body();
    } finally {
      toolhost.close();
      fake.close();
      await rm(join(home, "t.sock"), { force: true });
    }
  });
}

async function failure(work: Promise<unknown>): Promise<ToolhostError> {
  const error = await work.then(
    () => assert.fail("it did not fail"),
    (thrown: unknown) => thrown,
  );
  assert(error instanceof ToolhostError, String(error));
  return error;
}

async function readAll(execution: Execution): Promise<CallEvent[]> {
  const events: CallEvent[] = [];
  for await (const event of execution) {
    events.push(event);
  }
  return events;
}

withFake("all calls share one stream, and are answered in any order", async () => {
  const calls = Array.from({ length: 20 }, (_, i) => toolhost.call("t", { i }));
  const starts = await fake.frames("start", 20);
  assert.equal(new Set(starts.map(({ call }) => call)).size, 20);
  for (const { call } of starts.toReversed()) {
    fake.answer(call, `answer ${call}`);
  }
  const texts = (await Promise.all(calls)).map(({ result }) => result.text);
  assert.deepEqual(
    texts,
    starts.map(({ call }) => `answer ${call}`),
  );
  assert.equal(fake.streams.length, 1);
});

withFake("the ledger, the time of the first sending and the agent arrive, and are absent by default", async () => {
  const firstSent = new Date("2026-01-31T08:00:00.005Z");
  const calls = [
    toolhost.call("t", {}, { callId: "c1", ledgerId: "0a1b", firstSent, agent: "reviewer", run: "r-1" }),
    toolhost.call("t", {}, { callId: "c2" }),
  ];
  const starts = await fake.frames("start", 2);
  for (const { call } of starts) {
    fake.answer(call, "x");
  }
  await Promise.all(calls);
  const [given, unset] = starts.map(({ frame }) => (frame.case === "start" ? frame.value.options : undefined));
  assert.equal(given?.ledgerId, "0a1b");
  assert.deepEqual(given?.firstSentTime && timestampDate(given.firstSentTime), firstSent);
  assert.deepEqual([given?.agent, given?.run], ["reviewer", "r-1"]);
  assert.equal(unset?.ledgerId, "");
  assert.equal(unset?.agent, "");
  assert.equal(unset?.firstSentTime, undefined);
  const invalid = toolhost.call("t", {}, { firstSent: new Date(Number.NaN) });
  assert.equal((await failure(invalid)).kind, "invalid_argument");
});

withFake("the mark of the last message that was read comes back, and none is asked for", async () => {
  for (let i = 1; i <= 3; i++) {
    const call = toolhost.call("t");
    const starts = await fake.frames("start", i);
    fake.answer(starts.at(-1)?.call ?? 0, "x");
    await call;
  }
  const acks = fake.messages.map(({ ack, ackToken }) => [ack, ackToken]);
  assert.deepEqual(
    acks,
    [0n, ...fake.marks.slice(0, 2)].map((ack) => [ack, 0n]),
  );
});

withFake("more calls at once than toolhost takes on one stream", async () => {
  const calls = Promise.allSettled(Array.from({ length: 4_097 }, () => toolhost.call("t")));
  const starts = await fake.frames("start", 4_097);
  assert.equal(fake.streams.length, 2);
  const numbers = starts.map(({ call }) => call).toSorted((a, b) => a - b);
  assert.deepEqual(numbers, [1, ...Array.from({ length: 4_096 }, (_, i) => i + 1)], "each stream has numbers of its own");
  toolhost.close();
  assert((await calls).every(({ status }) => status === "rejected"));
});

withFake("what is not read is not paid for, and what is read is, to the byte", async () => {
  const execution = toolhost.execute("t", {});
  const [start] = await fake.frames("start", 1);
  const number = start?.call ?? 0;
  let cost = 0;
  for (let i = 0; i < 4; i++) {
    cost += fake.say(number, { case: "log", value: { message: "x".repeat(40 << 10) } });
  }
  const other = toolhost.call("t");
  const [, second] = await fake.frames("start", 2);
  fake.answer(second?.call ?? 0, "other");
  await other;
  assert.equal(fake.requests.filter(({ frame }) => frame.case === "credit").length, 0, "nobody has read it");
  const events = execution[Symbol.asyncIterator]();
  for (let i = 0; i < 4; i++) {
    await events.next();
  }
  const [credit] = await fake.frames("credit", 1);
  assert(credit?.frame.case === "credit" && credit.call === number);
  assert.equal(credit.frame.value.bytes, cost);
  fake.answer(number, "x");
  await events.next();
});

withFake("frames travel together where that is read", async () => {
  fake.more = true;
  const first = toolhost.call("t");
  const [opening] = await fake.frames("start", 1);
  fake.answer(opening?.call ?? 0, "first");
  await first; // and the headers have come
  const calls = Array.from({ length: 40 }, (_, i) => toolhost.call("t", { i, text: "x".repeat(2_000) }));
  const starts = (await fake.frames("start", 41)).slice(1);
  const together = fake.messages.slice(1);
  assert.equal(together.length, 3, "of 32 KiB at most");
  const log: Event["event"] = { case: "log", value: { message: "x".repeat(50_000) } };
  const callEvent = create(CallEventSchema, { seq: 1n, event: log });
  const frame = { call: starts[0]?.call ?? 0, event: callEvent };
  fake.write({ ...frame, batch: [frame, frame] });
  for (const { call } of starts) {
    fake.answer(call, `answer ${call}`);
  }
  const outcomes = await Promise.all(calls);
  assert.deepEqual(
    outcomes.map(({ result }) => result.text),
    starts.map(({ call }) => `answer ${call}`),
  );
  assert(together.every(({ ack, ackToken }) => ack === fake.marks[0] && ackToken === 0n));
  const inside = together.flatMap(({ batch }) => batch);
  assert(inside.every(({ batch, ackToken, ack }) => batch.length === 0 && ackToken === 0n && ack === 0n));
  const last = toolhost.execute("t", {});
  const number = (await fake.frames("start", 42)).at(-1)?.call ?? 0;
  const event = create(ConnectResponseSchema, { call: number, event: callEvent });
  fake.write({ ...event, batch: [event, event] });
  fake.answer(number, "x");
  assert.equal((await readAll(last)).length, 4);
});

withFake("events that come together cost what they cost alone", async () => {
  const execution = toolhost.execute("t", {});
  const number = (await fake.frames("start", 1))[0]?.call ?? 0;
  const callEvent = create(CallEventSchema, { seq: 1n, event: { case: "log", value: { message: "x".repeat(50_000) } } });
  const frame = create(ConnectResponseSchema, { call: number, event: callEvent });
  fake.write({ ...frame, batch: [frame, frame] });
  const events = execution[Symbol.asyncIterator]();
  for (let i = 0; i < 3; i++) {
    await events.next();
  }
  const [credit] = await fake.frames("credit", 1);
  assert(credit?.frame.case === "credit");
  assert.equal(credit.frame.value.bytes, 3 * toBinary(CallEventSchema, callEvent).length);
  assert.equal(credit.ack, fake.marks[0], "that of the message of all three");
});

withFake("a call whose reader leaves is cancelled, and gets to its end", async () => {
  const execution = toolhost.execute("t", {});
  const [start] = await fake.frames("start", 1);
  const number = start?.call ?? 0;
  fake.say(number, { case: "log", value: { message: "first" } });
  for await (const _ of execution) {
    break;
  }
  const [cancel] = await fake.frames("cancel", 1);
  assert(cancel?.frame.case === "cancel" && cancel.call === number);
  const [all] = await fake.frames("credit", 1);
  assert(all?.frame.case === "credit" && all.frame.value.bytes === 256 << 10);
  const cost = fake.say(number, { case: "log", value: { message: "late" } });
  const [, more] = await fake.frames("credit", 2);
  assert(more?.frame.case === "credit" && more.frame.value.bytes === cost);
  assert.match((await failure(execution.outcome())).message, /ended before the call did; read all events/);
});

withFake("a call with an id goes on without its reader", async () => {
  const execution = toolhost.execute("t", {}, { callId: "id" });
  const [start] = await fake.frames("start", 1);
  fake.say(start?.call ?? 0, { case: "log", value: { message: "first" } });
  for await (const _ of execution) {
    break;
  }
  await fake.frames("credit", 1);
  await fake.frames("cancel", 0);
});

withFake("the outcome can be waited for beside the loop over the events", async () => {
  const execution = toolhost.execute("t", {});
  const [start] = await fake.frames("start", 1);
  const events = readAll(execution);
  const outcome = execution.outcome();
  await assert.rejects(readAll(execution), {
    kind: "invalid_argument",
    message: /another loop reads the events of the call; read them in one/,
  });
  fake.answer(start?.call ?? 0, "done");
  assert.equal((await outcome).result.text, "done");
  assert.deepEqual(
    (await events).map(({ type }) => type),
    ["ended"],
  );
  assert.deepEqual(await readAll(execution), []);
});

withFake("a server that ends the stream in good order has executed nothing that it did not answer", async () => {
  const call = failure(toolhost.call("t", {}, { callId: "id" }));
  await fake.frames("start", 1);
  fake.streams[0]?.end();
  const error = await call;
  assert.deepEqual([error.kind, error.callId], ["unavailable", "id"]);
  assert.match(error.message, /shutting down; the call was not executed/);
  const next = toolhost.call("t");
  const [, start] = await fake.frames("start", 2);
  fake.answer(start?.call ?? 0, "again");
  assert.equal((await next).result.text, "again");
  assert.equal(fake.streams.length, 2);
});

withFake("a stream that breaks", async () => {
  const complete = failure(toolhost.call("t", {}));
  const half = toolhost.execute("t", undefined);
  await half.send("{");
  await fake.frames("start", 2);
  fake.say(99, { case: "log", value: { message: "of no call" } });
  fake.streams[0]?.emit("error", { code: status.INTERNAL, details: "a bug 4711" });
  const executed = await complete;
  assert.equal(executed.kind, "outcome_unknown");
  assert.match(executed.message, /had no call id; give calls with side effects a call id \(a bug 4711\)$/);
  const unexecuted = await failure(half.outcome());
  assert.equal(unexecuted.kind, "internal");
  assert.match(unexecuted.message, /before the arguments were complete; the call was not executed \(a bug 4711\)$/);
});

withFake("a server that takes no calls says why", async () => {
  fake.refusal = { code: status.PERMISSION_DENIED, details: "plugins may not call" };
  const error = await failure(toolhost.call("t", {}));
  assert.deepEqual([error.kind, error.message], ["denied", "plugins may not call"]);
});

withFake("what is too large to be sent ends its call, and no other", async () => {
  const other = toolhost.call("t");
  const [start] = await fake.frames("start", 1);
  const error = await failure(toolhost.call("t", {}, { context: { big: "x".repeat(4 << 20) } }));
  assert.equal(error.kind, "invalid_argument");
  assert.match(error.message, /has \d+ bytes of context and options, and the limit is 4194304; use a smaller context$/);
  fake.answer(start?.call ?? 0, "other");
  assert.equal((await other).result.text, "other");
});

withFake("large arguments go in pieces, as they do that come in pieces", async () => {
  const text = JSON.stringify({ text: "x".repeat(300 << 10) });
  const calls = [toolhost.call("t", text), toolhost.execute("t", pieces(text)).outcome()];
  const completes = await fake.frames("complete", 2);
  for (const { call } of completes) {
    const parts = fake.requests.flatMap(({ call: own, frame }) =>
      own === call && frame.case === "append" ? [Buffer.from(frame.value.text)] : [],
    );
    assert(parts.every(({ length }) => length <= 64 << 10));
    assert(Buffer.concat(parts).toString() === text);
    fake.answer(call, "x");
  }
  await Promise.all(calls);
});

async function* pieces(text: string) {
  yield text.slice(0, 7);
  yield text.slice(7);
}

withFake("arguments are not asked for any more once the call has ended", async () => {
  let left = false;
  async function* endless() {
    try {
      for (;;) {
        yield " ";
        await new Promise((go) => setImmediate(go));
      }
    } finally {
      left = true;
    }
  }
  const call = toolhost.execute("t", endless()).outcome();
  const [start] = await fake.frames("start", 1);
  fake.answer(start?.call ?? 0, "enough");
  await call;
  await eventually("the arguments are let go", () => left);
});

withFake("arguments that cannot be had end their call at once", async () => {
  async function* broken() {
    yield "{";
    throw new Error("the model is gone");
  }
  const error = await failure(toolhost.execute("t", broken()).outcome());
  assert.equal(error.message, "the arguments of the call could not be read, and it was not executed: the model is gone");
  const [cancel] = await fake.frames("cancel", 1);
  assert(cancel?.frame.case === "cancel" && cancel.frame.value.reason === error.message);
});

withFake("a caller that stops waiting is told what was done, or that nobody said it", async () => {
  const abort = new AbortController();
  const answered = failure(toolhost.call("t", {}, { signal: abort.signal }));
  const unanswered = failure(toolhost.call("t", {}, { signal: abort.signal }));
  await fake.frames("start", 2);
  abort.abort(new Error("enough 4711"));
  const [first] = await fake.frames("cancel", 2);
  const error = { kind: 7, message: "stopped half way" }; // cancelled
  fake.say(first?.call ?? 0, { case: "ended", value: { outcome: { case: "error", value: error } } } as Event["event"]);
  assert.equal((await answered).message, "stopped half way");
  const words = "enough 4711; the call was cancelled and has not ended yet; give calls a callId to watch them";
  assert.deepEqual([(await unanswered).kind, (await unanswered).message], ["cancelled", words]);
});

withFake("a program that does not close its client ends all the same", async () => {
  const program = new Running(process.execPath, [fixture("forgetful"), fake.address], process.env);
  const [start] = await fake.frames("start", 1);
  fake.answer(start?.call ?? 0, "answered");
  assert.equal(await program.line(), "answered");
  assert.deepEqual(await program.exited, { code: 0, signal: null });
});
