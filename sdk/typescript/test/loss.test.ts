// What a caller is told when toolhost dies.
import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type EndedEvent, type Execution, Toolhost } from "@toolhost/sdk/client";
import { folder, type Host, startToolhost } from "./harness.js";

let host: Host;
let toolhost: Toolhost;

before(async () => {
  host = await startToolhost(["play"]);
  toolhost = new Toolhost({ address: host.address });
});

after(async () => {
  toolhost?.close();
  await host?.close();
});

/** Follows a call: `begun` settles with its first status, `error` with what it ended with. */
function follow(execution: Execution): { begun: Promise<void>; error: Promise<EndedEvent["error"]> } {
  let started = () => {};
  const begun = new Promise<void>((resolve) => {
    started = resolve;
  });
  const read = async () => {
    for await (const event of execution) {
      if (event.type === "status") {
        started();
      } else if (event.type === "ended") {
        started();
        return event.error;
      }
    }
    throw new Error("the call did not end");
  };
  return { begun, error: read() };
}

test("a call that may have been executed, and one that was not", async () => {
  const complete = follow(toolhost.execute("fetch_aborted", {}, { callId: "c-1" }));
  const half = toolhost.execute("closing", undefined);
  const incomplete = follow(half);
  await half.send('{"text":"ha');
  await Promise.all([complete.begun, incomplete.begun]);
  host.running.process.kill("SIGKILL");
  const executed = await complete.error;
  assert.equal(executed?.kind, "outcome_unknown");
  assert.equal(executed?.callId, "c-1");
  assert.match(executed?.message ?? "", /send the same call with the same call id again to get its outcome/);
  const unexecuted = await incomplete.error;
  assert.equal(unexecuted?.kind, "unavailable");
  assert.match(unexecuted?.message ?? "", /the call was not executed/);

  const next = await startToolhost(["play"], "", host.address);
  assert.equal((await toolhost.call("greet", { name: "again" })).result.text, "hello again", "it connects anew");
  await next.close();
});

test("a client that comes too early", async () => {
  const home = await folder();
  const address = `unix://${join(home, "t.sock")}`;
  const client = new Toolhost({ address });
  const advice = "start one with `toolhost serve`, or say with TOOLHOST_ADDR or `address` where one is";
  const nobody = { kind: "unavailable", message: `no toolhost answers at ${address}: no such file or directory; ${advice}` };
  await Promise.all([assert.rejects(client.call("greet", {}), nobody), assert.rejects(client.listTools(), nobody)]);
  const late = await startToolhost(["play"], "", address);
  assert.equal((await client.call("greet", { name: "late" })).result.text, "hello late");
  const [a, b] = await Promise.all([client.call("greet", { name: "a" }), client.listTools()]);
  assert.equal(a.result.text, "hello a");
  assert(b.length > 0);
  client.close();
  await late.close();
  await rm(home, { recursive: true });
});

test("a client that is closed", async () => {
  const other = await startToolhost(["play"]);
  const client = new Toolhost({ address: other.address });
  const call = follow(client.execute("fetch_aborted", {}));
  await call.begun;
  client.close();
  assert.equal((await call.error)?.kind, "outcome_unknown");
  await assert.rejects(client.call("greet", { name: "x" }), { kind: "cancelled", message: "the client is closed" });
  await other.close();
});
