import type { ModelAnswer, ModelQuestion, PersonAnswer, PersonQuestion } from "../question.js";
import type { Status } from "../status.js";
import { type Artifact } from "./artifact.js";
import { type Call, type Logger } from "./call.js";
import type { WireCall } from "./wirecall.js";
/** The Call that a tool receives. */
export declare class RunningCall implements Call {
    #private;
    readonly id: string;
    readonly effectKey: string;
    readonly tool: string;
    readonly attempt: number;
    readonly session: string | undefined;
    readonly workspace: string | undefined;
    readonly context: Readonly<Record<string, unknown>>;
    readonly secrets: Readonly<Record<string, string>>;
    readonly traceparent: string | undefined;
    readonly log: Logger;
    argumentsText: string;
    constructor(wire: WireCall, contextKeys: readonly string[]);
    get deadline(): Date | undefined;
    get signal(): AbortSignal;
    openArtifact(handle: string): Promise<Artifact>;
    ask(question: PersonQuestion): Promise<PersonAnswer>;
    complete(question: ModelQuestion): Promise<ModelAnswer>;
    status(status: Status): void;
    progress(done: number, total?: number, message?: string): void;
    flush(): Promise<void>;
    /** Records the end of the previews. */
    execute(): void;
    /**
     * Sends a terminal state if the tool has reported a status, rejects later reports, and waits
     * until all is sent.
     */
    finish(ok: boolean): Promise<void>;
}
