/** Checks: what became of an earlier call. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Call,
  objectTool,
  type Plugin,
  result,
  type Settlement,
  ToolError,
  ToolhostError,
  text,
  tool,
  validatePlugin,
} from "@toolhost/sdk";
import { Result, TestHost } from "@toolhost/sdk/testing";
import * as z from "zod";

const input = z.object({ amount: z.number().int(), to: z.string().default("ada") });
type Input = z.output<typeof input>;

/** A plugin with a tool that must not be executed, with one that has no check, and with a filter. */
function payer(settle: (input: Input, call: Call) => Settlement | Promise<Settlement>): Plugin {
  const never = () => assert.fail("the call was executed");
  return {
    name: "bank",
    version: "1.0.0",
    tools: [
      tool({ name: "pay", description: "Pays.", input, requiresAuth: ["bank"], settle }, never),
      tool({ name: "gamble", description: "Pays too.", input }, never),
    ],
    filters: [{ name: "guard", before: () => assert.fail("the filter ran") }],
  };
}

const kind = (wanted: string, words = /./) => {
  return (error: unknown) => error instanceof ToolhostError && error.kind === wanted && words.test(error.message);
};

test("a check answers", async () => {
  let says: Settlement = { verdict: "unknown" };
  await using host = new TestHost(
    payer(async (given, call) => {
      assert.deepEqual(given, { amount: 3, to: "ada" });
      assert.deepEqual(
        [call.id, call.session, call.workspace, { ...call.secrets }, call.argumentsText],
        ["c-1", "s", "/w", { bank: "key" }, '{"amount":3}'],
      );
      call.status({ message: "looking" });
      return says;
    }),
  );
  const options = { callId: "c-1", session: "s", workspace: "/w", secrets: { bank: "key", other: "x" } };
  const [pay, gamble] = (await host.describe()).tools;
  assert.equal(pay?.["settles"], true);
  assert.ok(!gamble?.["settles"]);
  for (says of [
    { verdict: "happened", reason: "found" },
    { verdict: "did_not_happen", reason: "not found" },
    { verdict: "unknown", reason: "" },
  ] as const) {
    assert.deepEqual(await host.settle("pay", { amount: 3 }, options), says);
  }
  for (const value of ["paid", text("paid"), result({ content: "paid" })]) {
    says = { verdict: "happened", result: value };
    const got = await host.settle("pay", { amount: 3 }, options);
    assert.ok(got.verdict === "happened" && got.result instanceof Result);
    assert.equal(got.result.text, "paid");
  }
});

test("the answer has bounds", async () => {
  await using host = new TestHost(
    payer(() => ({ verdict: "happened", result: "x".repeat(2 << 20), reason: "ä".repeat(5000) })),
  );
  const got = await host.settle("pay", { amount: 3 });
  assert.ok(got.verdict === "happened" && got.result === undefined);
  assert.ok(Buffer.byteLength(got.reason ?? "") <= 1 << 10);
});

test("a check fails", async () => {
  const answer = () => assert.fail("the check asked");
  for (const [settle, wanted] of [
    [() => assert.fail("no line"), kind("internal", /no line/)],
    [() => Promise.reject(new ToolError("no line")), kind("internal", /no line/)],
    [() => Promise.reject(new ToolhostError("unavailable", "no line")), kind("unavailable", /no line/)],
    [() => "happened" as never, kind("internal", /must return a settlement/)],
    [() => undefined as never, kind("internal", /must return a settlement/)],
    [() => ({ verdict: "paid" }) as never, kind("internal", /"paid" is none of/)],
    [() => ({ verdict: "unknown", reason: 7 }) as never, kind("internal", /encoding the settlement/)],
    [(_, call) => call.ask({ message: "Did it?" }) as never, kind("unsupported", /cannot ask/)],
    [(_, call) => call.complete({ messages: [] }) as never, kind("unsupported", /cannot ask/)],
    [(_, call) => call.openArtifact("a") as never, kind("unsupported", /cannot open artifacts/)],
  ] as [Parameters<typeof payer>[0], (error: unknown) => boolean][]) {
    await using host = new TestHost(payer(settle));
    const asked = host.settle("pay", { amount: 3 }, { answer, artifacts: { a: text("x") } });
    await assert.rejects(asked, wanted, String(settle));
  }
});

test("without a check nothing is executed", async () => {
  await using host = new TestHost(payer(() => assert.fail("the check ran")));
  for (const name of ["gamble", "guard"]) {
    await assert.rejects(host.settle(name, { amount: 3 }), kind("unsupported", new RegExp(name)));
  }
  await assert.rejects(host.settle("other"), kind("not_found"));
  await assert.rejects(host.settle("pay", { amount: "much" }), kind("internal", /amount/));
  await assert.rejects(host.settle("pay", "{"), kind("internal", /not JSON/));
});

test("a check that hangs is cancelled", async () => {
  const cancel = new AbortController();
  await using host = new TestHost(
    payer(
      (_, call) =>
        new Promise((_resolve, reject) => {
          call.signal.addEventListener("abort", () => reject(call.signal.reason));
          cancel.abort();
        }),
    ),
  );
  await assert.rejects(host.settle("pay", { amount: 3 }, { signal: cancel.signal }), kind("cancelled"));
  await assert.rejects(host.settle("pay", { amount: 3 }, { timeoutMs: 1 }), kind("timeout"));
});

test("objects are not opened, and dynamic tools are asked", async () => {
  const spec = {
    name: "edit",
    description: "Edits.",
    input: z.object({ words: z.string() }),
    describe: () => ({}),
    settle: ({ words }: { words: string }) => ({ verdict: "unknown", reason: words }) as const,
  };
  await using host = new TestHost({ name: "p", tools: [objectTool(spec, () => assert.fail("an object was opened"))] });
  const got = await host.settle("edit", { words: "hello" }, { session: "s" });
  assert.deepEqual(got, { verdict: "unknown", reason: "hello" });
});

test("a wrong declaration", () => {
  const plugin = (more: object): Plugin => ({
    name: "p",
    tools: [tool({ name: "x", description: "x", settle: () => ({ verdict: "unknown" }), ...more }, () => "")],
  });
  assert.deepEqual(validatePlugin(plugin({})), []);
  assert.match(validatePlugin(plugin({ readOnly: true })).join(), /a call that changes nothing needs none/);
  assert.match(validatePlugin(plugin({ settle: 7 })).join(), /settle is not a function/);
});

test("a check seals", async () => {
  const never = () => assert.fail("the call was executed");
  const keys: string[] = [];
  const spec = { name: "pay", description: "Pays.", input, seals: true };
  const settle = (_: Input, call: Call): Settlement => {
    keys.push(call.effectKey);
    return { verdict: "did_not_happen" };
  };
  await using host = new TestHost({ name: "bank", version: "1.0.0", tools: [tool({ ...spec, settle }, never)] });
  assert.equal((await host.describe()).tools[0]?.["seals"], true);
  assert.deepEqual(await host.settle("pay", { amount: 3 }, { callId: "c-1" }), { verdict: "did_not_happen", reason: "" });
  assert.deepEqual(keys, ["c-1"]);
  assert.match(validatePlugin({ name: "bank", version: "1.0.0", tools: [tool(spec, never)] }).join(), /no settle/);
});
