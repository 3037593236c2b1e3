import { QuestionEnd as PbEnd, } from "../gen/toolhost/v1/tool_service_pb.js";
import { Pieces } from "../wire/chunks.js";
import { Words } from "../wire/enums.js";
import { fromError, fromLogRecord, fromResult, fromStatus } from "../wire/messages.js";
import { fromKinds, fromModelQuestion, fromPersonQuestion } from "../wire/questions.js";
import { fromTime } from "../wire/scalars.js";
const questionEnds = new Words({
    answered: PbEnd.ANSWERED,
    expired: PbEnd.EXPIRED,
    abandoned: PbEnd.ABANDONED,
});
/** Converts messages to events, and joins the chunks of large results. */
export class EventReader {
    #pieces = new Pieces();
    /**
     * Returns the event of a message. Returns undefined for a chunk and for a message of an unknown
     * kind.
     */
    read(message) {
        const { event } = message;
        const base = { seq: Number(message.seq), time: fromTime(message.time) ?? new Date() };
        switch (event.case) {
            case "started": {
                const { callId, plugin, instance, attempt, asks } = event.value;
                return { type: "started", ...base, callId, plugin, instance, attempt, asks: fromKinds(asks) };
            }
            case "status":
                return { type: "status", ...base, status: fromStatus(event.value) };
            case "log":
                return { type: "log", ...base, record: fromLogRecord(event.value) };
            case "question": {
                const { id, callId, plugin, tool, expireTime, question } = event.value;
                const person = question.case === "person" ? fromPersonQuestion(question.value) : undefined;
                const model = question.case === "model" ? fromModelQuestion(question.value) : undefined;
                if (!person && !model) {
                    return undefined;
                }
                return { type: "question", ...base, question: id, callId, plugin, tool, expires: fromTime(expireTime), person, model };
            }
            case "questionClosed": {
                const { question, reason } = event.value;
                return { type: "question_closed", ...base, question, reason: questionEnds.word(reason) ?? "abandoned" };
            }
            case "chunk":
                this.#pieces.add(event.value);
                return undefined;
            case "ended":
                return { ...base, ...this.#ended(event.value) };
            default:
                return undefined;
        }
    }
    #ended({ callId, plugin, instance, replayed, outcome }) {
        const ended = { type: "ended", callId, plugin: plugin || undefined, instance: instance || undefined, replayed };
        if (outcome.case === "error") {
            return { ...ended, result: undefined, error: fromError(outcome.value) };
        }
        if (outcome.case === "result") {
            this.#pieces.join(outcome.value.content);
        }
        return { ...ended, result: outcome.case === "result" ? fromResult(outcome.value) : undefined, error: undefined };
    }
}
