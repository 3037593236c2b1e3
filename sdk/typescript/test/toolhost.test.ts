// Plugins of this package in a real toolhost, called by this package's client.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { type CallEvent, type CallOptions, type EndedEvent, Toolhost, ToolhostError } from "@toolhost/sdk/client";
import { admin } from "@toolhost/sdk/proto";
import { VERSION } from "../dist/version.js";
import { eventually, type Host, startToolhost } from "./harness.js";

const { AdminService } = admin;

let host: Host;
let toolhost: Toolhost;

before(async () => {
  host = await startToolhost(["bare", "play"], "filters:\n  - filter: guard\n    tools: [greet]\n    timeout: 60s\n");
  toolhost = new Toolhost({ address: host.address });
});

after(async () => {
  toolhost?.close();
  await host?.close();
});

async function failure(work: Promise<unknown>): Promise<ToolhostError> {
  const error = await work.then(
    () => assert.fail("it did not fail"),
    (thrown: unknown) => thrown,
  );
  assert(error instanceof ToolhostError, String(error));
  return error;
}

test("lists, finds and renders tools", async () => {
  const tools = await toolhost.listTools({ names: ["greet", "draft"] });
  assert.deepEqual(
    tools.map((t) => [t.name, t.plugin, t.partialArguments]),
    [
      ["draft", "bare", true],
      ["greet", "play", false],
    ],
  );
  const greet = await toolhost.getTool("greet");
  assert.deepEqual(greet.inputSchema, {
    type: "object",
    properties: { name: { description: "who", type: "string" }, loud: { default: false, type: "boolean" } },
    required: ["name"],
    additionalProperties: false,
  });
  assert.equal((await failure(toolhost.getTool("no_such_tool"))).kind, "not_found");
  assert.equal((await toolhost.searchTools("greet"))[0]?.tool.name, "greet");
  const rendered = await toolhost.renderTools("anthropic", { names: ["greet"] });
  assert.equal(JSON.parse(rendered.content)[0].name, "greet");
});

test("reports its version", async () => {
  const { version, commit, contracts } = await toolhost.version();
  assert.equal(version, VERSION, "the programs and the SDK are built from one tree");
  assert.notEqual(commit, "");
  assert.deepEqual(contracts, { plugin: "toolhost.plugin.v1", host: "toolhost.v1", agent: "agentd.v1" });
  const aborted = toolhost.version({ signal: AbortSignal.abort() });
  assert.equal((await failure(aborted)).kind, "cancelled");
});

test("says who the client is", async () => {
  const me = await toolhost.whoAmI();
  assert.equal(me.principal, `uid:${process.getuid?.()}`);
  assert.deepEqual([me.tenant, me.credential, me.address, me.expireTime], ["default", "peer", "unix", undefined]);
  assert.deepEqual(me.roles[0], { role: "admin", tenants: [], allTenants: true, tools: [] });
  assert.ok(me.rights.some(({ right, allTenants }) => right === "tools.call" && allTenants));
});

test("calls", async () => {
  const outcome = await toolhost.call("greet", { name: "Ærøskøbing 😀" });
  assert.equal(outcome.result.text, "hello Ærøskøbing 😀");
  assert.equal(outcome.plugin, "play");
  assert.equal((await toolhost.call("greet", { name: "x", loud: "yes" })).result.text, "HELLO x", "repaired by toolhost");
});

test("keeps the bytes of JSON", async () => {
  const text = '{"text":"naïve 漢字 😀 \\u0000 \\u2028 \\"","n":12345678901234567890,"f":1.50}';
  const { result } = await toolhost.call("echo", text, { maxShownBytes: 1 << 20 });
  const [block] = result.content;
  assert(block?.kind === "json");
  assert.equal((block.value as { n: bigint }).n, 12345678901234567890n);
  const numbers = await toolhost.call("numbers", '{"n":9007199254740993}');
  assert.deepEqual(numbers.result.value, {
    raw: { n: 9007199254740993n },
    value: 9007199254740993n,
    big: 18446744073709551616n,
  });
});

