// @ts-check
// The package works in plain JavaScript. scripts/check.sh runs this test with the installed tarball.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { TestHost } from "@toolhost/sdk/testing";
import { plugin } from "./words.mjs";

test("a tool without TypeScript", async (t) => {
  const host = new TestHost(plugin);
  t.after(() => host.close());
  const counted = await host.call("words", { text: "one three", longest: 1 });
  assert.deepEqual(counted.value, { words: 2, longest: ["three"] });
  assert.equal((await host.call("words", { text: " " })).isError, true);
  assert.match((await host.call("words", { text: 1 })).text, /do not fit/);
});

test("the plugin describes itself", () => {
  const described = JSON.parse(execFileSync(process.execPath, ["words.mjs", "--describe"], { encoding: "utf8" }));
  assert.match(JSON.stringify(described), /Counts the words of a text/);
});
