import { objectTool } from "@toolhost/sdk";
import { z } from "zod";

export const editor = objectTool(
  {
    name: "edit",
    description: "Writes a text into the editor.",
    input: z.object({ text: z.string() }),
    partialArguments: true,
  },
  (call) => ({
    preview: ({ text = "" }) => call.status({ message: `writing ${text.length} characters` }),
    run: ({ text }) => `wrote ${text.length} characters`,
    close: () => call.log.debug("closed"),
  }),
);
