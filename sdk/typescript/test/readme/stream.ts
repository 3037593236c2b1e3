import { Toolhost } from "@toolhost/sdk/client";

const toolhost = new Toolhost();

async function* fromTheModel() {
  yield '{"path":"notes.md","cont';
  yield 'ent":"# Plan"}';
}

const call = toolhost.execute("write_file", fromTheModel(), {
  callId: "run-7.turn-2.call-1",
  signal: AbortSignal.timeout(30_000),
});
for await (const event of call) {
  switch (event.type) {
    case "status":
      console.log(event.status.message);
      break;
    case "ended":
      console.log(event.result?.text ?? `${event.error?.kind}: ${event.error?.message}`);
  }
}
toolhost.close();
