import { ToolhostError } from "../error.js";
import { DecisionService, } from "../gen/toolhost/decision/v1/decision_service_pb.js";
import { fromInboxDecision } from "./runwire.js";
/** Returns one page of decisions. */
export async function readPage(link, request, signal) {
    const page = await link.unary(DecisionService.method.listDecisions, request, signal);
    const decisions = page.decisions.map(fromInboxDecision);
    const { nextPageToken, unavailable, position } = page;
    return { decisions, nextPageToken: nextPageToken || undefined, unavailable, position: position || undefined };
}
/** Yields the decisions of all pages. */
export async function* readPages(link, request, signal) {
    for (let pageToken = "";;) {
        const page = await readPage(link, { ...request, pageToken }, signal);
        yield* page.decisions;
        if (page.nextPageToken === undefined) {
            return;
        }
        pageToken = page.nextPageToken;
    }
}
/** Yields what waits, and then what becomes of it. */
export async function* readChanges(link, request, signal) {
    for await (const m of link.stream(DecisionService.method.watchDecisions, request, signal)) {
        const { restart, complete, unavailable } = m;
        const decisions = m.decisions.map(fromInboxDecision);
        yield { restart, source: m.source || undefined, decisions, complete, position: m.position || undefined, unavailable };
    }
}
/** Returns one decision as a whole. */
export async function readDecision(link, request, signal) {
    return whole((await link.unary(DecisionService.method.getDecision, request, signal)).decision);
}
/** Makes one decision, and returns it as it was made. */
export async function makeDecision(link, request, signal) {
    return whole((await link.unary(DecisionService.method.decide, request, signal)).decision);
}
function whole(decision) {
    if (!decision) {
        throw new ToolhostError("internal", "the server returned no decision");
    }
    return fromInboxDecision(decision);
}
