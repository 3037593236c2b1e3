// A ToolError is for the model, and a ToolhostError is for the caller.
import { ToolError, ToolhostError, tool } from "@toolhost/sdk";
import { TestHost } from "@toolhost/sdk/testing";
import { z } from "zod";

const input = z.object({ city: z.string() });
const forecast = tool({ name: "forecast", description: "Returns the weather forecast for a city.", input }, ({ city }) => {
  if (city === "Atlantis") {
    throw new ToolError("Atlantis has no weather; ask for another city");
  }
  throw new ToolhostError("unavailable", "the weather station is down", { retryAfterMs: 30_000 });
});

await using host = new TestHost({ name: "weather", tools: [forecast] });
const answer = await host.call("forecast", { city: "Atlantis" });
console.log(answer.isError, answer.text);
const { error } = await host.call("forecast", { city: "Nowhere" });
console.log(error?.kind, error?.retryAfterMs);

// Output:
// true Atlantis has no weather; ask for another city
// unavailable 30000
