// A tool reports status and progress to people, and writes log records that belong to the call.
import { tool } from "@toolhost/sdk";
import { TestHost } from "@toolhost/sdk/testing";
import { z } from "zod";

const input = z.object({ letters: z.int() });
const send = tool({ name: "send", description: "Sends letters.", input }, async ({ letters }, call) => {
  call.status({ message: "sending" });
  for (let number = 1; number <= letters; number++) {
    call.progress(number, letters);
    await call.flush(); // do not report faster than toolhost reads
  }
  call.log.info("sent", { letters });
  return `sent ${letters} letters`;
});

await using host = new TestHost({ name: "mail", tools: [send] });
const { statuses, logs } = await host.call("send", { letters: 2 });
console.log(statuses.map(({ state, progress }) => `${state} ${progress?.done}`).join(", "));
console.log(logs[0]?.message, logs[0]?.attributes);

// Output:
// doing undefined, undefined 1, undefined 2, success undefined
// sent { letters: 2 }
