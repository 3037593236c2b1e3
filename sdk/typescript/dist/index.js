/**
 * Write tools for toolhost: typed functions become tools.
 *
 *     serve({
 *       name: "weather",
 *       version: "1.0.0",
 *       tools: [
 *         tool(
 *           { name: "forecast", description: "…", input: z.object({ city: z.string() }), readOnly: true },
 *           async ({ city }, call) => `sunny in ${city}`,
 *         ),
 *       ],
 *     });
 *
 * Programs that call tools import `@toolhost/sdk/client`; tests of tools import
 * `@toolhost/sdk/testing`.
 */
export { artifact, file, image, json, Result, result, text, } from "./content.js";
export { ToolError, ToolhostError } from "./error.js";
export { encodeJSON, parseJSON, rawJSON } from "./json.js";
export { validatePlugin } from "./plugin/plugin.js";
export { aliases } from "./plugin/schema.js";
export { serve } from "./plugin/serve.js";
export { objectTool, tool, } from "./plugin/tool.js";
