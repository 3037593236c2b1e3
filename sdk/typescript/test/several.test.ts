// A client of several toolhosts.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Toolhost } from "@toolhost/sdk/client";
import { type Host, startToolhost } from "./harness.js";

let one: Host;
let other: Host;

before(async () => {
  [one, other] = await Promise.all([startToolhost(["play"]), startToolhost(["play"])]);
});

after(async () => {
  await Promise.all([one?.close(), other?.close()]);
});

test("a client goes to the next toolhost when one accepts no connection", async () => {
  const toolhost = new Toolhost({ address: ["unix:///nowhere/t.sock", one.address, other.address].join() });
  assert.equal((await toolhost.call("greet", { name: "first" })).result.text, "hello first");
  assert.equal(toolhost.address, one.address);
  await one.close();
  const outcomes = await Promise.all(["a", "b", "c"].map((name) => toolhost.call("greet", { name })));
  assert.deepEqual(
    outcomes.map((o) => o.result.text),
    ["hello a", "hello b", "hello c"],
  );
  assert.equal(toolhost.address, other.address);
  toolhost.close();
});

test("no toolhost of several answers", async () => {
  const toolhost = new Toolhost({ address: "unix:///nowhere/a.sock,unix:///nowhere/b.sock" });
  await assert.rejects(toolhost.call("greet", { name: "nobody" }), { kind: "unavailable" });
  toolhost.close();
  assert.throws(() => new Toolhost({ address: "unix:///a.sock,unix:///a.sock" }), /has unix:\/\/\/a.sock twice/);
});
