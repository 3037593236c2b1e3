/** The filters that a plugin applies to its own tools, around a call in a test. */
import { ToolhostError } from "../error.js";
import type { Filter, FilterCall } from "../plugin/filter.js";
import type { TestCall } from "./call.js";
import type { TestHost } from "./host.js";
/** The parts of a call in a test that depend on the host. */
export interface FilteredParts {
    readonly host: Pick<TestHost, "before" | "after">;
    /** Runs the tool alone. `executed` is false if its arguments do not fit the schema. */
    readonly run: (args: string) => Promise<{
        done: TestCall;
        executed: boolean;
    }>;
    /** Returns a call that ends with an error before the tool runs. */
    readonly refused: (error: ToolhostError) => TestCall;
}
/** Runs a tool with the filters that its plugin applies to it, the first one outermost. */
export declare function callFiltered(filters: readonly Filter[], call: Partial<FilterCall>, { host, run, refused }: FilteredParts): Promise<TestCall>;
