import assert from "node:assert/strict";
import { test } from "node:test";
import { tool } from "@toolhost/sdk";
import { TestHost } from "@toolhost/sdk/testing";
import { z } from "zod";

const shout = tool(
  { name: "shout", description: "Converts a text to capital letters.", input: z.object({ what: z.string() }) },
  ({ what }) => what.toUpperCase(),
);

test("shout", async () => {
  await using host = new TestHost({ name: "voice", tools: [shout] });
  assert.equal((await host.call("shout", { what: "hi" })).text, "HI");
  assert.match((await host.call("shout", { wat: "hi" })).text, /do not fit/);
});
