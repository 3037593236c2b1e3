/**
 * Call the tools of a toolhost, and start and follow runs of agentd.
 *
 *     const toolhost = new Toolhost();
 *     const { result } = await toolhost.call("forecast", { city: "Oslo" });
 *     console.log(result.text);
 *     toolhost.close();
 */
export { Result, } from "../content.js";
export { ToolhostError } from "../error.js";
export { encodeJSON, parseJSON, rawJSON } from "../json.js";
export { AgentClient } from "./agentclient.js";
export { Toolhost } from "./toolhost.js";
