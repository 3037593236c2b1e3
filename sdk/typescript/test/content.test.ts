import assert from "node:assert/strict";
import { test } from "node:test";
import { file, image, tool } from "@toolhost/sdk";
import { TestHost } from "@toolhost/sdk/testing";

test("pictures and files in the wrong order are refused, with the right one", () => {
  const bytes = Uint8Array.of(1);
  assert.equal(image("image/png", bytes, "p.png").name, "p.png");
  assert.equal(file("n", "application/octet-stream", bytes).mediaType, "application/octet-stream");
  const wrong = [
    () => image("png", bytes),
    () => image("", bytes),
    () => image(bytes as never, "image/png" as never),
    () => file("text/plain", "notes.txt", bytes),
    () => file("notes.txt", "text/plain", "text" as never),
  ];
  for (const make of wrong) {
    assert.throws(make, {
      name: "TypeError",
      message: /^(image|file)\(.*\) takes a media type such as image\/png and a Uint8Array$/,
    });
  }
});

test("a line of the log says what JSON cannot", async () => {
  const host = new TestHost({
    name: "p",
    tools: [
      tool({ name: "t", description: "Logs." }, async (_, call) => {
        await call.log.info("odd", { map: new Map([["k", 1]]), none: Number.NaN, bytes: Uint8Array.of(7), list: [1] });
      }),
    ],
  });
  const { attributes } = (await host.call("t")).logs[0] ?? {};
  assert.deepEqual(attributes, { map: "Map(1) { 'k' => 1 }", none: "NaN", bytes: "Uint8Array(1) [ 7 ]", list: [1] });
});
