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
export {
  type ArtifactContent,
  artifact,
  type BlobContent,
  type Content,
  type Effect,
  type EffectOperation,
  file,
  image,
  type JSONContent,
  json,
  Result,
  type ResultInit,
  result,
  type TextContent,
  text,
  type Usage,
} from "./content.js";
export { type ErrorDetails, type ErrorKind, type Exit, ToolError, ToolhostError } from "./error.js";
export { encodeJSON, parseJSON, type RawJSON, rawJSON } from "./json.js";
export type { Artifact } from "./plugin/artifact.js";
export type { Call, Logger, Session } from "./plugin/call.js";
export type { AfterAnswer, BeforeAnswer, Filter, FilterCall, FilteredCall } from "./plugin/filter.js";
export { type Permissions, type Plugin, validatePlugin } from "./plugin/plugin.js";
export { aliases, type JSONSchema, type Schema } from "./plugin/schema.js";
export { serve } from "./plugin/serve.js";
export {
  type Input,
  type InputExample,
  type Output,
  objectTool,
  type Partially,
  type RetryPolicy,
  type SoFar,
  type Tool,
  type ToolObject,
  type ToolSpec,
  tool,
  type Variant,
} from "./plugin/tool.js";
export type { ModelAnswer, ModelMessage, ModelQuestion, PersonAnswer, PersonQuestion } from "./question.js";
export type { Settlement } from "./settlement.js";
export type { JSONSchemaOptions, StandardJSONSchema, StandardSchema } from "./standard.js";
export type { LogLevel, LogRecord, Progress, Status, StatusState } from "./status.js";
