import type { ConnectRequest } from "../gen/toolhost/plugin/v1/plugin_pb.js";
import type { Plugin } from "./plugin.js";
import { type Write } from "./wirecall.js";
/** The calls of one stream. */
export declare class CallStream {
    #private;
    constructor(plugin: Plugin, write: Write);
    /** Handles a frame of toolhost without waiting for the call. */
    take(request: ConnectRequest): void;
    /** Cancels all calls and waits for them. */
    close(): Promise<void>;
}
