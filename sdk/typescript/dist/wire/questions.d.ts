import { type Answer as PbAnswer, type ModelQuestion as PbModelQuestion, type PersonQuestion as PbPersonQuestion, type QuestionKinds } from "../gen/toolhost/tool/v1/question_pb.js";
import type { Answer, ModelAnswer, ModelQuestion, PersonAnswer, PersonQuestion, QuestionKind } from "../question.js";
/** Converts kinds of questions. No kind gives undefined: an unset field. */
export declare function toKinds(kinds: readonly QuestionKind[]): QuestionKinds | undefined;
/** Converts kinds of questions. */
export declare function fromKinds(kinds: QuestionKinds | undefined): QuestionKind[];
/** Converts a question for a person. */
export declare function toPersonQuestion({ message, schema, timeoutMs }: PersonQuestion): PbPersonQuestion;
/** Converts a question for a person. */
export declare function fromPersonQuestion({ message, schema, timeout }: PbPersonQuestion): PersonQuestion;
/** Converts a question for a model. */
export declare function toModelQuestion({ system, messages, maxTokens, timeoutMs }: ModelQuestion): PbModelQuestion;
/** Converts a question for a model. */
export declare function fromModelQuestion({ system, messages, maxTokens, timeout }: PbModelQuestion): ModelQuestion;
/** Converts an answer. */
export declare function toAnswer(answer: Answer): PbAnswer;
/** Converts an answer. Throws the error that says why there is none. */
export declare function fromAnswer(message: PbAnswer | undefined): PersonAnswer | ModelAnswer;
