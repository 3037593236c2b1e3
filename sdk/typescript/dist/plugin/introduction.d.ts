import type { DescribeResponse } from "../gen/toolhost/plugin/v1/plugin_pb.js";
import type { Plugin } from "./plugin.js";
/** Returns what the plugin prints if a person starts it by hand. */
export declare function introduction(plugin: Plugin, program: string): string;
/** Returns what the plugin prints if its declaration is invalid. */
export declare function complaint(plugin: Plugin, problems: readonly string[]): string;
/** Returns the declaration as JSON, with the same members as in the Go SDK. */
export declare function descriptionJSON(d: DescribeResponse): string;
