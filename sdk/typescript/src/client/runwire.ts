/** Conversion between the types of runs and the messages of agentd.v1. */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import * as pb from "../gen/agentd/v1/agent_service_pb.js";
import * as decisionpb from "../gen/toolhost/decision/v1/decision_service_pb.js";
import { decodeText, encodeJSONBytes } from "../json.js";
import { fromError, fromResult, fromStatus, fromUsage } from "../wire/messages.js";
import { fromJSONBytes, fromTime, toDuration, toValues } from "../wire/scalars.js";
import type { RunEvent, RunPayload } from "./runevents.js";
import type {
  Attachment,
  AttachmentInfo,
  Decision,
  DecisionKind,
  InboxDecision,
  InboxVerdict,
  PendingDecision,
  Run,
  RunOptions,
  RunState,
  StopReason,
  Verdict,
} from "./runs.js";

const states: Readonly<Record<RunState, pb.RunState>> = {
  running: pb.RunState.RUNNING,
  waiting: pb.RunState.WAITING,
  interrupted: pb.RunState.INTERRUPTED,
  finished: pb.RunState.FINISHED,
};

/**
 * Returns the name of a number of a protobuf enum in lower case. Undefined for an unset or unknown
 * number.
 */
function nameOf<N extends string>(numbers: Readonly<Record<number, string>>, number: number): N | undefined {
  return number === 0 ? undefined : (numbers[number]?.toLowerCase() as N | undefined);
}

/** Converts the states of a filter. Throws a TypeError for an unknown state. */
export function toStates(wanted: readonly RunState[] = []): pb.RunState[] {
  return wanted.map((state) => {
    if (!Object.hasOwn(states, state)) {
      throw new TypeError(`${JSON.stringify(state)} is none of ${Object.keys(states).join(", ")}`);
    }
    return states[state];
  });
}

/** Converts the options of a run. Throws if a value cannot be encoded. */
export function toStartRequest(options: RunOptions): pb.StartRunRequest {
  const { context, tools, limits, people, window, systemTools, completion, responseSchema, attachments, ...rest } = options;
  const request: MessageInitShape<typeof pb.StartRunRequestSchema> = { ...rest, context: toValues(context) };
  request.attachments = toAttachments(attachments);
  if (tools) {
    const { names = [], categories = [], tags = [], plugins = [], excluded = [], ...others } = tools;
    request.tools = {
      ...others,
      names: [...names],
      categories: [...categories],
      tags: [...tags],
      plugins: [...plugins],
      excluded: [...excluded],
    };
  }
  if (limits) {
    const { maxTokens = 0, maxOutput = 0, maxWallTimeMs, ...others } = limits;
    const maxWallTime = toDuration(maxWallTimeMs);
    request.limits = {
      ...others,
      maxTokens: BigInt(maxTokens),
      maxOutput: BigInt(maxOutput),
      ...(maxWallTime && { maxWallTime }),
    };
  }
  if (people) {
    const expiry = toDuration(people.expiryMs);
    request.people = { attended: people.attended, askOutcome: people.askOutcome ?? false, ...(expiry && { expiry }) };
  }
  if (window) {
    const { tokens = 0, ...others } = window;
    request.window = { ...others, tokens: BigInt(tokens) };
  }
  if (systemTools) {
    request.systemTools = { names: [...systemTools] };
  }
  if (responseSchema) {
    request.responseSchema = encodeJSONBytes(responseSchema);
  }
  if (completion) {
    request.completion = completion === "explicit" ? pb.Completion.EXPLICIT : pb.Completion.END_TURN;
  }
  return create(pb.StartRunRequestSchema, request);
}

/** Converts attachments. Throws a TypeError for one with both data and an artifact, or with neither. */
export function toAttachments(attachments: readonly Attachment[] = []): MessageInitShape<typeof pb.AttachmentSchema>[] {
  return attachments.map(({ name = "", mimeType = "", data, artifact }) => {
    if ((data === undefined) === (artifact === undefined)) {
      throw new TypeError(`the attachment ${JSON.stringify(name)} must have either data or an artifact`);
    }
    if (artifact) {
      const { handle, session = "" } = artifact;
      return { name, mimeType, content: { case: "artifact" as const, value: { handle, session } } };
    }
    return { name, mimeType, content: { case: "data" as const, value: data ?? new Uint8Array() } };
  });
}

function fromAttachment(m: pb.AttachmentInfo): AttachmentInfo {
  return { name: m.name, mimeType: m.mimeType, size: Number(m.size), sha256: m.sha256, artifact: m.artifact || undefined };
}

