/** The requests about decisions, which agentd and toolhost serve alike. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type DecideRequestSchema, type GetDecisionRequestSchema, type ListDecisionsRequestSchema, type WatchDecisionsRequestSchema } from "../gen/toolhost/decision/v1/decision_service_pb.js";
import type { Link } from "./link.js";
import type { InboxChange, InboxDecision, InboxPage } from "./runs.js";
/** Returns one page of decisions. */
export declare function readPage(link: Link, request: MessageInitShape<typeof ListDecisionsRequestSchema>, signal?: AbortSignal): Promise<InboxPage>;
/** Yields the decisions of all pages. */
export declare function readPages(link: Link, request: MessageInitShape<typeof ListDecisionsRequestSchema>, signal?: AbortSignal): AsyncGenerator<InboxDecision>;
/** Yields what waits, and then what becomes of it. */
export declare function readChanges(link: Link, request: MessageInitShape<typeof WatchDecisionsRequestSchema>, signal?: AbortSignal): AsyncGenerator<InboxChange>;
/** Returns one decision as a whole. */
export declare function readDecision(link: Link, request: MessageInitShape<typeof GetDecisionRequestSchema>, signal?: AbortSignal): Promise<InboxDecision>;
/** Makes one decision, and returns it as it was made. */
export declare function makeDecision(link: Link, request: MessageInitShape<typeof DecideRequestSchema>, signal?: AbortSignal): Promise<InboxDecision>;
