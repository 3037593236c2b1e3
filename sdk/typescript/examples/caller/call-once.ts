// A call id makes a call safe to repeat: toolhost executes it once and stores its outcome.
import { Toolhost } from "@toolhost/sdk/client";

const callId = `order-${crypto.randomUUID()}`;
await using toolhost = new Toolhost({ retry: { maxAttempts: 3 } });
console.log((await toolhost.call("echo", { order: 7 }, { callId })).replayed);
console.log((await toolhost.call("echo", { order: 7 }, { callId })).replayed);
for await (const event of toolhost.watchCall(callId)) {
  if (event.type === "ended") {
    console.log(event.result?.value);
  }
}

// Output:
// false
// true
// { order: 7 }
