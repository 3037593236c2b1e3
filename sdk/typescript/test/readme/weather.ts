import { serve, ToolError, tool } from "@toolhost/sdk";
import { z } from "zod";

const forecast = tool(
  {
    name: "forecast",
    description: "Returns the weather forecast for a city, in one line. Use it for today and the next days, not for the past.",
    input: z.object({
      city: z.string().describe("the English name of the city"),
      days: z.int().min(1).max(14).default(1).describe("the number of days"),
    }),
    readOnly: true,
  },
  ({ city, days }, call) => {
    if (city === "Atlantis") {
      throw new ToolError(`there is no city ${city}`); // the model reads it
    }
    call.progress(0, days, `asking for ${city}`); // shown to people, not to the model
    return `sunny in ${city} for ${days} days`;
  },
);

await serve({ name: "weather", version: "1.0.0", tools: [forecast] });
