/**
 * Run the tools of a plugin in a test, without a process and without a toolhost.
 *
 * A call takes the same path as in production: the host validates the arguments, encodes and
 * decodes the result, and checks it against the output schema of the tool.
 *
 *     const host = new TestHost(plugin);
 *     const got = await host.call("forecast", { city: "Oslo" });
 *     assert.equal(got.text, "rain");
 */
export { type Content, Result, type ResultInit, result } from "../content.js";
export { ToolError, ToolhostError } from "../error.js";
export type { Answer, ModelAnswer, ModelMessage, ModelQuestion, PersonAnswer, PersonQuestion } from "../question.js";
export type { Settlement } from "../settlement.js";
export type { TestCall } from "./call.js";
export type { Filtered } from "./filtered.js";
export { type Answerer, type Description, TestHost, type TestOptions } from "./host.js";
