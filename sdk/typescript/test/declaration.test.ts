// What is wrong with a plugin's declaration.
import assert from "node:assert/strict";
import { test } from "node:test";
import { aliases, type Plugin, serve, tool } from "@toolhost/sdk";
import { TestHost } from "@toolhost/sdk/testing";
import { z } from "zod";

const spec = <const N extends string>(name: N) => ({ name, description: "Does what a test needs." });

test("a declaration that is wrong is refused, with all that is wrong", () => {
  const plugin: Plugin = {
    name: "9",
    tools: [
      tool({ name: "a b", description: " " }, () => ""),
      tool({ ...spec("x"), partialArguments: true, timeoutMs: -1, metadata: { f: () => 1 } }, () => ""),
      tool({ ...spec("x"), input: z.object({ n: z.number() }), examples: [{ arguments: { n: "one" } }] }, () => ""),
      tool({ ...spec("y"), input: { type: "string" } }, () => ""),
      tool({ ...spec("z"), input: z.object({ d: z.date() }) }, () => ""),
      { name: "plain", run: () => "" } as never,
    ],
    filters: [{ name: "y" }, { name: "w", before: () => undefined, tools: ["x", "xx", "x"] }],
  };
  assert.throws(() => new TestHost(plugin), {
    message: `The plugin "9" cannot be served, because its declaration is invalid:
  the plugin: the name "9" is malformed; use 1 to 64 of A-Z a-z 0-9 _ -, beginning with a letter
  tool "a b": the name "a b" is malformed; use 1 to 64 of A-Z a-z 0-9 _ -, beginning with a letter
  tool "a b": its description is empty; state its purpose, when not to use it, and what it returns
  tool "x": it declares partialArguments, but a function cannot receive them; use objectTool
  tool "x": a duration is negative
  tool "x": its metadata: a value of type function has no JSON form; use an object, a list, a text or a number
  tool "x": another tool of the plugin has that name
  tool "x": its input example 1: Invalid input: expected number, received string
  tool "y": its input schema: it must have "type": "object"
  tool "z": its input schema: Date cannot be represented in JSON Schema; use types that JSON has, such as z.iso.datetime() instead of z.date()
  tool number 6: it was not created by tool() or objectTool()
  filter "y": a tool or another filter of the plugin has that name
  filter "y": it has neither before nor after
  filter "w": it applies to the tool "xx", which the plugin does not have
  filter "w": it names the tool "x" twice
`,
  });
  assert.throws(() => new TestHost({ name: "p" }), /the plugin has no tools/);
  assert.equal(typeof serve, "function");
});

test("an argument has the other names that its schema lists", async () => {
  const path = { type: "string", description: "the file", "x-toolhost-aliases": ["file_path", "filename"] };
  const names = aliases("file_path", "filename");
  await using host = new TestHost({
    name: "p",
    version: "1",
    tools: [
      tool({ ...spec("zod"), input: z.object({ path: z.string().describe("the file").meta(names) }) }, () => ""),
      tool(
        {
          ...spec("json"),
          input: { type: "object", properties: { path: { type: "string", description: "the file", ...names } } },
        },
        () => "",
      ),
    ],
  });
  for (const { input_schema } of (await host.describe()).tools) {
    assert.deepEqual((input_schema as { properties: unknown }).properties, { path });
  }
});
