import type { DescribeRequest, DescribeResponse } from "../gen/toolhost/plugin/v1/plugin_pb.js";
import { type ToolSpec as ToolSpecMessage } from "../gen/toolhost/tool/v1/spec_pb.js";
import { type Plugin } from "./plugin.js";
import { type Schema } from "./schema.js";
import type { Tool } from "./tool.js";
/**
 * The session for which a tool declares itself: its id, empty for none, and the run context as JSON
 * text by key.
 */
export interface Viewer {
    readonly session: string;
    readonly values: Readonly<Record<string, Uint8Array>>;
}
/** The declaration of a tool for a session. */
export interface Described {
    readonly message: ToolSpecMessage;
    readonly input: Schema | undefined;
}
/** Returns the original declaration of a tool. */
export declare function declared({ spec }: Tool): Described;
/**
 * Returns the declaration of a tool for a session. It is the original one if the tool is not
 * dynamic, if there is no session and no context, and if `describe` fails.
 */
export declare function describedFor(t: Tool, viewer: Viewer): Promise<Described>;
/** Returns the declaration of a plugin for a session, with the requested tools or all of them. */
export declare function describePlugin(plugin: Plugin, { tools: names, session, context }: Pick<DescribeRequest, "tools" | "session" | "context">): Promise<DescribeResponse>;
