/** The toolhost side of the plugin protocol, in memory. */
import { type MessageInitShape } from "@bufbuild/protobuf";
import type { Content, Result } from "../content.js";
import { ToolhostError } from "../error.js";
import { ConnectRequestSchema, type StartCallSchema } from "../gen/toolhost/plugin/v1/plugin_pb.js";
import type { Plugin } from "../plugin/plugin.js";
import type { Settlement } from "../settlement.js";
import type { LogRecord, Status } from "../status.js";
import type { Answerer } from "./host.js";
type Frame = NonNullable<MessageInitShape<typeof ConnectRequestSchema>["frame"]>;
/** The reports of a running call. */
export interface Heard {
    readonly statuses: Status[];
    readonly logs: LogRecord[];
    /** Runs after each status and record. */
    news(): void;
}
/** The end of a call. */
export interface Ended {
    readonly result: Result | undefined;
    readonly error: ToolhostError | undefined;
    readonly settlement?: Settlement;
}
/** Runs the calls of one plugin. */
export declare class MemoryToolhost {
    #private;
    constructor(plugin: Plugin);
    /** Starts a call, and returns its number and its end. */
    open(start: MessageInitShape<typeof StartCallSchema>, heard: Heard, artifacts: Readonly<Record<string, Content>>, answer: Answerer | undefined): {
        number: number;
        ended: Promise<Ended>;
    };
    /** Sends a frame of a call. */
    send(number: number, frame: Frame): void;
    /** Cancels all calls and waits for them. */
    close(): Promise<void>;
}
export {};