test("large results come whole", async () => {
  const blocks = [
    { kind: "text", units: 300_000 },
    { kind: "file", units: 32_768 },
  ];
  const { result } = await toolhost.call("large", { blocks }, { maxShownBytes: 64 << 20 });
  const unit = "0123456789 äöü € 😀 ";
  assert(result.content[0]?.kind === "text");
  assert(result.content[0].text === unit.repeat(300_000));
  const file = result.content[1];
  assert(file?.kind === "file" || file?.kind === "artifact");
  if (file.kind === "artifact") {
    const parts: Uint8Array[] = [];
    for await (const part of toolhost.artifact(file.handle)) {
      parts.push(part);
    }
    const whole = Buffer.concat(parts);
    assert.equal(whole.length, 8 << 20);
    assert(whole.equals(Buffer.alloc(8 << 20, Buffer.from(Array.from({ length: 256 }, (_, i) => i)))));
  }
});

test("artifacts go from tool to tool", async () => {
  const { result } = await toolhost.call("long");
  const [block] = result.content;
  assert(block?.kind === "artifact");
  const read = await toolhost.call("read", { handle: block.handle });
  assert.deepEqual(read.result.value, { size: 300_000, mediaType: "text/plain", length: 300_000 });
  const missing = await toolhost.call("read", { handle: "artifact-none" });
  assert(missing.result.isError, "the model chose the handle, and can choose another");
});

test("statuses, logs, effects and images", async () => {
  const events: CallEvent[] = [];
  const { result } = await toolhost.call("steps", {}, { onEvent: (event) => events.push(event) });
  assert.equal(result.text, "stepped");
  const tips = events.flatMap((e) => (e.type === "status" && e.status.message ? [e.status.message] : []));
  assert.deepEqual(tips, ["about to begin", "at work", "done"]);
  assert(events.some((e) => e.type === "log" && e.record.message === "halfway" && e.record.attributes.left === 2));
  const effects = await toolhost.call("effects");
  assert.deepEqual(effects.result.effects, [
    { key: "plan", operation: "replace", value: "walk" },
    { key: "seen", operation: "append", value: { n: 7 } },
    { key: "tree", operation: "merge", value: { leaf: null } },
  ]);
  assert.equal(effects.result.cost, 0.25);
  assert.equal(effects.result.usage?.inputTokens, 11);
  const [image] = (await toolhost.call("image")).result.content;
  assert(image?.kind === "image" && image.mediaType === "image/png" && image.name === "pixel.png");
});

test("a tool sees its arguments while they are written, and is executed once", async () => {
  const execution = toolhost.execute("draft", undefined);
  const events = execution[Symbol.asyncIterator]();
  await execution.send('{"text":"hö');
  const seen = await next(events, (e) => e.type === "status");
  assert.deepEqual((seen as { status: { parameters: unknown } }).status.parameters, { text: "hö", object: 1 });
  await execution.send('her"}');
  await execution.complete();
  const ended = (await next(events, (e) => e.type === "ended")) as EndedEvent;
  const value = ended.result?.value as { text: string; previews: string[]; object: number };
  assert.equal(value.text, "höher");
  assert.equal(value.object, 1);
  assert.equal(value.previews[0], "hö");
});

test("arguments that come in pieces", async () => {
  async function* pieces() {
    yield '{"text":"a';
    yield 'b"}';
  }
  assert.match((await toolhost.execute("closing", pieces()).outcome()).result.text, /^ran ab, closed \d+$/);
  async function* broken() {
    yield '{"text":"a';
    throw new Error("the model is gone");
  }
  const error = await failure(toolhost.execute("closing", broken()).outcome());
  assert.match(error.message, /the model is gone/);
});

