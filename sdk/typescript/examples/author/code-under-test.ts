// Code that takes a ToolCaller runs with a Toolhost in production and with TestHost.client in a test.
import { tool } from "@toolhost/sdk";
import type { ToolCaller } from "@toolhost/sdk/client";
import { TestHost } from "@toolhost/sdk/testing";
import { z } from "zod";

const output = z.object({ rain: z.boolean() });
const forecast = tool({ name: "forecast", description: "Returns the forecast for Oslo.", output }, () => ({ rain: true }));

/** The code under test. */
async function advise(toolhost: ToolCaller): Promise<string> {
  const { value } = await toolhost.call("forecast", {}, { output });
  return value?.rain ? "take an umbrella" : "take sunglasses";
}

await using host = new TestHost({ name: "weather", tools: [forecast] });
console.log(await advise(host.client));

// Output:
// take an umbrella
