// The defaults, retries and deadlines of a client, typed results, schemas of other libraries, and
// the client for tests.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type RetryPolicy,
  type StandardJSONSchema,
  type StandardSchema,
  ToolhostError,
  tool,
  validatePlugin,
} from "@toolhost/sdk";
import type { ToolCaller } from "@toolhost/sdk/client";
import { TestHost } from "@toolhost/sdk/testing";
import { z } from "zod";
import { pauseBeforeRetry } from "../dist/client/retry.js";

const three: RetryPolicy = { maxAttempts: 3, initialBackoffMs: 1, maxBackoffMs: 1 };

test("a call is repeated only if that cannot execute it twice", () => {
  const cases: [ToolhostError, boolean, boolean][] = [
    [new ToolhostError("rate_limited", ""), false, true],
    [new ToolhostError("unavailable", ""), false, true],
    [new ToolhostError("unavailable", "", { plugin: "fs" }), false, false],
    [new ToolhostError("unavailable", "", { plugin: "fs", retryAfterMs: 10 }), false, true],
    [new ToolhostError("outcome_unknown", ""), false, false],
    [new ToolhostError("outcome_unknown", ""), true, true],
    [new ToolhostError("crashed", ""), true, false],
  ];
  for (const [error, named, repeated] of cases) {
    assert.equal(pauseBeforeRetry(three, 1, error, named) !== undefined, repeated, `${error.kind} ${named}`);
    assert.equal(pauseBeforeRetry(undefined, 1, error, named), undefined);
    assert.equal(pauseBeforeRetry(three, 3, error, named), undefined);
  }
});

test("the pause honors the error and the policy", () => {
  assert.equal(pauseBeforeRetry(three, 1, new ToolhostError("rate_limited", "", { retryAfterMs: 7000 }), false), 7000);
  const policy = { maxAttempts: 9, initialBackoffMs: 1000, maxBackoffMs: 3000 };
  for (const [attempt, longest] of [
    [1, 1000],
    [2, 2000],
    [8, 3000],
  ] as const) {
    const pause = pauseBeforeRetry(policy, attempt, new ToolhostError("rate_limited", ""), false) ?? 0;
    assert(pause >= longest / 2 && pause <= longest);
  }
});

const forecast = z.object({ city: z.string(), days: z.int() });
const weather = tool(
  {
    name: "forecast",
    description: "Returns a forecast.",
    input: z.object({ city: z.string() }),
    output: forecast,
    tags: ["sky"],
  },
  ({ city }) => {
    if (city === "Atlantis") {
      throw new ToolhostError("unavailable", "the station is down", { retryAfterMs: 2000 });
    }
    return { city, days: 1 };
  },
);

/** A function under test: it takes any client. */
async function advise(toolhost: ToolCaller, city: string): Promise<string> {
  const [found] = await toolhost.listTools({ tags: ["sky"] });
  const outcome = await toolhost.call(found?.name ?? "", { city }, { callId: "c-1", output: forecast });
  return `${outcome.plugin} ${outcome.callId} ${outcome.value?.city} ${outcome.value?.days.toFixed(1)}`;
}

test("code that takes a client runs in a test, and the hooks of the plugin run around it", async () => {
  const happened: string[] = [];
  const plugin = {
    name: "weather",
    tools: [weather],
    open: () => void happened.push("open"),
    close: () => void happened.push("close"),
  };
  {
    await using host = new TestHost(plugin);
    assert.equal(await advise(host.client, "Oslo"), "weather c-1 Oslo 1.0");
    await assert.rejects(advise(host.client, "Atlantis"), { kind: "unavailable", retryAfterMs: 2000 });
    await assert.rejects(host.client.getTool("nosuch"), { kind: "not_found" });
    const wrong = host.client.call("forecast", { city: "Oslo" }, { output: z.object({ city: z.number() }) });
    await assert.rejects(wrong, { kind: "internal", message: /does not fit the expected type:\n- city: / });
    assert.deepEqual(happened, ["open"]);
  }
  assert.deepEqual(happened, ["open", "close"]);
});

/** A schema of a library other than zod. */
const shout: StandardJSONSchema<{ text: string }, { text: string }> = {
  "~standard": {
    version: 1,
    vendor: "handmade",
    validate: (value) => {
      const { text } = value as { text?: unknown };
      return typeof text === "string"
        ? { value: { text: text.toUpperCase() } }
        : { issues: [{ message: "must be text", path: ["text"] }] };
    },
    jsonSchema: {
      input: () => ({ type: "object", properties: { text: { type: "string" } }, required: ["text"] }),
      output: () => ({ type: "object" }),
    },
  },
};

test("a schema of another library describes and validates arguments", async () => {
  const loud = tool({ name: "loud", description: "Returns capitals.", input: shout }, ({ text }) => text.concat("!"));
  await using host = new TestHost({ name: "p", tools: [loud] });
  assert.equal((await host.call("loud", { text: "hi" })).text, "HI!");
  assert.deepEqual(
    (await host.describe()).tools[0]?.input_schema,
    shout["~standard"].jsonSchema.input({ target: "draft-2020-12" }),
  );
});

test("a schema without a JSON Schema is a problem of the declaration", () => {
  const { jsonSchema: _, ...rest } = shout["~standard"];
  const bare: StandardSchema = { "~standard": rest };
  const problems = validatePlugin({
    name: "p",
    tools: [tool({ name: "t", description: "Does nothing.", input: bare as typeof shout }, () => "")],
  });
  assert.match(
    problems[0] ?? "",
    /the library handmade cannot convert this schema to a JSON Schema; pass a JSON Schema instead$/,
  );
});
