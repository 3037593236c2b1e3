// Runs of a real agentd, whose tools are this package's, through this package's client.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { AgentClient, type RunEvent, ToolhostError } from "@toolhost/sdk/client";
import { VERSION } from "../dist/version.js";
import { type Host, program, Running, startToolhost } from "./harness.js";

const asking = `
attachments: [text/*]
turns:
  - calls:
      - {id: ask, tool: ask_user, arguments: {question: Which colour?}}
  - text: 'You said {{result "ask"}}.'
  - text: 'Attached: {{attachments}}'
`;
const script = `
turns:
  - calls:
      - {id: hello, tool: greet, arguments: {name: Ada}}
      - {id: wipe, tool: wipe, arguments: {what: all}}
  - text: 'It says: {{result "hello"}}; {{result "wipe"}}.'
    chunks: 3
`;

let host: Host;
let agentd: AgentClient;
let asker: AgentClient; // whose model asks the user
const running: Running[] = [];

before(async () => {
  host = await startToolhost(["play"]);
  [agentd, asker] = await Promise.all([startAgentd("a", script), startAgentd("b", asking)]);
});

async function startAgentd(name: string, turns: string): Promise<AgentClient> {
  const { home } = host;
  await writeFile(join(home, `${name}.yaml`), turns);
  const address = `unix://${join(home, `${name}.sock`)}`;
  const model = `scripted:${join(home, `${name}.yaml`)}`;
  const journal = join(home, `${name}.db`);
  const args = ["serve", "--model", model, "--listen", address, "--toolhost", host.address, "--journal", journal];
  const started = new Running(program("agentd"), args, { HOME: home, PATH: process.env.PATH, TMPDIR: home });
  running.push(started);
  await started.line();
  return new AgentClient({ address });
}

after(async () => {
  agentd?.close();
  asker?.close();
  await Promise.all(running.map((started) => started.stop()));
  await host?.close();
});

/** Responds to what a run asks, once. */
const responding = (respond: (runId: string, decisionId: string) => Promise<unknown>) => {
  const events: RunEvent[] = [];
  const onEvent = async (event: RunEvent, runId: string) => {
    events.push(event);
    if (event.type === "decisionRequested") {
      assert.equal(event.decision.kind, "approval");
      const { state, pendingDecisions } = await agentd.getRun(runId);
      assert.equal(state, "waiting");
      await respond(runId, pendingDecisions[0]?.decisionId ?? "");
    }
  };
  return { events, onEvent };
};

test("a run uses tools, and a person approves", async () => {
  const { events, onEvent } = responding((runId, decision) => agentd.approve(runId, decision, { by: "eva" }));
  const finished = await agentd.run({ prompt: "Greet Ada.", runId: "r-1" }, { onEvent });
  assert.equal(finished.stopReason, "end_turn");
  assert.equal(finished.text, "It says: hello Ada; wiped all.");
  const made = events.find((e) => e.type === "decisionMade");
  assert(made?.type === "decisionMade" && made.verdict === "approve");
  assert.equal(made.decidedBy, "eva");
  const durable = events.filter((e) => e.index === 0);
  const rest: RunEvent[] = [];
  for await (const event of agentd.watchRun("r-1", { afterSeq: durable.at(-2)?.seq ?? 0 })) {
    rest.push(event);
  }
  assert.deepEqual(
    rest.map((e) => e.type),
    ["runFinished"],
  );
});

test("an answer fits its schema", async () => {
  // A watch that begins late misses transient events: the approval holds the answers back until it has begun.
  const turns = `
turns:
  - calls: [{tool: wipe, arguments: {what: all}}]
  - calls: [{tool: final_answer, arguments: {colour: 4711}}]
  - calls: [{tool: final_answer, arguments: {colour: mauve}}]
`;
  const client = await startAgentd("c", turns);
  try {
    const types = new Set<string>();
    const onEvent = async (event: RunEvent, runId: string) => {
      types.add(event.type);
      if (event.type === "decisionRequested") {
        await client.approve(runId, event.decision.decisionId);
      }
      if (event.type === "answerDelta") {
        assert.equal(typeof event.answer, "object");
      }
    };
    const responseSchema = { type: "object", properties: { colour: { type: "string" } }, required: ["colour"] };
    const finished = await client.run({ prompt: "Which colour?", responseSchema }, { onEvent });
    assert.equal(finished.stopReason, "completed");
    assert.deepEqual(finished.result, { colour: "mauve" });
    assert.equal(finished.turns, 3);
    assert(types.has("argumentDelta") && types.has("answerDelta"), [...types].join());
    await assert.rejects(
      client.run({ prompt: "Which colour?", responseSchema: { type: "string" } }),
      (error) => error instanceof ToolhostError && error.kind === "invalid_argument",
    );
  } finally {
    client.close();
  }
});

