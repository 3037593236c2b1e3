/** The part of a client that code under test needs: find tools and call them. */
import type { StandardSchema } from "../standard.js";
import type { Outcome } from "./events.js";
import type { Arguments, CallOptions, TypedOutcome } from "./options.js";
import type { ToolInfo, ToolQuery, Viewer } from "./tools.js";
/**
 * Lists and calls tools. `Toolhost` implements it with a toolhost. `TestHost.client` implements it
 * with the tools of one plugin, in the process of a test. Functions that take a ToolCaller run
 * unchanged in production and in tests.
 */
export interface ToolCaller {
    /** Returns the matching tools, ordered by name. */
    listTools(query?: ToolQuery): Promise<ToolInfo[]>;
    /** Returns one tool. Error kinds: not_found. */
    getTool(name: string, viewer?: Viewer): Promise<ToolInfo>;
    /** Executes a call and returns its outcome. Throws a ToolhostError for infrastructure errors. */
    call<O>(tool: string, args: Arguments, options: CallOptions & {
        output: StandardSchema<unknown, O>;
    }): Promise<TypedOutcome<O>>;
    call(tool: string, args?: Arguments, options?: CallOptions): Promise<Outcome>;
}
