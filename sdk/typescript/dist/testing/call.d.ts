/** A call in a test. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Result } from "../content.js";
import type { ToolhostError } from "../error.js";
import type { StartCallSchema } from "../gen/toolhost/plugin/v1/plugin_pb.js";
import type { LogRecord, Status } from "../status.js";
import type { TestOptions } from "./host.js";
import type { MemoryToolhost } from "./toolhost.js";
/** A call in a test. Its properties are complete once `ended` has settled. */
export declare class TestCall {
    #private;
    /** The statuses that the tool reported, in order. */
    readonly statuses: Status[];
    /** The records that the tool logged, in order. */
    readonly logs: LogRecord[];
    /** Settles when the call has ended. It never rejects. */
    readonly ended: Promise<void>;
    /** The result of the tool. Undefined before the end, and if there is an error. */
    result: Result | undefined;
    /** The infrastructure error. Undefined before the end, and if the tool returned a result. */
    error: ToolhostError | undefined;
    /**
     * Use TestHost. `refusal` is the message of toolhost for arguments that do not fit the schema.
     */
    constructor(toolhost: MemoryToolhost, start: MessageInitShape<typeof StartCallSchema>, options: TestOptions, refusal?: string);
    /** The result as text. Empty before the end. Throws the error if there is one. */
    get text(): string;
    /** The value of the only JSON block. Throws the error if there is one. */
    get value(): unknown;
    /** Whether the tool reports a failure. */
    get isError(): boolean;
    /** Sends the next piece of argument text. */
    append(text: string | Uint8Array): void;
    /** Marks the arguments as complete. If `text` is given, it replaces the text that was sent. */
    complete(text?: string): void;
    /** Requests cancellation of the call. */
    cancel(reason?: string): void;
    /** Waits for a status for which `fits` returns true. Rejects if the call ends without one. */
    status(fits: (status: Status) => boolean): Promise<Status>;
}
