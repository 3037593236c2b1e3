// A tool reads a large result of another tool by its handle.
import { text, tool } from "@toolhost/sdk";
import { TestHost } from "@toolhost/sdk/testing";
import { z } from "zod";

const input = z.object({ handle: z.string() });
const count = tool({ name: "count_lines", description: "Counts lines.", input }, async ({ handle }, call) => {
  let lines = 0;
  for await (const piece of await call.openArtifact(handle)) {
    lines += piece.filter((byte) => byte === 10).length;
  }
  return { lines };
});

await using host = new TestHost({ name: "text", tools: [count] });
const artifacts = { "a-1": text("line\n".repeat(100_000)) };
console.log((await host.call("count_lines", { handle: "a-1" }, { artifacts })).value);

// Output:
// { lines: 100000 }
