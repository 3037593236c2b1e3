/** Dynamic tools, whose declaration depends on the session. */
import { create } from "@bufbuild/protobuf";
import { ToolhostError } from "../error.js";
import { ToolSpecSchema } from "../gen/toolhost/tool/v1/spec_pb.js";
import { sessionContext } from "./call.js";
import { checkInputSchema, descriptionOf, exampleMessage, specMessage } from "./plugin.js";
import { misfit, schemaText } from "./schema.js";
import { logToStderr } from "./stdio.js";
/** Returns the original declaration of a tool. */
export function declared({ spec }) {
    return { message: create(ToolSpecSchema, specMessage(spec)), input: spec.input };
}
/**
 * Returns the declaration of a tool for a session. It is the original one if the tool is not
 * dynamic, if there is no session and no context, and if `describe` fails.
 */
export async function describedFor(t, viewer) {
    const { spec } = t;
    const context = sessionContext(viewer.values, spec.contextKeys ?? []);
    if (!spec.describe || (viewer.session === "" && Object.keys(context).length === 0)) {
        return declared(t);
    }
    try {
        const variant = await spec.describe({ session: viewer.session || undefined, context });
        const input = variant.input ?? spec.input;
        const message = create(ToolSpecSchema, specMessage(spec));
        message.displayName = variant.displayName || message.displayName;
        message.description = variant.description || message.description;
        message.inputSchema = Buffer.from(checkInputSchema(input));
        if (variant.output) {
            message.outputSchema = Buffer.from(schemaText(variant.output, "output"));
        }
        // An example that does not fit the schema of this session would mislead the model.
        const examples = (variant.examples ?? spec.examples ?? []).filter((e) => !(input && misfit(input, e.arguments)));
        const { inputExamples } = create(ToolSpecSchema, { inputExamples: examples.map(exampleMessage) });
        message.inputExamples = inputExamples;
        return { message, input };
    }
    catch (error) {
        // "unavailable" is an expected failure, for example if the tool is not configured for the
        // session.
        const level = error instanceof ToolhostError && error.kind === "unavailable" ? "debug" : "warn";
        logToStderr(level, "a dynamic tool keeps its original declaration", { tool: spec.name, session: viewer.session, error });
        return declared(t);
    }
}
/** Returns the declaration of a plugin for a session, with the requested tools or all of them. */
export async function describePlugin(plugin, { tools: names, session, context }) {
    const description = descriptionOf({ ...plugin, tools: [] });
    const chosen = (plugin.tools ?? []).filter((t) => names.length === 0 || names.includes(t.spec.name));
    const described = await Promise.all(chosen.map((t) => describedFor(t, { session, values: context })));
    description.tools = described.map(({ message }) => message);
    return description;
}
