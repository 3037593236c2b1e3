// An object receives its arguments while the model still writes them.
import { objectTool } from "@toolhost/sdk";
import { TestHost } from "@toolhost/sdk/testing";
import { z } from "zod";

const write = objectTool(
  { name: "write", description: "Writes a text.", input: z.object({ text: z.string() }), partialArguments: true },
  (call) => ({
    preview: ({ text = "" }) => call.status({ message: `so far: ${text}` }),
    run: ({ text }) => `wrote ${text}`,
  }),
);

await using host = new TestHost({ name: "editor", tools: [write] });
const call = host.stream("write");
call.append('{"text":"Dear');
console.log((await call.status(({ message }) => message === "so far: Dear")).message);
call.append(' Ada"}');
call.complete();
await call.ended;
console.log(call.text);

// Output:
// so far: Dear
// wrote Dear Ada