test("reports its version", async () => {
  const { version, commit, contracts } = await agentd.version();
  assert.equal(version, VERSION, "the programs and the SDK are built from one tree");
  assert.notEqual(commit, "");
  assert.deepEqual(contracts, { plugin: "toolhost.plugin.v1", host: "toolhost.v1", agent: "agentd.v1" });
});

test("says who the client is", async () => {
  const me = await agentd.whoAmI();
  assert.deepEqual([me.principal, me.credential], [`uid:${process.getuid?.()}`, "peer"]);
  assert.ok(me.rights.some(({ right }) => right === "runs.start"));
});

test("a person edits or rejects", async () => {
  const edited = responding((runId, decision) => agentd.approve(runId, decision, { arguments: { what: "little" } }));
  assert.match((await agentd.run("Greet Ada.", edited)).text, /hello Ada; .*wiped little\.$/s);
  const rejected = responding((runId, decision) => agentd.reject(runId, decision, { reason: "not today 4711" }));
  assert.match((await agentd.run("Greet Ada.", rejected)).text, /hello Ada; .*not today 4711/s);
});

test("sends attachments", async () => {
  const note = new TextEncoder().encode("Grüße\n");
  const more = new TextEncoder().encode("a,b\n");
  const sha256 = (data: Uint8Array) => createHash("sha256").update(data).digest("hex");
  const files = [{ name: "note.txt", mimeType: "text/plain", data: note }];
  const runId = await asker.startRun({ prompt: "Look.", people: { attended: false }, attachments: files });
  for await (const _ of asker.watchRun(runId));
  const once = { attachments: [{ name: "t.csv", data: more }], messageId: "m1" };
  const said = await asker.sendMessage(runId, "And this?", once);
  assert.equal(await asker.sendMessage(runId, "And this?", once), said);
  const seen: string[] = [];
  let text = "";
  for await (const event of asker.watchRun(runId)) {
    if (event.type === "runStarted" || event.type === "userMessage") {
      seen.push(...event.attachments.map((a) => `${a.name} ${a.mimeType} ${a.size} ${a.sha256} ${a.artifact}`));
    } else if (event.type === "runFinished") {
      text = event.text;
    }
  }
  assert.deepEqual(seen, [`note.txt text/plain 8 ${sha256(note)} undefined`, `t.csv text/plain 4 ${sha256(more)} undefined`]);
  assert.match(text, new RegExp(`8 bytes, sha256 ${sha256(note)}; t.csv text/plain, 4 bytes, sha256 ${sha256(more)}`));
  const refused = asker.startRun({
    prompt: "Look.",
    attachments: [{ name: "a.pdf", data: new TextEncoder().encode("%PDF-1.7") }],
  });
  await assert.rejects(refused, { kind: "invalid_argument", message: /it reads text/ });
  const neither = asker.sendMessage(runId, "More.", { attachments: [{ name: "a" }] });
  await assert.rejects(neither, { kind: "invalid_argument", message: /either data or an artifact/ });
});

test("a person answers", async () => {
  let asked: string | undefined;
  const onEvent = async (event: RunEvent, runId: string) => {
    if (event.type === "decisionRequested") {
      assert.equal(event.decision.kind, "question");
      asked = event.decision.reason;
      await asker.answer(runId, event.decision.decisionId, "mauve 4711", { by: "eva" });
    }
  };
  const finished = await asker.run({ prompt: "Paint it.", people: { attended: true } }, { onEvent });
  assert.match(finished.text, /^You said .*mauve 4711/s);
  assert.match(asked ?? "", /Which colour\?/);
});

test("runs are cancelled, listed, and not confused", async () => {
  const { onEvent } = responding((runId) => agentd.cancelRun(runId, { reason: "enough" }));
  assert.equal((await agentd.run({ prompt: "Greet Ada.", runId: "r-2" }, { onEvent })).stopReason, "cancelled");
  const ids: string[] = [];
  for await (const run of agentd.listRuns({ pageSize: 2 })) {
    ids.push(run.runId);
  }
  assert.equal(ids[0], "r-2");
  assert.equal(ids.at(-1), "r-1");
  const kind = (work: Promise<unknown>) =>
    work.then(undefined, (error: unknown) => error instanceof ToolhostError && error.kind);
  assert.equal(await kind(agentd.startRun({ prompt: "Something else.", runId: "r-1" })), "conflict");
  assert.deepEqual(await agentd.deleteRun("r-2"), ["r-2"]);
  assert.equal(await kind(agentd.deleteRun("r-2")), "not_found");
  assert.equal(await kind(agentd.startRun({ prompt: "Greet Ada.", runId: "r-2" })), "conflict");
  assert.equal(await kind(agentd.getRun("r-none")), "not_found");
  assert.equal(await kind(agentd.respond("r-1", [{ verdict: "approve", decisionId: "x" }])), "not_found");
});