/** Converts a decision. Throws if its arguments cannot be encoded. */
export function toDecision(decision: Decision): MessageInitShape<typeof pb.DecisionSchema> {
  const { decisionId } = decision;
  switch (decision.verdict) {
    case "approve": {
      const args = decision.arguments ? encodeJSONBytes(decision.arguments) : new Uint8Array();
      return { decisionId, verdict: { case: "approve", value: { arguments: args, reason: decision.reason ?? "" } } };
    }
    case "reject":
      return { decisionId, verdict: { case: "reject", value: { reason: decision.reason ?? "" } } };
    case "answer":
      return { decisionId, verdict: { case: "answer", value: { text: decision.text } } };
    default:
      throw new TypeError("the verdict of a decision must be approve, reject or answer");
  }
}

function fromDecision(m: pb.PendingDecision): PendingDecision {
  return {
    decisionId: m.decisionId,
    kind: nameOf<DecisionKind>(pb.DecisionKind, m.kind),
    callId: m.callId || undefined,
    tool: m.tool || undefined,
    displayName: m.displayName || undefined,
    arguments: decodeText(m.arguments),
    reason: m.reason,
    options: m.options,
    rule: m.rule || undefined,
    requestTime: fromTime(m.requestTime),
    expireTime: fromTime(m.expireTime),
    runId: m.runId || undefined,
    plugin: m.plugin || undefined,
    schema: decodeText(m.schema) || undefined,
  };
}

/** Converts a message to a decision of the inbox. */
export function fromInboxDecision(m: decisionpb.Decision): InboxDecision {
  return {
    name: m.name,
    decisionId: m.decisionId,
    kind: nameOf<DecisionKind>(decisionpb.DecisionKind, m.kind),
    callId: m.callId || undefined,
    tool: m.tool || undefined,
    displayName: m.displayName || undefined,
    arguments: m.arguments,
    reason: m.reason,
    options: m.options,
    rule: m.rule || undefined,
    requestTime: fromTime(m.requestTime),
    expireTime: fromTime(m.expireTime),
    runId: m.runId,
    plugin: m.plugin || undefined,
    schema: m.schema || undefined,
    parentRunId: m.parentRunId || undefined,
    tenant: m.tenant,
    principal: m.principal || undefined,
    fourEyes: m.fourEyes,
    diff: m.diff || undefined,
    cut: m.cut,
    notAllowed: m.notAllowed || undefined,
    waiting: m.state === decisionpb.DecisionState.WAITING,
    verdict: nameOf<Verdict>(decisionpb.Verdict, m.verdict),
    text: m.text,
    decidedBy: m.decidedByName,
    decidedByPrincipal: m.decidedBy || undefined,
    decideTime: fromTime(m.decideTime),
    etag: m.etag || undefined,
    approverGroups: m.approverGroups,
    agent: m.agent || undefined,
    session: m.session || undefined,
    context: m.context || undefined,
  };
}

/** Converts a verdict. Throws if it is none, or its arguments cannot be encoded. */
export function toDecideRequest(
  name: string,
  etag: string,
  verdict: InboxVerdict,
  options: { by?: string; requestId?: string },
) {
  const request = { name, etag, decidedByName: options.by ?? "", requestId: options.requestId ?? "" };
  switch (verdict.verdict) {
    case "approve": {
      const args = verdict.arguments ? encodeJSONBytes(verdict.arguments) : new Uint8Array();
      return { ...request, verdict: decisionpb.Verdict.APPROVE, arguments: args, text: verdict.reason ?? "" };
    }
    case "reject":
      return { ...request, verdict: decisionpb.Verdict.REJECT, text: verdict.reason ?? "" };
    case "answer":
      return { ...request, verdict: decisionpb.Verdict.ANSWER, text: verdict.text };
    default:
      throw new TypeError("the verdict of a decision must be approve, reject or answer");
  }
}

/** Converts a message to the summary of a run. */
export function fromRun(m: pb.Run): Run {
  return {
    runId: m.runId,
    prompt: m.prompt,
    model: m.model,
    state: nameOf<RunState>(pb.RunState, m.state),
    stopReason: nameOf<StopReason>(pb.StopReason, m.stopReason),
    startTime: fromTime(m.startTime),
    updateTime: fromTime(m.updateTime),
    lastSeq: Number(m.lastSeq),
    turns: m.turns,
    calls: m.calls,
    usage: fromUsage(m.usage),
    cost: m.cost,
    pendingDecisions: m.pendingDecisions.map(fromDecision),
    parentRunId: m.parentRunId || undefined,
    interrupted: m.interrupted,
  };
}

/**
 * Converts a message to an event. Returns undefined for an event that this version does not know.
 */
export function fromRunEvent(m: pb.RunEvent): RunEvent | undefined {
  const payload = payloadOf(m.event);
  return payload && { seq: Number(m.seq), index: Number(m.index), time: fromTime(m.time), ...payload };
}

