import assert from "node:assert/strict";
import { test } from "node:test";
import { TestHost } from "@toolhost/sdk/testing";
import { plugin } from "./convert.js";

test("convert", async () => {
  await using host = new TestHost(plugin);
  const { result } = await host.call("convert", { value: 1, from: "lb", to: "g" });
  assert.deepEqual(result?.value, { value: 453.592, unit: "g" });
  assert.match((await host.call("convert", { value: 1, from: "lb", to: "km" })).text, /cannot be converted/);
});
