// The signal of a call stops what the tool waits for.
import { setTimeout as delay } from "node:timers/promises";
import { tool } from "@toolhost/sdk";
import { TestHost } from "@toolhost/sdk/testing";

const wait = tool({ name: "wait", description: "Waits." }, async (_, call) => {
  call.status({ message: "waiting" });
  await delay(60_000, undefined, { signal: call.signal });
});

await using host = new TestHost({ name: "clock", tools: [wait] });
const call = host.stream("wait");
call.complete("{}");
await call.status(({ message }) => message === "waiting");
call.cancel("no longer needed");
await call.ended;
console.log(call.error?.kind, call.error?.message);

// Output:
// cancelled the call was cancelled: no longer needed
