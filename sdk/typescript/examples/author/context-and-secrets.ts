// A tool receives only the keys of the run context and the secrets that it declares.
import { tool } from "@toolhost/sdk";
import { TestHost } from "@toolhost/sdk/testing";

const balance = tool(
  { name: "balance", description: "Returns the balance of the user.", contextKeys: ["user"], requiresAuth: ["token"] },
  (_, { context, secrets, session }) =>
    `${context.user}, ${Object.keys(context).length} key, ${secrets.token?.length}, ${session}`,
);

await using host = new TestHost({ name: "billing", tools: [balance] });
const options = { context: { user: "Ada", other: 1 }, secrets: { token: "secret" }, session: "s-1" };
console.log((await host.call("balance", {}, options)).text);

// Output:
// Ada, 1 key, 6, s-1
