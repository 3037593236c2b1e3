import type { Plugin } from "./plugin.js";
/** The events that `serve` handles. */
export interface Events {
    /** toolhost has connected. */
    connected(): void;
    /** A connection has ended. */
    disconnected(): void;
    /** toolhost requested the end of the plugin, or its stream has ended. */
    over(): void;
}
/** A plugin's gRPC server. */
export declare class PluginServer {
    #private;
    constructor(plugin: Plugin, events: Events);
    /** Listens in a folder, and returns the path of the socket. */
    listen(folder: string): Promise<string>;
    /** Cancels all calls and waits for them. */
    close(): Promise<void>;
}
