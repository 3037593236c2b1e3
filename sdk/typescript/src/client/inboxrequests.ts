/** The requests about decisions, which agentd and toolhost serve alike. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { ToolhostError } from "../error.js";
import {
  type DecideRequestSchema,
  type Decision,
  DecisionService,
  type GetDecisionRequestSchema,
  type ListDecisionsRequestSchema,
  type WatchDecisionsRequestSchema,
} from "../gen/toolhost/decision/v1/decision_service_pb.js";
import type { Link } from "./link.js";
import type { InboxChange, InboxDecision, InboxPage } from "./runs.js";
import { fromInboxDecision } from "./runwire.js";

/** Returns one page of decisions. */
export async function readPage(
  link: Link,
  request: MessageInitShape<typeof ListDecisionsRequestSchema>,
  signal?: AbortSignal,
): Promise<InboxPage> {
  const page = await link.unary(DecisionService.method.listDecisions, request, signal);
  const decisions = page.decisions.map(fromInboxDecision);
  const { nextPageToken, unavailable, position } = page;
  return { decisions, nextPageToken: nextPageToken || undefined, unavailable, position: position || undefined };
}

/** Yields the decisions of all pages. */
export async function* readPages(
  link: Link,
  request: MessageInitShape<typeof ListDecisionsRequestSchema>,
  signal?: AbortSignal,
): AsyncGenerator<InboxDecision> {
  for (let pageToken = ""; ; ) {
    const page = await readPage(link, { ...request, pageToken }, signal);
    yield* page.decisions;
    if (page.nextPageToken === undefined) {
      return;
    }
    pageToken = page.nextPageToken;
  }
}

/** Yields what waits, and then what becomes of it. */
export async function* readChanges(
  link: Link,
  request: MessageInitShape<typeof WatchDecisionsRequestSchema>,
  signal?: AbortSignal,
): AsyncGenerator<InboxChange> {
  for await (const m of link.stream(DecisionService.method.watchDecisions, request, signal)) {
    const { restart, complete, unavailable } = m;
    const decisions = m.decisions.map(fromInboxDecision);
    yield { restart, source: m.source || undefined, decisions, complete, position: m.position || undefined, unavailable };
  }
}

/** Returns one decision as a whole. */
export async function readDecision(
  link: Link,
  request: MessageInitShape<typeof GetDecisionRequestSchema>,
  signal?: AbortSignal,
): Promise<InboxDecision> {
  return whole((await link.unary(DecisionService.method.getDecision, request, signal)).decision);
}

/** Makes one decision, and returns it as it was made. */
export async function makeDecision(
  link: Link,
  request: MessageInitShape<typeof DecideRequestSchema>,
  signal?: AbortSignal,
): Promise<InboxDecision> {
  return whole((await link.unary(DecisionService.method.decide, request, signal)).decision);
}

function whole(decision: Decision | undefined): InboxDecision {
  if (!decision) {
    throw new ToolhostError("internal", "the server returned no decision");
  }
  return fromInboxDecision(decision);
}
