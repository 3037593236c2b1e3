import { ToolFormat as Format } from "../gen/toolhost/v1/tool_service_pb.js";
import { fromDuration, fromJSONBytes, fromValues, toValues } from "../wire/scalars.js";
import { sayable } from "./failure.js";
/** The formats and their numbers in the protocol. */
export const toolFormats = {
    openai: Format.OPENAI,
    "openai-responses": Format.OPENAI_RESPONSES,
    anthropic: Format.ANTHROPIC,
    gemini: Format.GEMINI,
    mcp: Format.MCP,
    markdown: Format.MARKDOWN,
};
/** Converts a query to its message. */
export function selectionMessage(query) {
    const { names = [], categories = [], tags = [], plugins = [], excluded = [], dangerous, maxCostPerUse, maxTools = 0, session = "", context, } = query;
    return {
        names: [...names],
        categories: [...categories],
        tags: [...tags],
        plugins: [...plugins],
        excluded: [...excluded],
        ...(dangerous !== undefined && { dangerous }),
        ...(maxCostPerUse !== undefined && { maxCostPerUse }),
        maxTools,
        session,
        context: sayable(() => toValues(context)),
    };
}
/** Converts a message to a tool. */
export function toolInfo(m) {
    const spec = m.spec;
    if (!spec) {
        throw new TypeError("toolhost sent a tool without a declaration");
    }
    const { $typeName, $unknown, timeout, retry, memoryLimitBytes, inputSchema, outputSchema, inputExamples, ...rest } = spec;
    return {
        ...rest,
        inputSchema: (fromJSONBytes(inputSchema) ?? { type: "object" }),
        outputSchema: fromJSONBytes(outputSchema),
        examples: inputExamples.map((e) => ({ description: e.description, arguments: fromJSONBytes(e.arguments) })),
        timeoutMs: fromDuration(timeout),
        metadata: fromValues(spec.metadata),
        plugin: m.plugin,
        pluginVersion: m.pluginVersion,
        unavailableReason: m.unavailableReason || undefined,
    };
}
