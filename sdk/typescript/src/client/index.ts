/**
 * Call tools through toolhost, and let agents of agentd use them.
 *
 *     const toolhost = new Toolhost();
 *     const { result } = await toolhost.call("forecast", { city: "Oslo" });
 *     console.log(result.text);
 *     toolhost.close();
 */
export {
  type ArtifactContent,
  type BlobContent,
  type Content,
  type Effect,
  type EffectOperation,
  type JSONContent,
  Result,
  type TextContent,
  type Usage,
} from "../content.js";
export { type ErrorDetails, type ErrorKind, type Exit, ToolhostError } from "../error.js";
export type { PendingDecision, Run, RunEvent, RunFinished } from "../gen/agentd/v1/agent_service_pb.js";
export { Completion, DecisionKind, RunState, StopReason, Verdict } from "../gen/agentd/v1/agent_service_pb.js";
export { encodeJSON, parseJSON, RawJSON, rawJSON } from "../json.js";
export type { LogLevel, LogRecord, Progress, Status, StatusState } from "../status.js";
export { Agentd, type Decided, type RunFilter, type RunOptions } from "./agentd.js";
export type { CallEvent, EndedEvent, LogEvent, Outcome, StartedEvent, StatusEvent } from "./events.js";
export type { Execution } from "./execution.js";
export type { Approval, ArgumentStream, Arguments, ArtifactPiece, CallKey, CallOptions } from "./options.js";
export { Toolhost } from "./toolhost.js";
export type { RenderedTools, ToolFormat, ToolInfo, ToolMatch, ToolQuery, Viewer } from "./tools.js";
