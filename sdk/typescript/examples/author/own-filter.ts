// A plugin applies a filter to its own tool. The operator configures nothing.
import { type Filter, result, tool } from "@toolhost/sdk";
import { TestHost } from "@toolhost/sdk/testing";
import { z } from "zod";

const input = z.object({ number: z.string() });
const readAccount = tool({ name: "read_account", description: "Returns what is known of an account.", input }, ({ number }) => {
  return `account DE02120300000000202051 of ${number}`;
});

const mask: Filter = {
  name: "mask",
  description: "Keeps account numbers out of results.",
  tools: ["read_account"],
  after: (call) => ({ result: result({ content: call.result.text.replace(/[A-Z]{2}\d{20}/g, "[account]") }) }),
};

await using host = new TestHost({ name: "bank", tools: [readAccount], filters: [mask] });
console.log((await host.call("read_account", { number: "7" })).text);

// Output:
// account [account] of 7
