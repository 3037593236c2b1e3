/** Tools that look different to each session. */
import { create } from "@bufbuild/protobuf";
import { ToolhostError } from "../error.js";
import type { DescribeRequest, DescribeResponse } from "../gen/toolhost/plugin/v1/plugin_pb.js";
import { type ToolSpec as ToolSpecMessage, ToolSpecSchema } from "../gen/toolhost/tool/v1/spec_pb.js";
import { sessionValues } from "./call.js";
import { checkInputSchema, descriptionOf, exampleMessage, misfit, type Plugin, specMessage } from "./plugin.js";
import { isZod, type Schema, schemaText } from "./schema.js";
import { logToStderr } from "./stdio.js";
import type { Tool } from "./tool.js";

/** For whom a tool is described: a session's id and its context, as JSON values by key. */
export interface Viewer {
  readonly session: string;
  readonly values: Readonly<Record<string, Uint8Array>>;
}

/** A tool as a session sees it. */
export interface Described {
  readonly message: ToolSpecMessage;
  readonly input: Schema | undefined;
}

/** Returns a tool as it is declared. */
export function declared({ spec }: Tool): Described {
  return { message: create(ToolSpecSchema, specMessage(spec)), input: spec.input };
}

/** Returns a tool as a session sees it; as it is declared where it is not dynamic, for no session, and where that fails. */
export async function describedFor(t: Tool, viewer: Viewer): Promise<Described> {
  const { spec } = t;
  const values = sessionValues(viewer.values, spec.contextKeys ?? []);
  if (!spec.describe || (viewer.session === "" && Object.keys(values).length === 0)) {
    return declared(t);
  }
  try {
    const variant = await spec.describe({ session: viewer.session, values });
    const input = variant.input ?? spec.input;
    const message = create(ToolSpecSchema, specMessage(spec));
    message.displayName = variant.displayName || message.displayName;
    message.description = variant.description || message.description;
    message.inputSchema = Buffer.from(checkInputSchema(input));
    if (variant.output) {
      message.outputSchema = Buffer.from(schemaText(variant.output, "output"));
    }
    // An example that does not fit this session's schema would mislead.
    const examples = (variant.examples ?? spec.examples ?? []).filter(
      (e) => !(input && isZod(input) && misfit(input, e.arguments)),
    );
    const { inputExamples } = create(ToolSpecSchema, { inputExamples: examples.map(exampleMessage) });
    message.inputExamples = inputExamples;
    return { message, input };
  } catch (error) {
    // "unavailable" is what a tool expects, such as where nothing is set up for it.
    const level = error instanceof ToolhostError && error.kind === "unavailable" ? "debug" : "warn";
    logToStderr(level, "a dynamic tool stays as it is declared", { tool: spec.name, session: viewer.session, error });
    return declared(t);
  }
}

/** Returns what a plugin says of itself, with the tools that are asked for, as the session sees them. */
export async function describePlugin(
  plugin: Plugin,
  { tools: names, session, context }: Pick<DescribeRequest, "tools" | "session" | "context">,
): Promise<DescribeResponse> {
  const description = descriptionOf({ ...plugin, tools: [] });
  const chosen = (plugin.tools ?? []).filter((t) => names.length === 0 || names.includes(t.spec.name));
  const described = await Promise.all(chosen.map((t) => describedFor(t, { session, values: context })));
  description.tools = described.map(({ message }) => message);
  return description;
}
