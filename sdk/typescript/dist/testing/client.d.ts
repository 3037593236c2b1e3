/** A client whose toolhost is the plugin under test. */
import type { ToolCaller } from "../client/caller.js";
import type { Outcome } from "../client/events.js";
import { type Arguments, type CallOptions, type TypedOutcome } from "../client/options.js";
import { type ToolInfo, type ToolQuery, type Viewer } from "../client/tools.js";
import type { Plugin } from "../plugin/plugin.js";
import type { StandardSchema } from "../standard.js";
import type { TestHost } from "./host.js";
/**
 * Implements ToolCaller with the tools of a plugin under test. It returns and throws what a
 * Toolhost does. `approval`, `maxShownBytes`, `ledgerId`, `firstSent`, `onBehalfOf` and `onEvent` have no
 * effect, because no policy applies, no result becomes an artifact, and there is neither a ledger nor a
 * principal.
 */
export declare class TestClient implements ToolCaller {
    #private;
    /** Use `TestHost.client`. */
    constructor(host: TestHost, plugin: Plugin);
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
