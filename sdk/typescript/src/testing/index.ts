/**
 * Run a plugin's tools inside a test, without a process and without a toolhost.
 *
 * It takes the path of production: arguments are JSON text that is validated by the tool's schema, and results are encoded
 * and decoded again. It also checks what a toolhost would refuse.
 *
 *     const host = new TestHost(plugin);
 *     const got = await host.call("forecast", { city: "Oslo" });
 *     assert.equal(got.text, "rain");
 */
export { type Content, Result, type ResultInit, result } from "../content.js";
export { ToolError, ToolhostError } from "../error.js";
export type { TestCall } from "./call.js";
export type { Filtered } from "./filtered.js";
export { type Description, TestHost, type TestOptions } from "./host.js";
