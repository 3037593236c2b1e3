// A dynamic tool has a different declaration for each session.
import { tool } from "@toolhost/sdk";
import { TestHost } from "@toolhost/sdk/testing";
import { z } from "zod";

const query = tool(
  {
    name: "query",
    description: "Queries a database.",
    input: z.object({ sql: z.string() }),
    contextKeys: ["project"],
    describe: ({ context }) => ({ description: `Queries the tables of the project ${context.project}.` }),
  },
  ({ sql }) => sql,
);

await using host = new TestHost({ name: "db", tools: [query] });
console.log((await host.describe()).tools[0]?.description);
console.log((await host.describe({ session: "s-1", context: { project: "moon" } })).tools[0]?.description);

// Output:
// Queries a database.
// Queries the tables of the project moon.
