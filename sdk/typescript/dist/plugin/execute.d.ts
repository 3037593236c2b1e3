/** The execution of a call: its arguments, the tool function, and the outcome. */
import { AsyncLocalStorage } from "node:async_hooks";
import { type Result } from "../content.js";
import type { Settlement } from "../settlement.js";
import { type Filter } from "./filter.js";
import type { RunningCall } from "./runningcall.js";
import type { Tool } from "./tool.js";
import type { WireCall } from "./wirecall.js";
/** A tool or a filter. */
export type Callable = {
    readonly tool: Tool;
} | {
    readonly filter: Filter;
};
/**
 * Ends the current call with an error that was thrown outside of its promise, such as in a timer.
 */
export type Fail = (error: unknown) => void;
/** The call for which the current code runs. */
export declare const currentCall: AsyncLocalStorage<Fail>;
/** Runs a call to its end. It rejects with a ToolhostError for an infrastructure error. */
export declare function execute(callable: Callable, call: RunningCall, wire: WireCall): Promise<Result>;
/**
 * Says what became of an earlier call, and executes nothing. It rejects with a ToolhostError, also
 * if the check throws another error.
 */
export declare function settle(callable: Callable, call: RunningCall, wire: WireCall): Promise<Settlement>;
