import assert from "node:assert/strict";
import { test } from "node:test";
import { file, image, tool } from "@toolhost/sdk";
import { TestHost } from "@toolhost/sdk/testing";

test("pictures and files of what is no bytes or no media type are refused", () => {
  const bytes = Uint8Array.of(1);
  assert.equal(image(bytes, { name: "p.png" }).name, "p.png");
  assert.equal(file(bytes, { name: "n" }).mediaType, "application/octet-stream");
  const wrong = [
    () => image(bytes, { mediaType: "png" }),
    () => image(bytes, { mediaType: "" }),
    () => image("image/png" as never, bytes as never),
    () => file(bytes, { mediaType: "notes.txt" }),
    () => file("text" as never, { name: "notes.txt", mediaType: "text/plain" }),
  ];
  for (const make of wrong) {
    assert.throws(make, {
      name: "TypeError",
      message: /^(image|file)\(bytes, .*\) takes a Uint8Array and a media type such as image\/png$/,
    });
  }
});

test("a line of the log says what JSON cannot", async () => {
  const host = new TestHost({
    name: "p",
    tools: [
      tool({ name: "t", description: "Logs." }, async (_, call) => {
        call.log.info("odd", { map: new Map([["k", 1]]), none: Number.NaN, bytes: Uint8Array.of(7), list: [1] });
      }),
    ],
  });
  const { attributes } = (await host.call("t")).logs[0] ?? {};
  assert.deepEqual(attributes, { map: "Map(1) { 'k' => 1 }", none: "NaN", bytes: "Uint8Array(1) [ 7 ]", list: [1] });
});

test("what JSON cannot represent becomes text in a result, and the log names it", async () => {
  const cycle: Record<string, unknown> = { n: 1, gone: undefined };
  cycle.self = cycle;
  const cases: [unknown, unknown, string][] = [
    [Number.NaN, "NaN", "the whole"],
    [[1, -Infinity, undefined], [1, "-Infinity", null], "[1]"],
    [
      {
        a: {
          b: new Map<unknown, unknown>([
            [1, 2n],
            ["f", () => 1],
          ]),
        },
      },
      { a: { b: { "1": 2, f: "a value of type Function" } } },
      "a.b.f",
    ],
    [{ s: new Set([1]) }, { s: [1] }, "a part of it"],
    [{ bytes: Uint8Array.of(1) }, { bytes: "a value of type Uint8Array" }, "bytes"],
    [{ error: new Error("gone") }, { error: "gone" }, "error"],
    [cycle, { n: 1, self: "a value of type Object" }, "self"],
    [{ o: { password: "p", toJSON: () => Number.NaN, n: 1 } }, { o: "a value of type Object" }, "o"],
    [
      {
        get bad() {
          throw new Error("no");
        },
      },
      "a value of type Object",
      "the whole",
    ],
    [new Map<unknown, unknown>([[Symbol("s"), Number.NaN]]), { "Symbol(s)": "NaN" }, "Symbol(s)".replace(/[()]/g, ".")],
  ];
  for (const [value, wanted, place] of cases) {
    const give = tool(
      { name: "t", description: "Gives.", settle: () => ({ verdict: "happened", result: value }) },
      async () => value,
    );
    const host = new TestHost({ name: "p", tools: [give] });
    const ended = await host.call("t");
    assert.deepEqual(JSON.parse(ended.text), wanted);
    assert.match(ended.logs.map((line) => line.message).join(), new RegExp(place.replace(/[[\]]/g, "\\$&")));
  }
});

test("objects that refer to each other are taken apart once", async () => {
  const nodes: { name: number; peers: unknown[] }[] = Array.from({ length: 40 }, (_, name) => ({ name, peers: [] }));
  for (const node of nodes) {
    node.peers = nodes;
  }
  const host = new TestHost({ name: "p", tools: [tool({ name: "t", description: "Gives." }, async () => nodes)] });
  const { text } = await host.call("t");
  assert.ok(text.includes('"name":39') && text.length < 100_000, `${text.length} characters`);
});
