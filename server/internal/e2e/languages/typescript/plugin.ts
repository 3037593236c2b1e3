// The plugin of server/internal/e2e/languages in TypeScript.
import {
  type ErrorKind,
  file,
  image,
  json,
  objectTool,
  rawJSON,
  result,
  serve,
  ToolError,
  ToolhostError,
  text,
  tool,
} from "@toolhost/sdk";
import { z } from "zod";

const spec = <const N extends string>(name: N) => ({
  name,
  description: `Does what the case of ${name} needs.`,
  readOnly: true,
});

/** A parameter of each usual type. */
const parameters = z.object({
  count: z.int().min(1).max(100),
  price: z.number().min(0.5),
  color: z.enum(["red", "green", "blue"]),
  resolution: z.literal([72, 150, 300]),
  code: z.string().regex(/^[a-z]+$/),
  tags: z.array(z.string()).min(1).max(3),
  address: z.object({ street: z.string().min(1), zip: z.string().regex(/^[0-9]{5}$/) }),
  labels: z.record(z.string(), z.int()),
  urgent: z.boolean(),
  when: z.iso.datetime(),
  note: z.string().max(20).default("none"),
  parent: z.int().nullable().optional(),
});

await serve({
  name: "table",
  version: "1.0.0",
  tools: [
    tool({ ...spec("echo"), input: { type: "object" } }, (_, call) => json(rawJSON(call.argumentsText))),
    tool({ ...spec("say"), input: z.object({ text: z.string() }) }, (input) => input.text),
    tool({ ...spec("repeat"), input: z.object({ unit: z.string(), times: z.int() }) }, ({ unit, times }) => unit.repeat(times)),
    tool({ ...spec("value") }, () => ({
      text: 'naïve 漢字 😀 <a & b> "\\\t',
      empty: {},
      none: null,
      list: [],
      flags: [true, false],
      half: 0.5,
      minus: -3,
      big: 2n ** 64n - 1n,
      deep: [[{ 1: null }]],
    })),
    tool({ ...spec("nothing") }, () => undefined),
    tool({ ...spec("blocks"), input: z.object({ file_bytes: z.int() }) }, ({ file_bytes }) => [
      text("first"),
      image(Buffer.from("\x89PNG\r\n\x1a\n\x00\xff", "latin1"), { name: "pixel.png" }),
      json(rawJSON('{"n": 1.50}')),
      file(
        Uint8Array.from({ length: file_bytes }, (_, i) => i % 256),
        { name: "bytes.bin", mediaType: "application/octet-stream" },
      ),
      text(""),
    ]),
    tool({ ...spec("fail"), input: z.object({ message: z.string() }) }, ({ message }) => {
      throw new ToolError(message);
    }),
    tool(
      { ...spec("break_down"), input: z.object({ kind: z.string(), message: z.string(), retry_after_ms: z.int().optional() }) },
      ({ kind, message, retry_after_ms }) => {
        throw new ToolhostError(kind as ErrorKind, message, { retryAfterMs: retry_after_ms });
      },
    ),
    tool({ ...spec("effects"), effectKeys: ["plan", "seen", "tree"] }, () =>
      result({
        content: "planned",
        effects: [
          { key: "plan", value: "walk" },
          { key: "seen", operation: "append", value: { n: 7 } },
          { key: "tree", operation: "merge", value: { leaf: null, ключ: [] } },
        ],
        cost: 0.25,
        usage: { inputTokens: 11, outputTokens: 5, cacheReadTokens: 3, cacheWriteTokens: 2 },
        metadata: { source: "fixture", pages: { first: 1, last: [2, 3] } },
      }),
    ),
    tool({ ...spec("steps") }, async (_, call) => {
      call.status({ state: "wait", message: "about to begin", parameters: { a: { x: 1 }, n: 1 } });
      call.status({ state: "doing", message: "at wörk", parameters: { a: { y: 2 } } });
      call.progress(1, 3, "a third");
      call.log.warn("halfway", { left: 2 });
      call.progress(2.5, 3);
      call.status({ state: "success", message: "done", parameters: { n: 2 }, result: { rows: 3 } });
      return "stepped";
    }),
    tool({ ...spec("wait"), input: z.object({ quietly: z.boolean().default(false) }) }, async ({ quietly }, call) => {
      if (!quietly) {
        call.status({ message: "waiting" });
      }
      await new Promise((_, reject) => call.signal.addEventListener("abort", () => reject(call.signal.reason)));
    }),
    tool({ ...spec("about_the_call"), contextKeys: ["colour"] }, (_, call) => ({
      call_id: call.id,
      attempt: call.attempt,
      colour: call.context.colour ?? null,
    })),
    tool({ ...spec("parameters"), input: parameters }, () => "fits"),
    objectTool({ ...spec("draft"), input: z.object({ text: z.string() }), partialArguments: true }, (call) => {
      let shown = "";
      return {
        preview: async ({ text = "" }) => {
          if (text !== shown && text.endsWith("|")) {
            shown = text;
            call.status({ message: "so far", parameters: { text } });
          }
        },
        run: ({ text }) => `${text} after ${shown}`,
      };
    }),
  ],
});