function payloadOf(event: pb.RunEvent["event"]): RunPayload | undefined {
  switch (event.case) {
    case "userMessage":
      return { type: "userMessage", text: event.value.text, attachments: event.value.attachments.map(fromAttachment) };
    case "textDelta":
    case "reasoningDelta":
      return { type: event.case, text: event.value.text };
    case "assistantMessage":
      return assistantMessage(event.value);
    case "callStarted":
    case "callStatus":
    case "callResult":
      return callPayload(event);
    case "argumentDelta": {
      const { callId, tool, text } = event.value;
      return { type: "argumentDelta", callId, tool, text };
    }
    case "answerDelta":
      return { type: "answerDelta", answer: fromJSONBytes(event.value.answer) as Record<string, unknown> };
    case "turnReset":
      return {
        type: "turnReset",
        reason: event.value.reason,
        attempt: event.value.attempt,
        model: event.value.model || undefined,
      };
    case "decisionRequested":
      return event.value.decision && { type: "decisionRequested", decision: fromDecision(event.value.decision) };
    case "decisionMade":
      return decisionMade(event.value);
    default:
      return runPayload(event);
  }
}

type Case<C> = Extract<pb.RunEvent["event"], { case: C }>;

function callPayload(event: Case<"callStarted" | "callStatus" | "callResult">): RunPayload | undefined {
  const { callId, tool } = event.value;
  switch (event.case) {
    case "callStarted": {
      const { attempt, traceparent } = event.value;
      return { type: "callStarted", callId, tool, attempt, traceparent: traceparent || undefined };
    }
    case "callStatus":
      return event.value.status && { type: "callStatus", callId, tool, status: fromStatus(event.value.status) };
    case "callResult": {
      const { result, error, plugin, instance } = event.value;
      return (
        result && {
          type: "callResult",
          callId,
          tool,
          result: fromResult(result),
          error: error && fromError(error),
          plugin: plugin || undefined,
          instance: instance || undefined,
        }
      );
    }
  }
}

function runPayload(event: pb.RunEvent["event"]): RunPayload | undefined {
  switch (event.case) {
    case "runStarted": {
      const { runId, prompt, model, session, parentRunId, parentCallId, agent, fallbacks, traceparent, attachments } =
        event.value;
      return {
        type: "runStarted",
        runId,
        prompt,
        model,
        session,
        parentRunId: parentRunId || undefined,
        parentCallId: parentCallId || undefined,
        agent: agent || undefined,
        fallbacks,
        traceparent: traceparent || undefined,
        attachments: attachments.map(fromAttachment),
      };
    }
    case "cancelRequested": {
      const stopReason = nameOf<StopReason>(pb.StopReason, event.value.stopReason);
      return { type: "cancelRequested", reason: event.value.reason, stopReason };
    }
    case "runFinished": {
      const { stopReason, text, message, turns, calls, usage, cost } = event.value;
      const result = fromJSONBytes(event.value.result) as Record<string, unknown> | undefined;
      const reason = nameOf<StopReason>(pb.StopReason, stopReason);
      return { type: "runFinished", stopReason: reason, text, message, turns, calls, usage: fromUsage(usage), cost, result };
    }
    case "budgetWarning":
      return { type: "budgetWarning", budget: event.value.budget, used: event.value.used, limit: event.value.limit };
    case "contextChange":
      return { type: "contextChange", keys: event.value.keys, refused: event.value.refused };
    case "todoChange":
      return { type: "todoChange", todos: fromJSONBytes(event.value.todos) };
    case "subRunStarted":
      return {
        type: "subRunStarted",
        callId: event.value.callId,
        runId: event.value.runId,
        prompt: event.value.prompt,
        agent: event.value.agent || undefined,
      };
    case "subRunWaiting": {
      const { callId, runId, decisionIds } = event.value;
      return { type: "subRunWaiting", callId, runId, decisionIds };
    }
    case "modelReplied": {
      const { callId, tool, plugin, usage, cost, error } = event.value;
      return { type: "modelReplied", callId, tool, plugin, usage: fromUsage(usage), cost, error: error && fromError(error) };
    }
    case "compacted": {
      const { $typeName, $unknown, usage, ...rest } = event.value;
      return { type: "compacted", ...rest, usage: fromUsage(usage) };
    }
    case "runResumed":
      return { type: "runResumed" };
    default:
      return undefined;
  }
}

function assistantMessage(m: pb.AssistantMessage): RunPayload {
  return {
    type: "assistantMessage",
    text: m.text,
    calls: m.calls.map(({ callId, tool, arguments: args }) => ({ callId, tool, arguments: decodeText(args) })),
    stopReason: m.stopReason,
    usage: fromUsage(m.usage),
    cost: m.cost,
    wastedUsage: fromUsage(m.wastedUsage),
    model: m.model || undefined,
  };
}

function decisionMade(m: pb.DecisionMade): RunPayload {
  return {
    type: "decisionMade",
    decisionId: m.decisionId,
    verdict: nameOf<Verdict>(pb.Verdict, m.verdict),
    arguments: decodeText(m.arguments) || undefined,
    text: m.text,
    decidedBy: m.decidedBy,
  };
}
