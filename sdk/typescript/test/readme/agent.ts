import { AgentClient } from "@toolhost/sdk/client";

const agentd = new AgentClient();
const finished = await agentd.run("What will the weather be in Oslo?", {
  onEvent: async (event, runId) => {
    if (event.type === "textDelta") {
      process.stdout.write(event.text);
    }
    if (event.type === "decisionRequested") {
      await agentd.approve(runId, event.decision.decisionId, { by: "Ada" });
    }
  },
});
console.log(finished.text);
agentd.close();
