// Call a tool of a toolhost.
import { Toolhost, ToolhostError } from "@toolhost/sdk/client";
import { z } from "zod";

await using toolhost = new Toolhost({ session: "example" });
const { value } = await toolhost.call("echo", { city: "Oslo" }, { output: z.object({ city: z.string() }) });
console.log(value?.city);
const { result } = await toolhost.call("fail", { message: "there is no such street" });
console.log(result.isError, result.text);
try {
  await toolhost.call("nosuch");
} catch (error) {
  if (!(error instanceof ToolhostError)) throw error;
  console.log(error.kind);
}

// Output:
// Oslo
// true there is no such street
// not_found
