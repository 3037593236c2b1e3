// Filters that a plugin applies to its own tools, by the kit that authors test with.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Filter, type Plugin, result, ToolhostError, tool } from "@toolhost/sdk";
import { TestHost } from "@toolhost/sdk/testing";
import { z } from "zod";

const suffix = (name: string, tools?: string[]): Filter => ({
  name,
  ...(tools && { tools }),
  after: ({ result: answered }) => ({ result: result({ content: `${answered.text} ${name}` }) }),
});

const guard: Filter = {
  name: "guard",
  tools: ["read"],
  before: ({ tool: name, plugin, session, arguments: args }) => {
    assert.deepEqual([name, plugin, session], ["read", "bank", "s"]);
    switch (args.number) {
      case "root":
        return { deny: "not this one" };
      case "cached":
        return { answer: result({ content: "from the cache" }) };
      case "broken":
        throw new Error("no idea");
      case "worse":
        return { arguments: { number: 7 } };
      default:
        return { arguments: { number: String(args.number).replace("#", "") } };
    }
  },
};

const bank: Plugin = {
  name: "bank",
  tools: [
    tool({ name: "read", description: "Reads an account.", input: z.object({ number: z.string() }) }, ({ number }) => {
      if (number === "closed") {
        throw new ToolhostError("unavailable", "the bank is closed");
      }
      return `account ${number}`;
    }),
    tool({ name: "ping", description: "Says that it is there." }, () => "there"),
  ],
  filters: [guard, suffix("outer", ["read"]), suffix("inner", ["read"]), suffix("free")],
};

test("calls pass the filters that the plugin applies to its tools", async () => {
  await using host = new TestHost(bank);
  const read = (number: string) => host.call("read", { number }, { session: "s" });
  assert.equal((await read("#7")).text, "account 7 inner outer");
  assert.equal((await host.call("ping")).text, "there");
  assert((await host.call("read", "{", { session: "s" })).isError, "what is not JSON reaches no filter");
  const unfit = await read("worse");
  assert(unfit.isError);
  assert.doesNotMatch(unfit.text, /inner|outer/, "arguments that do not fit the schema reach no tool and no filter after it");
  for (const [number, kind, message] of [
    ["root", "denied", 'the filter "guard" denied the call: not this one'],
    ["cached", "internal", 'the filter "guard" answered in place of the tool "read", to which its plugin applies it'],
    ["broken", "unavailable", 'the filter "guard" failed: no idea'],
    ["closed", "unavailable", "the bank is closed"],
  ] as const) {
    const { error, result: answered } = await read(number);
    assert.deepEqual([error?.kind, error?.message, answered], [kind, message, undefined]);
  }
});

test("a filter that fails after the call withholds the result", async () => {
  const fails: Filter = {
    name: "fails",
    tools: ["ping"],
    after: () => {
      throw new Error("no idea");
    },
  };
  await using host = new TestHost({ ...bank, filters: [suffix("outer", ["ping"]), fails] });
  const { error, result: answered } = await host.call("ping");
  assert.deepEqual([error?.message, answered], ['the filter "fails" failed: no idea', undefined]);
});

test("the declaration names the tools", async () => {
  await using host = new TestHost(bank);
  const declared = (await host.describe()).filters as { name: string; tools?: string[] }[];
  assert.deepEqual(
    declared.map(({ name, tools }) => [name, tools]),
    [
      ["guard", ["read"]],
      ["outer", ["read"]],
      ["inner", ["read"]],
      ["free", undefined],
    ],
  );
});

test("a tool passes at most eight filters", () => {
  const filters = Array.from({ length: 9 }, (_, i) => suffix(`f${i}`, ["ping"]));
  assert(new TestHost({ ...bank, filters: filters.slice(1) }));
  assert.throws(
    () => new TestHost({ ...bank, filters }),
    /filter "f8": more than 8 filters of the plugin apply to the tool "ping"/,
  );
});
