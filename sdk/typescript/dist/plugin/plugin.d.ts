/** Plugins: their declaration, its validation, and its conversion to messages. */
import { type MessageInitShape } from "@bufbuild/protobuf";
import { type DescribeResponse } from "../gen/toolhost/plugin/v1/plugin_pb.js";
import type { ToolSpecSchema } from "../gen/toolhost/tool/v1/spec_pb.js";
import type { Filter } from "./filter.js";
import { type Schema } from "./schema.js";
import type { InputExample, Tool, ToolSpec } from "./tool.js";
/** The permissions that a plugin requests. Only the configuration of the operator grants them. */
export interface Permissions {
    /** Access to the network. Default: false. */
    readonly network?: boolean;
    /** Access to the workspace. Default: none. */
    readonly workspace?: "none" | "read" | "write";
    /** Absolute paths of further files and folders that the plugin reads. */
    readonly read?: readonly string[];
    /** Absolute paths of further files and folders that the plugin changes. */
    readonly write?: readonly string[];
}
/** An executable with tools, filters or both. `serve` runs it. */
export interface Plugin {
    /** 1 to 64 of the characters A-Z a-z 0-9 _ -, beginning with a letter. */
    readonly name: string;
    /** Any text, usually a semantic version. */
    readonly version?: string;
    /** One line for operators. */
    readonly description?: string;
    /** The tools. A plugin must have a tool or a filter, and all names must differ. */
    readonly tools?: readonly Tool[];
    /** The filters. */
    readonly filters?: readonly Filter[];
    /** The tags of tools that declare none. */
    readonly defaultTags?: readonly string[];
    /** The permissions that the plugin requests. Default: none. */
    readonly permissions?: Permissions;
    /**
     * Runs once before the plugin serves calls, for example to open a connection pool. If it throws,
     * the plugin logs the error and exits with code 1.
     */
    readonly open?: () => void | Promise<void>;
    /**
     * Runs once after all calls have ended. It does not run if the calls do not end within four
     * seconds.
     */
    readonly close?: () => void | Promise<void>;
}
/**
 * Returns one line for each problem in the declarations of a plugin and its tools. An empty list
 * means that the plugin is valid. `serve` exits with these problems, and `TestHost` throws them.
 */
export declare function validatePlugin(plugin: Plugin): string[];
/** Returns the JSON text of an input schema. Throws if its type is not object. */
export declare function checkInputSchema(input: Schema | undefined): string;
/**
 * Converts the declaration of a plugin to its message. Throws if a schema or a value cannot be
 * encoded.
 */
export declare function descriptionOf(plugin: Plugin): DescribeResponse;
/** Converts the declaration of a tool to its message. */
export declare function specMessage(spec: Readonly<ToolSpec>): MessageInitShape<typeof ToolSpecSchema>;
/** Converts an example to its message. */
export declare function exampleMessage(example: InputExample): {
    description: string;
    arguments: Uint8Array;
};