async function next(events: AsyncIterator<CallEvent>, fits: (event: CallEvent) => boolean): Promise<CallEvent> {
  for (;;) {
    const { value, done } = await events.next();
    assert(!done, "the call ended before");
    if (fits(value)) {
      return value;
    }
  }
}

test("cancel and deadline", async () => {
  const abort = new AbortController();
  const onEvent = (event: CallEvent) => event.type === "status" && abort.abort(new Error("enough of 4711"));
  const cancelled = await failure(toolhost.call("fetch_aborted", {}, { signal: abort.signal, onEvent }));
  assert.equal(cancelled.kind, "cancelled");
  assert.match(cancelled.message, /enough of 4711/);
  assert.equal((await failure(toolhost.call("fetch_aborted", {}, { timeoutMs: 100 }))).kind, "timeout");
  const late = await failure(toolhost.call("fetch_aborted", {}, { signal: AbortSignal.timeout(100) }));
  assert.equal(late.kind, "timeout");
  assert.equal((await failure(toolhost.call("greet", {}, { signal: AbortSignal.abort() }))).kind, "cancelled");
});

test("a call id is executed once, and can be watched and cancelled by its name", async () => {
  const first = await toolhost.call("closing", { text: "once" }, { callId: "id-1", session: "s" });
  const again = await toolhost.call("closing", { text: "once" }, { callId: "id-1", session: "s" });
  assert.equal(again.replayed, true);
  assert.equal(again.result.text, first.result.text);
  const conflict = await failure(toolhost.call("closing", { text: "other" }, { callId: "id-1", session: "s" }));
  assert.equal(conflict.kind, "conflict");
  const watched: CallEvent[] = [];
  for await (const event of toolhost.watchCall("id-1", { session: "s" })) {
    watched.push(event);
  }
  assert.equal(watched.at(-1)?.type, "ended");
  const rest: CallEvent[] = [];
  for await (const event of toolhost.watchCall("id-1", { session: "s", afterSeq: watched[0]?.seq ?? 0 })) {
    rest.push(event);
  }
  assert.equal(rest.length, watched.length - 1);

  const events = toolhost.execute("wait", {}, { callId: "id-2" })[Symbol.asyncIterator]();
  await next(events, (e) => e.type === "status");
  await toolhost.cancelCall("id-2", { reason: "by name 4711" });
  const ended = (await next(events, (e) => e.type === "ended")) as EndedEvent;
  assert.equal(ended.error?.kind, "cancelled");
  assert.match(ended.error?.message ?? "", /by name 4711/);
  assert.equal((await failure(toolhost.cancelCall("id-none"))).kind, "not_found");
});

test("failures", async () => {
  const fails = (how: string) => toolhost.call("fails", { how });
  const { result } = await fails("tool");
  assert(result.isError);
  assert.equal(result.text, "there is no such street");
  const told = async (how: string) => {
    const { result } = await fails(how);
    assert(result.isError);
    return result.text;
  };
  assert.equal(await told("plain"), "the disk is full (Error: no space)");
  assert.equal(await told("a string"), "the tool threw 'a string', which is not an Error");
  assert.match(await told("bug"), /^TypeError: Cannot read properties of undefined/);
  const down = await failure(fails("unavailable"));
  assert.deepEqual([down.kind, down.message, down.retryAfterMs], ["unavailable", "the database is down", 1500]);
  for (const how of ["bytes", "cycle"]) {
    assert.match((await fails(how)).result.text, /a value of type/); // the tool has been executed
  }
  const denied = await failure(toolhost.call("greet", { name: "forbidden" }));
  assert.equal(denied.kind, "denied");
  assert.match(denied.message, /that name is not greeted/);
});

test("a call passes the filter that its plugin applies to the tool", async () => {
  const { result } = await toolhost.call("account");
  assert.equal(result?.text, "masked account");
  assert.deepEqual(result?.metadata["toolhost.filters"], ["play.mask"]);
});

