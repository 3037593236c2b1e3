/** Tools that ask a person or a model. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Plugin, ToolhostError, text, tool } from "@toolhost/sdk";
import { type Answerer, TestHost } from "@toolhost/sdk/testing";
import * as z from "zod";

const schema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };

const plugin: Plugin = {
  name: "asking",
  version: "1.0.0",
  tools: [
    tool({ name: "pick", description: "Asks which one.", input: z.object({}) }, async (_, call) => {
      const answer = await call.ask({ message: "Which one?", schema, timeoutMs: 60_000 });
      return answer.action === "accept" ? `picked ${answer.content["name"]}` : answer.action;
    }),
    tool({ name: "sum_up", description: "Summarizes.", input: z.object({ text: z.string() }) }, async (input, call) => {
      const messages = [{ role: "user" as const, content: [text(input.text)] }];
      const { content, model } = await call.complete({ system: "Be brief.", messages, maxTokens: 10 });
      return `${model}: ${content.map((block) => (block.kind === "text" ? block.text : "")).join("")}`;
    }),
    tool({ name: "pick_both", description: "Asks two questions at once.", input: z.object({}) }, async (_, call) => {
      const answers = await Promise.all(["first", "second"].map((message) => call.ask({ message })));
      return answers.map((answer) => (answer.action === "accept" ? answer.content["answer"] : answer.action)).join(" ");
    }),
  ],
};

test("a person answers", async () => {
  await using host = new TestHost(plugin);
  const asked: unknown[] = [];
  const answer: Answerer = (question) => {
    asked.push(question);
    return { person: { action: "accept", content: { name: "red" } } };
  };
  assert.equal((await host.call("pick", {}, { answer })).text, "picked red");
  assert.deepEqual(asked, [{ person: { message: "Which one?", schema, timeoutMs: 60_000 } }]);
  for (const action of ["decline", "dismiss"] as const) {
    assert.equal((await host.call("pick", {}, { answer: () => ({ person: { action } }) })).text, action);
  }
});

test("a model answers", async () => {
  await using host = new TestHost(plugin);
  const answer: Answerer = (question) => {
    assert.ok("model" in question);
    assert.equal(question.model.system, "Be brief.");
    assert.equal(question.model.maxTokens, 10);
    return { model: { model: "m1", content: [text("short")], stopReason: "end_turn", usage: { inputTokens: 3 } } };
  };
  assert.equal((await host.call("sum_up", { text: "long" }, { answer })).text, "m1: short");
});

test("two questions are open at once", async () => {
  await using host = new TestHost(plugin);
  const answer: Answerer = (question) => {
    assert.ok("person" in question);
    return { person: { action: "accept", content: { answer: question.person.message } } };
  };
  assert.equal((await host.call("pick_both", {}, { answer })).text, "first second");
});

test("an error reaches the tool", async () => {
  await using host = new TestHost(plugin);
  const refused = { error: new ToolhostError("rate_limited", "the budget is used up") };
  assert.equal((await host.call("sum_up", { text: "a" }, { answer: () => refused })).error?.kind, "rate_limited");
});

test("a call that may not ask gets unsupported", async () => {
  await using host = new TestHost(plugin);
  assert.equal((await host.call("pick", {})).error?.kind, "unsupported");
  assert.equal((await host.call("sum_up", { text: "a" })).error?.kind, "unsupported");
});
