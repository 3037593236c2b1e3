// Tools, filters and what they are declared as, by the kit that authors test with.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  file,
  image,
  json,
  objectTool,
  Result,
  rawJSON,
  result,
  type Tool,
  ToolError,
  ToolhostError,
  text,
  tool,
} from "@toolhost/sdk";
import { TestHost } from "@toolhost/sdk/testing";
import { z } from "zod";
import { relativeTo } from "../dist/plugin/relative.js";

const spec = <const N extends string>(name: N) => ({ name, description: "Does what a test needs." });
const hostOf = (...tools: Tool[]) => new TestHost({ name: "p", tools });

test("a schema of zod becomes JSON Schema", async () => {
  const input = z.object({
    city: z.string().describe("the city's name").min(1),
    days: z.int().min(1).max(14).default(1),
    room: z.int().optional(),
    units: z.enum(["c", "f"]).optional(),
    where: z.object({ lat: z.number(), lon: z.number() }).optional(),
    more: z.looseObject({}).optional(),
  });
  const output = z.object({ degrees: z.number() });
  const { tools } = await hostOf(
    tool({ ...spec("t"), input, output, timeoutMs: 1500, retry: { maxAttempts: 3 } }, () => ({ degrees: 1 })),
  ).describe();
  assert.deepEqual(tools, [
    {
      name: "t",
      description: "Does what a test needs.",
      input_schema: {
        type: "object",
        properties: {
          city: { type: "string", minLength: 1, description: "the city's name" },
          days: { type: "integer", minimum: 1, maximum: 14, default: 1 },
          room: { type: "integer" }, // and not what JavaScript's integers are bounded by
          units: { type: "string", enum: ["c", "f"] },
          where: {
            type: "object",
            properties: { lat: { type: "number" }, lon: { type: "number" } },
            required: ["lat", "lon"],
            additionalProperties: false,
          },
          more: { type: "object", properties: {}, additionalProperties: {} },
        },
        required: ["city"],
        additionalProperties: false,
      },
      output_schema: {
        type: "object",
        properties: { degrees: { type: "number" } },
        required: ["degrees"],
      },
      timeout: 1_500_000_000,
      retry: { max_attempts: 3 },
    },
  ]);
});

