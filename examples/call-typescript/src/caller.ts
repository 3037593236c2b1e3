// List tools, call one, send arguments in pieces, cancel a call, and watch a call.
import { Toolhost, ToolhostError } from "@toolhost/sdk/client";

const toolhost = new Toolhost(); // at TOOLHOST_ADDR, else the toolhost of this user
const callId = `report-${crypto.randomUUID()}`;

for (const { name } of await toolhost.listTools()) {
  console.log("tool:", name);
}

// An infrastructure error is thrown. A failure that the tool reports is a result with isError.
const { result } = await toolhost.call("forecast", { city: "Lagos", days: 2 });
console.log("call:", result.text);

// The call id makes it possible to watch the call later.
const report = toolhost.execute("report", undefined, { callId });
await report.send('{"text":"Sun');
let complete = false;
for await (const event of report) {
  if (event.type === "status" && !complete) {
    complete = true; // the tool has reported the first piece
    console.log("stream:", event.status.message);
    await report.send('.","stations":2}');
    await report.complete();
  }
  if (event.type === "ended") {
    console.log("stream:", event.result?.text ?? event.error);
  }
}

const fog = toolhost.execute("report", { text: "Fog.", stations: 1000 });
try {
  for await (const event of fog) {
    if (event.type === "status" && event.status.progress?.done === 1) {
      await fog.cancel("the fog has lifted");
    }
  }
  await fog.outcome();
} catch (error) {
  if (!(error instanceof ToolhostError)) throw error;
  console.log("cancel:", error.kind);
}

// The events of a call, which may be running, and which another program may have made.
for await (const event of toolhost.watchCall(callId)) {
  if (event.type === "status" && event.status.progress) {
    console.log(`watch: ${event.status.progress.done} of ${event.status.progress.total}`);
  }
  if (event.type === "ended") {
    console.log("watch:", event.result?.text ?? event.error);
  }
}
toolhost.close();
