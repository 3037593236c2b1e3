import { Agentd } from "@toolhost/sdk/client";

const agentd = new Agentd();
const finished = await agentd.run("What will the weather be in Oslo?", {
  show: async ({ event }, runId) => {
    if (event.case === "textDelta") {
      process.stdout.write(event.value.text);
    }
    if (event.case === "decisionRequested") {
      await agentd.approve(runId, event.value.decision?.decisionId ?? "", { by: "me" });
    }
  },
});
console.log(finished.text);
agentd.close();