test("a JSON Schema stays as it is, and none is an object without properties", async () => {
  const schema = { type: "object", properties: { n: { const: 1 } } };
  const host = hostOf(
    tool({ ...spec("plain"), input: schema }, (input: Record<string, unknown>) => ({ got: input })),
    tool({ ...spec("raw"), input: rawJSON('{"type":"object","minProperties":0.0}') }, () => ""),
    tool(spec("none"), () => "nothing to say"),
  );
  const { tools } = await host.describe();
  assert.deepEqual(tools[0]?.input_schema, schema);
  assert.deepEqual(tools[2]?.input_schema, { type: "object", additionalProperties: false });
  assert.deepEqual((await host.call("plain", { n: 1 })).value, { got: { n: 1 } });
  assert.match((await host.call("plain", { n: 2 })).text, /the arguments do not fit the tool's schema:\n- n: /);
  assert.equal((await host.call("none")).text, "nothing to say");
});

test("arguments are validated, with defaults and transformations", async () => {
  const input = z
    .object({ when: z.string().transform((s) => s.length), n: z.number().default(7) })
    .refine(({ n }) => n !== 13, "not 13");
  const host = hostOf(tool({ ...spec("t"), input }, ({ when, n }) => ({ when, n })));
  assert.deepEqual((await host.call("t", { when: "now" })).value, { when: 3, n: 7 });
  const refused = await host.call("t", { when: "now", n: 13 });
  assert(refused.isError);
  assert.equal(refused.text, "the arguments do not fit the tool:\n- arguments: not 13");
  assert.match((await host.call("t", { wehn: "now" })).text, /the arguments do not fit the tool's schema:\n- .*when/);
  assert.match((await host.call("t", "{")).text, /the arguments are not JSON/);
});

test("what a tool returns is what the model reads", async () => {
  const pixel = new Uint8Array([1, 2, 3]);
  for (const [name, returned, want] of [
    ["nothing", undefined, []],
    ["null", null, []],
    ["text", "hi", [{ kind: "text", text: "hi" }]],
    ["half a character", "\ud83d", [{ kind: "text", text: "\ufffd" }]],
    ["a number", 7, [{ kind: "json", json: "7" }]],
    ["an object", { kind: "text", text: "no block" }, [{ kind: "json", json: '{"kind":"text","text":"no block"}' }]],
    ["a list of strings", ["a", "b"], [{ kind: "json", json: '["a","b"]' }]],
    ["raw JSON within", { n: rawJSON("1.0"), b: 2n ** 70n }, [{ kind: "json", json: '{"n":1.0,"b":1180591620717411303424}' }]],
    [
      "blocks",
      ["see", image(pixel), file(pixel, { name: "a.bin", mediaType: "x/y" }), json({ a: 1 })],
      [
        { kind: "text", text: "see" },
        { kind: "image", mediaType: "image/png", name: "", data: pixel },
        { kind: "file", mediaType: "x/y", name: "a.bin", data: pixel },
        { kind: "json", json: '{"a":1}' },
      ],
    ],
  ] as const) {
    const got = await hostOf(tool(spec("t"), () => returned)).call("t");
    const content = got.result?.content.map((block) => {
      const { value: _, ...plain } = { value: undefined, ...block };
      return "data" in plain ? { ...plain, data: new Uint8Array(plain.data) } : plain;
    });
    assert.deepEqual(content, want, name);
  }
});

test("a result says more", async () => {
  const original = result({
    content: ["done"],
    effects: [
      { key: "todos", operation: "append", value: { t: 1 } },
      { key: "k", value: null },
    ],
    usage: { inputTokens: 5 },
    cost: 0.5,
    metadata: { a: [1] },
  });
  const got = await hostOf(tool(spec("t"), () => original)).call("t");
  assert.deepEqual(got.result?.effects, [
    { key: "todos", operation: "append", value: { t: 1 } },
    { key: "k", operation: "replace", value: null },
  ]);
  assert.equal(got.result?.usage?.inputTokens, 5);
  assert.deepEqual(got.result?.metadata, { a: [1] });
  const failed = await hostOf(tool(spec("t"), () => result({ content: "no", isError: true, effects: original.effects }))).call(
    "t",
  );
  assert.deepEqual(failed.result?.effects, [], "a failure has none");
});

test("what a tool throws", async () => {
  const thrown = async (error: unknown) => {
    const got = await hostOf(
      tool(spec("t"), () => {
        throw error;
      }),
    ).call("t");
    return got.error ? `${got.error.kind}: ${got.error.message}` : got.isError && got.text;
  };
  assert.equal(await thrown(new ToolError("no such city")), "no such city");
  assert.equal(await thrown(new ToolError()), "the tool failed with an error of type ToolError without a message");
  assert.equal(await thrown(new RangeError()), "the tool failed with an error of type RangeError without a message");
  assert.equal(await thrown(new Error("no such file")), "no such file");
  assert.equal(await thrown("words"), "the tool threw 'words', which is not an Error");
  assert.equal(await thrown({ code: 7 }), "the tool threw { code: 7 }, which is not an Error");
  assert.equal(await thrown(undefined), "the tool threw undefined, which is not an Error");
  const refused = new TypeError("fetch failed", { cause: new Error("refused") });
  assert.equal(await thrown(refused), "TypeError: fetch failed (Error: refused)");
  const many = new AggregateError([new RangeError("a"), new ToolError("b"), "c", new Error("d", { cause: refused })], "sync");
  assert.equal(
    await thrown(many),
    "AggregateError: sync (4 errors)\n- RangeError: a\n- b\n- 'c'\n- Error: d (TypeError: fetch failed (Error: refused))",
  );
  assert.equal(await thrown(new AggregateError([new Error("a")])), "AggregateError (1 error)\n- Error: a");
  const hosts = new AggregateError([new Error("no ::1"), new Error("no 127.0.0.1")]); // as fetch has it
  assert.equal(
    await thrown(new TypeError("fetch failed", { cause: hosts })),
    "TypeError: fetch failed (AggregateError (2 errors): Error: no ::1; Error: no 127.0.0.1)",
  );
  const crowd = (await thrown(new AggregateError(Array(500).fill(new Error("x".repeat(5000)))))) || "";
  assert.ok(crowd.endsWith("…\n- and 490 more") && crowd.length < 6000, crowd);
  const circle = new Error("round");
  circle.cause = circle;
  assert.match((await thrown(circle)) || "", /^round \(Error: round \(/);
  assert.equal(await thrown(new ToolhostError("rate_limited", "enough", { retryAfterMs: 10 })), "rate_limited: enough");
});

test("paths in errors are relative to the workspace", async () => {
  const workspace = await mkdtemp(join(tmpdir(), "workspace-"));
  const host = hostOf(
    tool(spec("reads"), (_, call) => readFile(join(call.workspace ?? "", "sub/none.txt"), "utf8")),
    tool(spec("tells"), (_, call) => {
      throw new ToolhostError("unavailable", `there is no ${call.workspace}/none.txt`, { retryAfterMs: 10 });
    }),
  );
  try {
    const read = await host.call("reads", {}, { workspace });
    assert.equal(read.error, undefined);
    assert.ok(read.isError);
    assert.equal(read.text, "ENOENT: no such file or directory, open 'sub/none.txt'");
    const { error } = await host.call("tells", {}, { workspace });
    assert.deepEqual([error?.kind, error?.message, error?.retryAfterMs], ["unavailable", "there is no none.txt", 10]);
  } finally {
    await rm(workspace, { recursive: true });
  }
});

test("the rule of relative paths is that of the other SDKs", async () => {
  const text = await readFile(new URL("../../testdata/relative.json", import.meta.url), "utf8");
  const cases = JSON.parse(text) as { folder: string; text: string; want: string }[];
  assert.ok(cases.length > 0);
  for (const { folder, text, want } of cases) {
    assert.equal(relativeTo(folder, text), want);
  }
});

test("a preview that fails is lost alone", async () => {
  const written = objectTool({ ...spec("write"), input: z.object({ text: z.string() }), partialArguments: true }, (call) => ({
    preview: async () => {
      call.status({ message: "seen" });
      throw new Error("no view today");
    },
    run: ({ text }) => `wrote ${text}`,
  }));
  const got = hostOf(written).stream("write");
  got.append('{"text":"a');
  await got.status(({ message }) => message === "seen");
  got.complete('{"text":"ab"}');
  await got.ended;
  assert.deepEqual([got.text, got.error], ["wrote ab", undefined]);
  assert.deepEqual(
    got.logs.map(({ message }) => message),
    ["the preview of the tool failed"],
  );
});

test("what a call answered is asked of one that answered", async () => {
  const host = hostOf(
    tool(spec("down"), () => {
      throw new ToolhostError("unavailable", "the database is down");
    }),
    tool(spec("two"), () => [json(1), json(2)]),
    tool(spec("words"), () => "words"),
  );
  const down = await host.call("down");
  assert.equal(down.error?.kind, "unavailable");
  assert.throws(() => down.text, { name: "ToolhostError", message: "the database is down" });
  assert.throws(() => down.value, { name: "ToolhostError" });
  const two = await host.call("two");
  assert.throws(() => two.value, { name: "TypeError", message: "the result has 2 blocks of JSON, not one; it says: 1\n2" });
  const words = await host.call("words");
  assert.throws(() => words.value, { message: "the result has 0 blocks of JSON, not one; it says: words" });
});

test("the compiler holds what a tool returns against its output", async () => {
  const degrees = { ...spec("degrees"), output: z.object({ degrees: z.number() }) };
  const good = [tool(degrees, () => ({ degrees: 1 })), tool(degrees, () => result({ content: json({ degrees: 1 }) }))];
  for (const one of good) {
    assert.deepEqual((await hostOf(one).call("degrees")).value, { degrees: 1 });
  }
  // @ts-expect-error: degrees is a number
  assert.ok(tool(degrees, () => ({ degrees: "1" })));
  // @ts-expect-error: a text is no structured result
  assert.ok(objectTool(degrees, () => ({ run: () => "1" })));
});

test("statuses are kept in order", async () => {
  const host = hostOf(
    tool(spec("good"), async (_, call) => {
      call.status({ message: "a" });
      call.status({ state: "wait", message: "goes not back" });
      void call.progress(1, 2);
    }),
    tool(spec("bad"), async (_, call) => {
      call.status({ message: "a" });
      throw new ToolError("x");
    }),
    tool(spec("own"), async (_, call) => {
      call.status({ state: "success" });
      call.status({ message: "too late" });
    }),
    tool(spec("quiet"), () => "x"),
  );
  assert.deepEqual((await host.call("good")).statuses, [
    { state: "doing", message: "a" },
    { message: "goes not back" },
    { progress: { done: 1, total: 2 } },
    { state: "success" },
  ]);
  assert.deepEqual((await host.call("bad")).statuses, [{ state: "doing", message: "a" }, { state: "error" }]);
  assert.deepEqual((await host.call("own")).statuses, [{ state: "success" }]);
  assert.deepEqual((await host.call("quiet")).statuses, []);
});

test("a call knows where and for whom it runs", async () => {
  const host = hostOf(
    tool({ ...spec("t"), contextKeys: ["user"], requiresAuth: ["TOKEN"] }, (_, call) => {
      const { id, attempt, session, workspace, traceparent, context, secrets, deadline, argumentsText } = call;
      return {
        id,
        attempt,
        session,
        workspace,
        traceparent,
        context,
        secrets,
        deadline: deadline !== undefined,
        argumentsText,
      };
    }),
  );
  const got = await host.call(
    "t",
    {},
    {
      callId: "c-1",
      attempt: 2,
      session: "s",
      workspace: "/w",
      traceparent: "00-a",
      context: { user: "eva", other: 1 },
      secrets: { TOKEN: "t", OTHER: "o" },
      timeoutMs: 1000,
    },
  );
  assert.deepEqual(got.value, {
    id: "c-1",
    attempt: 2,
    session: "s",
    workspace: "/w",
    traceparent: "00-a",
    context: { user: "eva" },
    secrets: { TOKEN: "t" },
    deadline: true,
    argumentsText: "{}",
  });
});

test("a tool sees what was cancelled, and its object is closed", async () => {
  let closed = 0;
  const host = hostOf(
    objectTool({ ...spec("t"), input: z.object({ text: z.string() }), partialArguments: true }, (call) => ({
      preview: ({ text: soFar }) => call.status({ message: soFar ?? "" }),
      run: () =>
        new Promise((_, reject) => call.signal.addEventListener("abort", () => reject(new DOMException("x", "AbortError")))),
      close: () => {
        closed++;
      },
    })),
  );
  const abandoned = host.stream("t");
  abandoned.append('{"text":"ha');
  assert.equal((await abandoned.status((s) => s.message !== undefined)).message, "ha");
  abandoned.cancel("changed its mind");
  await abandoned.ended;
  assert.deepEqual(
    [abandoned.error?.kind, abandoned.error?.message],
    ["cancelled", "the call was cancelled: changed its mind"],
  );
  assert.equal(closed, 1);
  const late = await host.call("t", { text: "x" }, { timeoutMs: 1 });
  assert.deepEqual([late.error?.kind, late.error?.message], ["timeout", "the call's time is up"]);
  assert.equal(closed, 2);
});

test("what waits for credit ends all the same, and others go on", async () => {
  const host = hostOf(
    tool(spec("large"), () => "x".repeat(1 << 20)),
    tool(spec("small"), () => "s"),
  );
  const large = host.call("large");
  assert.equal((await host.call("small")).text, "s");
  assert.equal((await large).text.length, 1 << 20);
});

test("artifacts", async () => {
  const host = hostOf(
    tool({ ...spec("t"), input: z.object({ handle: z.string() }) }, async ({ handle }, call) => {
      const found = await call.openArtifact(handle);
      const [a, b] = await Promise.all([found.bytes(70_000, 5), found.bytes(3, 4)]);
      let total = 0;
      for await (const piece of found) {
        total += piece.length;
      }
      const all = await Promise.all([call.openArtifact(handle), call.openArtifact(handle)]);
      return { a: Buffer.from(a).toString(), b: Buffer.from(b).toString(), total, sizes: all.map(({ size }) => size) };
    }),
  );
  const whole = text("0123456789".repeat(20_000));
  const got = await host.call("t", { handle: "artifact-1" }, { artifacts: { "artifact-1": whole } });
  assert.deepEqual(got.value, { a: "01234", b: "3456", total: 200_000, sizes: [200_000, 200_000] });
  const none = await host.call("t", { handle: "artifact-2" });
  assert(none.isError);
  assert.match(none.text, /there is no artifact "artifact-2"/);
});

test("a tool looks different to each session", async () => {
  const host = hostOf(
    tool(
      {
        ...spec("query"),
        input: z.object({ table: z.string() }),
        contextKeys: ["project"],
        describe: ({ session, context }) => {
          if (session === "broken") {
            throw new Error("no database");
          }
          return {
            description: `Queries ${context.project}.`,
            input: z.object({ table: z.enum(["a", "b"]).transform((t) => t.toUpperCase()) }),
          };
        },
      },
      ({ table }) => `rows of ${table}`,
    ),
  );
  const seen = async (options: object) => (await host.describe(options)).tools[0];
  assert.equal((await seen({}))?.description, "Does what a test needs.");
  assert.equal((await seen({}))?.dynamic, true);
  assert.equal((await seen({ session: "broken" }))?.description, "Does what a test needs.");
  const mine = await seen({ session: "s", context: { project: "p", undeclared: 1 } });
  assert(mine);
  assert.equal(mine.description, "Queries p.");
  assert.deepEqual((mine.input_schema as { properties: unknown }).properties, { table: { type: "string", enum: ["a", "b"] } });
  assert.equal((await host.call("query", { table: "a" }, { session: "s" })).text, "rows of A");
  assert((await host.call("query", { table: "c" }, { session: "s" })).isError);
  assert.equal((await host.call("query", { table: "c" })).text, "rows of c");
});

test("filters", async () => {
  const host = new TestHost({
    name: "p",
    filters: [
      {
        name: "f",
        before: ({ tool: name, arguments: args }) => {
          switch (name) {
            case "deny":
              return { deny: "no" };
            case "answer":
              return { answer: result({ content: "in its place" }) };
            case "change":
              return { arguments: { ...args, more: 1 } };
            case "wrong":
              return { result: result({}) } as never;
            case "throw":
              throw new Error("broken");
            default:
              return undefined; // nothing changes
          }
        },
        after: ({ result: answered }) => ({ result: result({ content: answered.text.toUpperCase() }) }),
      },
      { name: "only_before", before: () => undefined },
    ],
  });
  assert.equal((await host.before("f", { tool: "deny" })).deny, "no");
  assert.equal((await host.before("f", { tool: "answer" })).answer?.text, "in its place");
  const big = 12345678901234567890n;
  assert.deepEqual((await host.before("f", { tool: "change", arguments: { id: big } })).arguments, { id: big, more: 1 });
  const untouched = await host.before("f", { tool: "other" });
  assert.deepEqual([untouched.error, untouched.arguments, untouched.deny], [undefined, undefined, undefined]);
  assert.match(
    (await host.before("f", { tool: "wrong" })).error?.message ?? "",
    /before the call it must return one of arguments, deny, answer/,
  );
  assert.equal((await host.before("f", { tool: "throw" })).error?.message, "broken");
  const after = await host.after("f", { tool: "t", result: result({ content: ["a", json({ x: 1 })] }) });
  assert(after.result instanceof Result);
  assert.equal(after.result.text, 'A\n{"X":1}');
  assert.equal((await host.after("only_before", { tool: "t", result: result({}) })).result, undefined);
});

test("no integer of the arguments is rounded, except where the schema takes a number", async () => {
  const text = '{"id":12345678901234567890,"list":[{"n":9007199254740993}],"small":1}';
  const exact = { id: 12345678901234567890n, list: [{ n: 9007199254740993n }], small: 1 };
  const seen: unknown[] = [];
  const see = (args: unknown) => {
    seen.push(args);
    return "seen";
  };
  const host = hostOf(
    tool({ ...spec("plain"), input: { type: "object" } }, see),
    tool({ ...spec("unknown"), input: z.looseObject({ id: z.unknown() }) }, see),
    tool({ ...spec("number"), input: z.looseObject({ id: z.number() }) }, see),
    tool({ ...spec("union"), input: z.looseObject({ id: z.union([z.object({}), z.number()]), list: z.unknown() }) }, see),
    tool({ ...spec("int"), input: z.looseObject({ id: z.int() }) }, see),
  );
  const rounded = { ...exact, id: Number(exact.id) };
  for (const [name, want] of Object.entries({ plain: exact, unknown: exact, number: rounded, union: rounded })) {
    const called = await host.call(name, text);
    assert.deepEqual([called.error, seen.pop()], [undefined, want], name);
  }
  const refused = await host.call("int", text);
  assert.match(refused.result?.text ?? "", /id: Too big/);
});
