// The public API changes only together with api.txt.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

test("the API is that of the listing", () => {
  const script = join(import.meta.dirname, "../scripts/api.mjs");
  const { status, stderr } = spawnSync(process.execPath, [script, "--check"], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
});
