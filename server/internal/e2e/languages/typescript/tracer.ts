// A TypeScript plugin of server/internal/e2e/languages whose tool creates spans with OpenTelemetry's API, as an author does.

import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { trace } from "@opentelemetry/api";
import { serve, tool } from "@toolhost/sdk";
import { z } from "zod";

const tracer = trace.getTracer("author");
const input = z.object({ name: z.string(), wait: z.boolean().default(false) });

async function step(name: string): Promise<void> {
  await setTimeout(1);
  tracer.startActiveSpan(`${name} inner`, (span) => span.setAttribute("language", "typescript").end());
}

await serve({
  name: "tracer_typescript",
  tools: [
    tool({ name: "trace_typescript", description: "Creates spans.", readOnly: true, input }, async ({ name, wait }, call) => {
      await tracer.startActiveSpan(`${name} outer`, async (span) => {
        await step(name);
        span.end();
      });
      if (wait) {
        await once(call.signal, "abort");
      }
      return "traced";
    }),
  ],
});
