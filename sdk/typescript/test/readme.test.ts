// The examples of the README are the files in test/readme, which are compiled with the tests.
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";

test("the README's examples are those that are compiled", async () => {
  const source = join(import.meta.dirname, "../test/readme");
  const readme = await readFile(join(import.meta.dirname, "../README.md"), "utf8");
  const shown = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code);
  const files = await readdir(source);
  const compiled = await Promise.all(files.map((name) => readFile(join(source, name), "utf8")));
  assert.deepEqual(shown.toSorted(), compiled.toSorted());
});
