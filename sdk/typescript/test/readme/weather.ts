import { serve, ToolError, tool } from "@toolhost/sdk";
import { z } from "zod";

const forecast = tool(
  {
    name: "forecast",
    description: "Says what the weather will be. Use it for today and the next days; it knows no past. Returns one line.",
    input: z.object({
      city: z.string().describe("the city's name, in English"),
      days: z.int().min(1).max(14).default(1).describe("how many days ahead"),
    }),
    readOnly: true,
  },
  async ({ city, days }, call) => {
    if (city === "Atlantis") {
      throw new ToolError(`there is no city ${city}`); // the model reads it, and can choose another
    }
    await call.progress(0, days, `asking for ${city}`); // people see it, the model does not
    return `sunny in ${city} for ${days} days`;
  },
);

await serve({ name: "weather", version: "1.0.0", tools: [forecast] });
