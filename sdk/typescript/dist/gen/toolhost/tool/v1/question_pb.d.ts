import type { GenEnum, GenFile, GenMessage } from "@bufbuild/protobuf/codegenv2";
import type { Duration } from "@bufbuild/protobuf/wkt";
import type { Error } from "./error_pb.js";
import type { Content, Usage } from "./result_pb.js";
import type { Message } from "@bufbuild/protobuf";
/**
 * Describes the file toolhost/tool/v1/question.proto.
 */
export declare const file_toolhost_tool_v1_question: GenFile;
/**
 * QuestionKinds says what a tool may ask during a call. The operator permits each plugin the kinds that
 * its tools may ask, and the caller says which kinds it answers.
 *
 * @generated from message toolhost.tool.v1.QuestionKinds
 */
export type QuestionKinds = Message<"toolhost.tool.v1.QuestionKinds"> & {
    /**
     * A PersonQuestion.
     *
     * @generated from field: bool person = 1;
     */
    person: boolean;
    /**
     * A ModelQuestion.
     *
     * @generated from field: bool model = 2;
     */
    model: boolean;
    /**
     * A RootsQuestion.
     *
     * @generated from field: bool roots = 3;
     */
    roots: boolean;
};
/**
 * Describes the message toolhost.tool.v1.QuestionKinds.
 * Use `create(QuestionKindsSchema)` to create a new message.
 */
export declare const QuestionKindsSchema: GenMessage<QuestionKinds>;
/**
 * PersonQuestion asks a person for values. The plugin wrote it, so a program that shows it names the
 * plugin, and escapes control characters.
 *
 * @generated from message toolhost.tool.v1.PersonQuestion
 */
export type PersonQuestion = Message<"toolhost.tool.v1.PersonQuestion"> & {
    /**
     * What the person reads, as plain text. Must not be empty.
     *
     * @generated from field: string message = 1;
     */
    message: string;
    /**
     * A JSON Schema of type `object` for PersonAnswer.content. Programs show one input for each
     * property, so use few properties with plain types, and describe each. From a plugin, empty means
     * an object with one text, `answer`. toolhost sends the schema always.
     *
     * @generated from field: bytes schema = 2;
     */
    schema: Uint8Array;
    /**
     * How long the tool waits for the answer. toolhost shortens it to its own limit. Unset means that
     * limit.
     *
     * @generated from field: google.protobuf.Duration timeout = 3;
     */
    timeout?: Duration | undefined;
};
/**
 * Describes the message toolhost.tool.v1.PersonQuestion.
 * Use `create(PersonQuestionSchema)` to create a new message.
 */
export declare const PersonQuestionSchema: GenMessage<PersonQuestion>;
/**
 * ModelQuestion asks for one response of the caller's language model. The caller chooses the model.
 *
 * @generated from message toolhost.tool.v1.ModelQuestion
 */
export type ModelQuestion = Message<"toolhost.tool.v1.ModelQuestion"> & {
    /**
     * The system prompt. May be empty.
     *
     * @generated from field: string system = 1;
     */
    system: string;
    /**
     * The conversation. It begins and ends with a message of the user. Must not be empty.
     *
     * @generated from field: repeated toolhost.tool.v1.ModelMessage messages = 2;
     */
    messages: ModelMessage[];
    /**
     * The maximum number of tokens of the response. The caller may use less. 0 means the caller's
     * default.
     *
     * @generated from field: uint32 max_tokens = 3;
     */
    maxTokens: number;
    /**
     * How long the tool waits for the answer. toolhost shortens it to its own limit. Unset means that
     * limit.
     *
     * @generated from field: google.protobuf.Duration timeout = 4;
     */
    timeout?: Duration | undefined;
};
/**
 * Describes the message toolhost.tool.v1.ModelQuestion.
 * Use `create(ModelQuestionSchema)` to create a new message.
 */
