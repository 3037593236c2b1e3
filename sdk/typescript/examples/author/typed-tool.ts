// A typed function becomes a tool: its schemas describe its arguments and its result.
import { type Plugin, tool } from "@toolhost/sdk";
import { TestHost } from "@toolhost/sdk/testing";
import { z } from "zod";

const forecast = tool(
  {
    name: "forecast",
    description: "Returns the weather forecast for a city.",
    input: z.object({ city: z.string(), days: z.int().min(1).max(14).default(1) }),
    output: z.object({ city: z.string(), days: z.int() }),
    readOnly: true,
  },
  ({ city, days }) => ({ city, days }),
);

// A plugin calls serve(plugin). This example calls the tool itself.
const plugin: Plugin = { name: "weather", tools: [forecast] };
await using host = new TestHost(plugin);
console.log((await host.call("forecast", { city: "Oslo" })).value);
console.log((await host.call("forecast", { city: "Oslo", days: 20 })).isError);

// Output:
// { city: 'Oslo', days: 1 }
// true
