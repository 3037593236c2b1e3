/** Conversion between the types of runs and the messages of agentd.v1. */
import { type MessageInitShape } from "@bufbuild/protobuf";
import * as pb from "../gen/agentd/v1/agent_service_pb.js";
import * as decisionpb from "../gen/toolhost/decision/v1/decision_service_pb.js";
import type { RunEvent } from "./runevents.js";
import type { Attachment, Decision, InboxDecision, InboxVerdict, Run, RunOptions, RunState } from "./runs.js";
/** Converts the states of a filter. Throws a TypeError for an unknown state. */
export declare function toStates(wanted?: readonly RunState[]): pb.RunState[];
/** Converts the options of a run. Throws if a value cannot be encoded. */
export declare function toStartRequest(options: RunOptions): pb.StartRunRequest;
/** Converts attachments. Throws a TypeError for one with both data and an artifact, or with neither. */
export declare function toAttachments(attachments?: readonly Attachment[]): MessageInitShape<typeof pb.AttachmentSchema>[];
/** Converts a decision. Throws if its arguments cannot be encoded. */
export declare function toDecision(decision: Decision): MessageInitShape<typeof pb.DecisionSchema>;
/** Converts a message to a decision of the inbox. */
export declare function fromInboxDecision(m: decisionpb.Decision): InboxDecision;
/** Converts a verdict. Throws if it is none, or its arguments cannot be encoded. */
export declare function toDecideRequest(name: string, etag: string, verdict: InboxVerdict, options: {
    by?: string;
    requestId?: string;
}): {
    name: string;
    etag: string;
    decidedByName: string;
    requestId: string;
    verdict: decisionpb.Verdict;
    arguments: Uint8Array<ArrayBufferLike>;
    text: string;
} | {
    name: string;
    etag: string;
    decidedByName: string;
    requestId: string;
    verdict: decisionpb.Verdict;
    text: string;
};
/** Converts a message to the summary of a run. */
export declare function fromRun(m: pb.Run): Run;
/**
 * Converts a message to an event. Returns undefined for an event that this version does not know.
 */
export declare function fromRunEvent(m: pb.RunEvent): RunEvent | undefined;
