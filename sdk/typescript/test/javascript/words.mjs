// @ts-check
// A plugin in plain JavaScript. The types of its arguments follow from the schema, and other types are in comments.
import { serve, ToolError, tool } from "@toolhost/sdk";
import { z } from "zod";

export const words = tool(
  {
    name: "words",
    description: "Counts the words of a text.",
    input: z.object({ text: z.string(), longest: z.int().min(1).default(1) }),
    readOnly: true,
  },
  ({ text, longest }, call) => {
    const found = text.split(/\s+/).filter((word) => word !== "");
    if (found.length === 0) {
      throw new ToolError("the text has no words");
    }
    call.progress(1, 1, "counted");
    return { words: found.length, longest: found.sort((a, b) => b.length - a.length).slice(0, longest) };
  },
);

/** @type {import("@toolhost/sdk").Plugin} */
export const plugin = { name: "words", version: "1.0.0", tools: [words] };

if (process.argv[1] === import.meta.filename) {
  await serve(plugin);
}
