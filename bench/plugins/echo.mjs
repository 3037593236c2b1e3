// The benchmark's tool in JavaScript.
import { serve, tool } from "@toolhost/sdk";
import { z } from "zod";

const answers = "0123456789abcdef".repeat((1 << 20) / 16);

const echo = tool(
  {
    name: "echo",
    description: "Answers with a text of the size asked for.",
    input: z.object({ size: z.int(), note: z.string() }),
    readOnly: true,
  },
  ({ size }) => answers.slice(0, size),
);

await serve({ name: "echo", version: "1.0.0", tools: [echo] });
