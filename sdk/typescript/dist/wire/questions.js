/** Conversion of questions and answers between the types of the SDK and the messages. */
import { create } from "@bufbuild/protobuf";
import { ToolhostError } from "../error.js";
import { AnswerSchema, ModelQuestionSchema, ModelRole, PersonAction, PersonQuestionSchema, QuestionKindsSchema, } from "../gen/toolhost/tool/v1/question_pb.js";
import { decodeText, encodeJSONBytes, parseJSON } from "../json.js";
import { Words } from "./enums.js";
import { fromContent, fromError, fromUsage, toContent, toError, toUsage } from "./messages.js";
import { fromDuration, toDuration, wellFormed } from "./scalars.js";
const actions = new Words({
    accept: PersonAction.ACCEPT,
    decline: PersonAction.DECLINE,
    dismiss: PersonAction.DISMISS,
});
/** Converts kinds of questions. No kind gives undefined: an unset field. */
export function toKinds(kinds) {
    if (kinds.length === 0) {
        return undefined;
    }
    return create(QuestionKindsSchema, { person: kinds.includes("person"), model: kinds.includes("model") });
}
/** Converts kinds of questions. */
export function fromKinds(kinds) {
    return [...(kinds?.person ? ["person"] : []), ...(kinds?.model ? ["model"] : [])];
}
/** Converts a question for a person. */
export function toPersonQuestion({ message, schema, timeoutMs }) {
    return create(PersonQuestionSchema, {
        message: wellFormed(message),
        ...(schema && { schema: encodeJSONBytes(schema) }),
        ...(timeoutMs !== undefined && { timeout: toDuration(timeoutMs) }),
    });
}
/** Converts a question for a person. */
export function fromPersonQuestion({ message, schema, timeout }) {
    const parsed = schema.length > 0 ? parseJSON(decodeText(schema)) : undefined;
    return { message, schema: parsed, timeoutMs: fromDuration(timeout) };
}
/** Converts a question for a model. */
export function toModelQuestion({ system = "", messages, maxTokens = 0, timeoutMs }) {
    return create(ModelQuestionSchema, {
        system: wellFormed(system),
        messages: messages.map(({ role, content }) => ({
            role: role === "assistant" ? ModelRole.ASSISTANT : ModelRole.USER,
            content: content.map(toContent),
        })),
        maxTokens,
        ...(timeoutMs !== undefined && { timeout: toDuration(timeoutMs) }),
    });
}
/** Converts a question for a model. */
export function fromModelQuestion({ system, messages, maxTokens, timeout }) {
    return {
        system: system || undefined,
        messages: messages.map(({ role, content }) => ({
            role: role === ModelRole.ASSISTANT ? "assistant" : "user",
            content: content.map(fromContent).filter((block) => block !== undefined),
        })),
        maxTokens: maxTokens || undefined,
        timeoutMs: fromDuration(timeout),
    };
}
/** Converts an answer. */
export function toAnswer(answer) {
    if ("error" in answer) {
        return create(AnswerSchema, { answer: { case: "error", value: toError(answer.error) } });
    }
    if ("model" in answer) {
        const { model, content, stopReason, usage } = answer.model;
        const value = {
            model: wellFormed(model),
            content: content.map(toContent),
            stopReason: wellFormed(stopReason),
            ...(usage && { usage: toUsage(usage) }),
        };
        return create(AnswerSchema, { answer: { case: "model", value } });
    }
    const { person } = answer;
    const content = person.action === "accept" ? encodeJSONBytes(person.content) : new Uint8Array();
    return create(AnswerSchema, { answer: { case: "person", value: { action: actions.number(person.action), content } } });
}
/** Converts an answer. Throws the error that says why there is none. */
export function fromAnswer(message) {
    const answer = message?.answer;
    switch (answer?.case) {
        case "person": {
            const action = actions.word(answer.value.action) ?? "dismiss";
            if (action !== "accept") {
                return { action };
            }
            return { action, content: parseJSON(decodeText(answer.value.content)) };
        }
        case "model": {
            const { model, content, stopReason, usage } = answer.value;
            return {
                model,
                content: content.map(fromContent).filter((block) => block !== undefined),
                stopReason,
                usage: usage && fromUsage(usage),
            };
        }
        case "error":
            throw fromError(answer.value);
        default:
            throw new ToolhostError("internal", "toolhost sent an answer of an unknown kind");
    }
}