export declare const ModelQuestionSchema: GenMessage<ModelQuestion>;
/**
 * RootsQuestion asks for the folders in which the caller's program works. Only MCP servers ask it.
 *
 * @generated from message toolhost.tool.v1.RootsQuestion
 */
export type RootsQuestion = Message<"toolhost.tool.v1.RootsQuestion"> & {};
/**
 * Describes the message toolhost.tool.v1.RootsQuestion.
 * Use `create(RootsQuestionSchema)` to create a new message.
 */
export declare const RootsQuestionSchema: GenMessage<RootsQuestion>;
/**
 * ModelMessage is one message of a conversation with a model.
 *
 * @generated from message toolhost.tool.v1.ModelMessage
 */
export type ModelMessage = Message<"toolhost.tool.v1.ModelMessage"> & {
    /**
     * The author.
     *
     * @generated from field: toolhost.tool.v1.ModelRole role = 1;
     */
    role: ModelRole;
    /**
     * The content. Every caller that answers for models accepts text. A caller may refuse other
     * blocks with the error UNSUPPORTED.
     *
     * @generated from field: repeated toolhost.tool.v1.Content content = 2;
     */
    content: Content[];
};
/**
 * Describes the message toolhost.tool.v1.ModelMessage.
 * Use `create(ModelMessageSchema)` to create a new message.
 */
export declare const ModelMessageSchema: GenMessage<ModelMessage>;
/**
 * Answer answers a question.
 *
 * @generated from message toolhost.tool.v1.Answer
 */
export type Answer = Message<"toolhost.tool.v1.Answer"> & {
    /**
     * The answer. Exactly one is set, and it is of the kind of the question, or an error.
     *
     * @generated from oneof toolhost.tool.v1.Answer.answer
     */
    answer: {
        /**
         * Answers a PersonQuestion.
         *
         * @generated from field: toolhost.tool.v1.PersonAnswer person = 1;
         */
        value: PersonAnswer;
        case: "person";
    } | {
        /**
         * Answers a ModelQuestion.
         *
         * @generated from field: toolhost.tool.v1.ModelAnswer model = 2;
         */
        value: ModelAnswer;
        case: "model";
    } | {
        /**
         * There is no answer. Kinds that tools should expect: UNSUPPORTED if the operator does not permit
         * the question or the caller cannot answer it, RATE_LIMITED beyond the limits of toolhost or of
         * the caller, TIMEOUT if the time is over, INVALID_ARGUMENT if the question is malformed.
         *
         * @generated from field: toolhost.tool.v1.Error error = 3;
         */
        value: Error;
        case: "error";
    } | {
        /**
         * Answers a RootsQuestion.
         *
         * @generated from field: toolhost.tool.v1.RootsAnswer roots = 4;
         */
        value: RootsAnswer;
        case: "roots";
    } | {
        case: undefined;
        value?: undefined;
    };
};
/**
 * Describes the message toolhost.tool.v1.Answer.
 * Use `create(AnswerSchema)` to create a new message.
 */
export declare const AnswerSchema: GenMessage<Answer>;
/**
 * PersonAnswer is the answer of a person.
 *
 * @generated from message toolhost.tool.v1.PersonAnswer
 */
export type PersonAnswer = Message<"toolhost.tool.v1.PersonAnswer"> & {
    /**
     * What the person did.
     *
     * @generated from field: toolhost.tool.v1.PersonAction action = 1;
     */
    action: PersonAction;
    /**
     * The values, a JSON object that fits PersonQuestion.schema. Empty unless the person accepted.
     *
     * @generated from field: bytes content = 2;
     */
    content: Uint8Array;
};
/**
 * Describes the message toolhost.tool.v1.PersonAnswer.
 * Use `create(PersonAnswerSchema)` to create a new message.
 */
export declare const PersonAnswerSchema: GenMessage<PersonAnswer>;
/**
 * ModelAnswer is the response of a model.
 *
 * @generated from message toolhost.tool.v1.ModelAnswer
 */
