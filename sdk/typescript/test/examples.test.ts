// The examples print what their last lines show.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { type Host, startToolhost } from "./harness.js";

const sources = join(import.meta.dirname, "../examples");
const compiled = join(import.meta.dirname, "examples");
let host: Host;

before(async () => {
  host = await startToolhost(["bare"]);
});

after(() => host?.close());

for (const folder of ["author", "caller"]) {
  for (const file of readdirSync(join(sources, folder))) {
    test(`${folder}/${file}`, async () => {
      const [, shown = ""] = (await readFile(join(sources, folder, file), "utf8")).split("// Output:\n");
      const program = join(compiled, folder, file.replace(/ts$/, "js"));
      const env = { ...process.env, TOOLHOST_ADDR: host.address };
      const { stdout } = await promisify(execFile)(process.execPath, [program], { env });
      assert.equal(stdout, shown.replace(/^\/\/ /gm, ""));
    });
  }
}