test("toolhost holds a call that waits for an approval, and names the decision", async () => {
  const wipe = (options: CallOptions) => failure(toolhost.call("wipe", { what: "held" }, options));
  const [first, second, unheld] = [await wipe({ approvalWaitMs: 0 }), await wipe({ approvalWaitMs: 1 }), await wipe({})];
  assert.match(first.decision ?? "", /^calls\//);
  assert.equal(first.kind, "approval_required");
  assert.equal(second.decision, first.decision);
  assert.equal(unheld.decision, undefined);
});

test("what cannot be said to toolhost is refused here, with what to do", async () => {
  const cycle: Record<string, unknown> = {};
  cycle.itself = cycle;
  for (const [work, why] of [
    [() => toolhost.call("greet", cycle), /holds itself/],
    [async () => toolhost.execute("greet", { m: new Map() }), /a Map has no JSON form/],
    [() => toolhost.call("greet", {}, { context: { f: () => 1 } }), /of type function has no JSON form/],
    [() => toolhost.call("greet", {}, { maxShownBytes: -1 }), /max_shown_bytes/],
    [() => toolhost.call("greet", {}, { maxShownBytes: 1.5 }), /1\.5/],
    [() => toolhost.readArtifact("x", { limit: -1 }), /limit/],
    [() => toolhost.readArtifact("x", { offset: 0.5 }), /0\.5/],
    [() => toolhost.listTools({ context: { f: () => 1 } }), /of type function/],
    [() => toolhost.getTool("greet", { context: { f: () => 1 } }), /of type function/],
    [() => toolhost.watchCall("x", { afterSeq: -1 }).next(), /after_seq/],
    [() => toolhost.renderTools("openia" as "openai"), /there is no format "openia"; use one of openai,/],
  ] as const) {
    const error = await failure(work());
    assert.equal(error.kind, "invalid_argument");
    assert.match(error.message, why);
  }
  const { result } = await toolhost.call("greet", null as never);
  assert.match(result.text, /must be a JSON object/);
});

test("an uncaught error ends its call, and no other", async () => {
  const { pid } = (await toolhost.call("pid")).result.value as { pid: number };
  const events = toolhost.execute("fetch_aborted", {})[Symbol.asyncIterator]();
  await next(events, (e) => e.type === "status");
  const thrown = await failure(toolhost.call("throw_later"));
  assert.equal(thrown.kind, "internal");
  assert.match(thrown.message, /the timer broke 4711/);
  const rejected = await failure(toolhost.call("reject_unheard"));
  assert.match(rejected.message, /nobody heard 4711/);
  assert.deepEqual((await toolhost.call("pid")).result.value, { pid });
  await events.return?.(undefined);
});

test("what is printed is log", async () => {
  const logs: CallEvent[] = [];
  await toolhost.call("print", {}, { onEvent: (event) => logs.push(event) });
  const record = logs.find((e) => e.type === "log");
  assert(record?.type === "log" && record.record.message === "a line of the call");
  assert.match(String(record.record.attributes.error), /Error: logged/);
  assert.equal(record.record.attributes.big, 2n ** 60n);
  await eventually("the lines are in toolhost's log", () =>
    ["a line on stdout 4711", "a line on stderr 4711", "printed before the handshake"].every((line) =>
      host.running.stderr.includes(line),
    ),
  );
});

test("many calls at once", async () => {
  const count = 100;
  const all = await Promise.all(Array.from({ length: count }, () => toolhost.call("meet", { room: "r", count })));
  assert(all.every(({ result }) => result.text === `met ${count}`));
});

/**
 * The process of a plugin, as this machine numbers it; within its own walls it may have another
 * number.
 */
async function processOf(plugin: string): Promise<number> {
  const { instances } = await toolhost.invoke(AdminService.method.listInstances, { plugin });
  const pid = instances[0]?.pid ?? 0;
  assert(pid > 1);
  assert.match(await readFile(`/proc/${pid}/cmdline`, "utf8"), /fixture/);
  return pid;
}

test("a plugin that is killed", async () => {
  await toolhost.call("pid");
  const pid = await processOf("play");
  const events = toolhost.execute("fetch_aborted", {})[Symbol.asyncIterator]();
  await next(events, (e) => e.type === "status");
  process.kill(pid, "SIGKILL");
  const ended = (await next(events, (e) => e.type === "ended")) as EndedEvent;
  assert.equal(ended.error?.kind, "crashed");
  assert.equal(ended.error?.exit?.signal, "SIGKILL");
  assert.equal((await toolhost.call("greet", { name: "again" })).result.text, "hello again");
  assert.notEqual(await processOf("play"), pid);
});

test("toolhost ends its plugins in good order, and the client says that it is gone", async () => {
  await toolhost.call("pid");
  const pid = await processOf("play");
  await host.running.stop();
  await assert.rejects(readFile(`/proc/${pid}/cmdline`));
  assert.doesNotMatch(host.running.stderr, /the plugin ends although calls have not/);
  assert.match(host.running.stderr, /the plugin was closed in good order/);
  const gone = await failure(toolhost.call("pid"));
  assert.equal(gone.kind, "unavailable");
  assert.match(gone.message, /^no toolhost answers at unix:\/\/.*: no such file or directory; start one with/);
});

test("makes requests on behalf of others", async () => {
  const user = `principals: ["uid:${process.getuid?.()}"]`;
  const bindings = [`role: admin, ${user}`, `role: delegate, ${user}`, "role: caller, members_of: [default, red]"];
  const config = `auth:\n  bindings:\n${bindings.map((b) => `    - {${b}, tenants: [default, red]}\n`).join("")}`;
  const own = await startToolhost(["play"], config);
  try {
    const ada = { onBehalfOf: { name: "ada", tenant: "red", groups: ["dev"] } };
    const bob = { onBehalfOf: { name: "bob" } };
    const client = new Toolhost({ address: own.address });
    await client.call("greet", { name: "x" }, { callId: "for-ada", ...ada });
    assert.equal((await failure(client.cancelCall("for-ada"))).kind, "not_found", "the call belongs to ada");
    assert.equal((await failure(client.cancelCall("for-ada", bob))).kind, "not_found");
    await client.cancelCall("for-ada", ada);
    const events = [];
    for await (const event of client.watchCall("for-ada", ada)) {
      events.push(event.type);
    }
    assert.equal(events.at(-1), "ended");
    assert.equal((await client.getTool("greet", ada)).name, "greet");
    assert.deepEqual(
      (await client.listTools({ names: ["greet"], ...ada })).map((t) => t.name),
      ["greet"],
    );
    assert.equal((await client.searchTools("greet", ada))[0]?.tool.name, "greet");
    assert.deepEqual((await client.renderTools("mcp", { names: ["greet"], ...ada })).tools, ["greet"]);
    assert.equal((await failure(client.readArtifact("none", ada))).kind, "not_found");
    const blue = { onBehalfOf: { name: "eve", tenant: "blue" } }; // a tenant in which the client is no delegate
    const refused = [
      client.call("greet", { name: "x" }, blue),
      client.listTools(blue),
      client.getTool("greet", blue),
      client.searchTools("greet", blue),
      client.renderTools("mcp", blue),
      client.cancelCall("for-ada", blue),
      client.watchCall("for-ada", blue).next(),
      client.readArtifact("none", blue),
    ];
    for (const error of await Promise.all(refused.map(failure))) {
      assert.equal(error.kind, "denied");
    }
    const delegate = new Toolhost({ address: own.address, ...bob });
    await delegate.call("greet", { name: "x" }, { callId: "for-bob" });
    await delegate.cancelCall("for-bob");
    await delegate.cancelCall("for-ada", ada);
    await client.cancelCall("for-bob", bob);
    delegate.close();
    client.close();
  } finally {
    await own.close();
  }
});
