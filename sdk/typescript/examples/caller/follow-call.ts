// Follow the events of a call, and send its arguments in pieces.
import { Toolhost } from "@toolhost/sdk/client";

await using toolhost = new Toolhost();
await using execution = toolhost.execute("draft", undefined);
await execution.send('{"text":"Dear');
let complete = false;
for await (const event of execution) {
  if (event.type === "status" && !complete) {
    complete = true;
    console.log("preview:", event.status.parameters?.text);
    await execution.send(' Ada"}');
    await execution.complete();
  }
  if (event.type === "ended") {
    console.log("outcome:", event.result?.text.includes("Dear Ada"));
  }
}

// Output:
// preview: Dear
// outcome: true
