/**
 * Call the tools of a toolhost, and start and follow runs of agentd.
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
export { encodeJSON, parseJSON, type RawJSON, rawJSON } from "../json.js";
export type { RetryPolicy } from "../plugin/tool.js";
export type {
  Answer,
  ModelAnswer,
  ModelMessage,
  ModelQuestion,
  PersonAnswer,
  PersonQuestion,
  QuestionEnd,
  QuestionKind,
} from "../question.js";
export type { StandardSchema } from "../standard.js";
export type { LogLevel, LogRecord, Progress, Status, StatusState } from "../status.js";
export { AgentClient, type AgentClientOptions, type DecideOptions, type DecisionOptions } from "./agentclient.js";
export type { ToolCaller } from "./caller.js";
export type { CredentialOptions, TLSOptions } from "./credentials.js";
export type {
  CallEvent,
  EndedEvent,
  LogEvent,
  Outcome,
  QuestionClosedEvent,
  QuestionEvent,
  StartedEvent,
  StatusEvent,
} from "./events.js";
export type { Execution } from "./execution.js";
export type { CallerInfo, GrantedRight, GrantedRole, Principal } from "./identity.js";
export type {
  Approval,
  ArgumentStream,
  Arguments,
  ArtifactPiece,
  CallKey,
  CallOptions,
  RequestOptions,
  TypedOutcome,
} from "./options.js";
export type {
  ArgumentCompletion,
  ArgumentOwner,
  Prompt,
  PromptArgument,
  PromptMessage,
  PromptText,
  Resource,
  ResourceChange,
  ResourceContent,
  ResourceTemplate,
} from "./resources.js";
export type { RunEvent, RunFinished, RunPayload, ToolCall } from "./runevents.js";
export type {
  Attachment,
  AttachmentInfo,
  Completion,
  Decision,
  DecisionKind,
  InboxChange,
  InboxDecision,
  InboxPage,
  InboxVerdict,
  Limits,
  PendingDecision,
  People,
  Run,
  RunFilter,
  RunOptions,
  RunState,
  Sampling,
  StopReason,
  ToolChoice,
  Verdict,
  Window,
} from "./runs.js";
export type { Token } from "./tokens.js";
export { type ClientOptions, type HeldCallOptions, Toolhost } from "./toolhost.js";
export type { RenderedTools, ToolFormat, ToolInfo, ToolMatch, ToolQuery, Viewer } from "./tools.js";
export type { Contracts, VersionInfo } from "./version.js";
