/**
 * Returns a tool that runs a function.
 *
 * The model reads the return value. It also reads the message of an Error that the function throws,
 * with paths in the workspace made relative. For an Error other than ToolError it also reads the
 * type, and the log contains the stack. A ToolhostError is an infrastructure error, which the
 * caller handles.
 *
 * Calls run concurrently. The function should return or throw soon after `call.signal` is aborted.
 */
export function tool(spec, run) {
    return {
        spec: spec,
        previews: false,
        open: (call) => ({ run: (input) => run(input, call) }),
    };
}
/**
 * Returns a tool that has one object for each call. Use it for a tool that receives incomplete
 * arguments, or that must release something at the end of a call. `open` runs at the start of the
 * call, when the arguments may be incomplete.
 */
export function objectTool(spec, open) {
    return { spec: spec, previews: true, open: open };
}