export type ModelAnswer = Message<"toolhost.tool.v1.ModelAnswer"> & {
    /**
     * The name of the model, as text.
     *
     * @generated from field: string model = 1;
     */
    model: string;
    /**
     * The response.
     *
     * @generated from field: repeated toolhost.tool.v1.Content content = 2;
     */
    content: Content[];
    /**
     * Why the response ended, in the terms of the model's provider, such as `end_turn` or
     * `max_tokens`. May be empty.
     *
     * @generated from field: string stop_reason = 3;
     */
    stopReason: string;
    /**
     * The tokens that the response used. Unset means unknown.
     *
     * @generated from field: toolhost.tool.v1.Usage usage = 4;
     */
    usage?: Usage | undefined;
};
/**
 * Describes the message toolhost.tool.v1.ModelAnswer.
 * Use `create(ModelAnswerSchema)` to create a new message.
 */
export declare const ModelAnswerSchema: GenMessage<ModelAnswer>;
/**
 * RootsAnswer lists the folders of a caller. It grants nothing: the sandbox of the plugin decides what
 * the plugin can reach.
 *
 * @generated from message toolhost.tool.v1.RootsAnswer
 */
export type RootsAnswer = Message<"toolhost.tool.v1.RootsAnswer"> & {
    /**
     * The folders.
     *
     * @generated from field: repeated toolhost.tool.v1.Root roots = 1;
     */
    roots: Root[];
};
/**
 * Describes the message toolhost.tool.v1.RootsAnswer.
 * Use `create(RootsAnswerSchema)` to create a new message.
 */
export declare const RootsAnswerSchema: GenMessage<RootsAnswer>;
/**
 * Root is a folder of a caller.
 *
 * @generated from message toolhost.tool.v1.Root
 */
export type Root = Message<"toolhost.tool.v1.Root"> & {
    /**
     * The URI of the folder, which begins with `file://`.
     *
     * @generated from field: string uri = 1;
     */
    uri: string;
    /**
     * A name for people. May be empty.
     *
     * @generated from field: string name = 2;
     */
    name: string;
};
/**
 * Describes the message toolhost.tool.v1.Root.
 * Use `create(RootSchema)` to create a new message.
 */
export declare const RootSchema: GenMessage<Root>;
/**
 * ModelRole is the author of a message.
 *
 * @generated from enum toolhost.tool.v1.ModelRole
 */
export declare enum ModelRole {
    /**
     * Not set: the user.
     *
     * @generated from enum value: MODEL_ROLE_UNSPECIFIED = 0;
     */
    UNSPECIFIED = 0,
    /**
     * The user, for whom the tool writes.
     *
     * @generated from enum value: MODEL_ROLE_USER = 1;
     */
    USER = 1,
    /**
     * The model.
     *
     * @generated from enum value: MODEL_ROLE_ASSISTANT = 2;
     */
    ASSISTANT = 2
}
/**
 * Describes the enum toolhost.tool.v1.ModelRole.
 */
export declare const ModelRoleSchema: GenEnum<ModelRole>;
/**
 * PersonAction is what a person does with a question.
 *
 * @generated from enum toolhost.tool.v1.PersonAction
 */
export declare enum PersonAction {
    /**
     * Not set. toolhost refuses the answer.
     *
     * @generated from enum value: PERSON_ACTION_UNSPECIFIED = 0;
     */
    UNSPECIFIED = 0,
    /**
     * The person gave the values.
     *
     * @generated from enum value: PERSON_ACTION_ACCEPT = 1;
     */
    ACCEPT = 1,
    /**
     * The person refused to give them.
     *
     * @generated from enum value: PERSON_ACTION_DECLINE = 2;
     */
    DECLINE = 2,
    /**
     * The person closed the question without a choice.
     *
     * @generated from enum value: PERSON_ACTION_DISMISS = 3;
     */
    DISMISS = 3
}
/**
 * Describes the enum toolhost.tool.v1.PersonAction.
 */
export declare const PersonActionSchema: GenEnum<PersonAction>;
