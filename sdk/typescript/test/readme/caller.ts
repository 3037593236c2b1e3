import { Toolhost, ToolhostError } from "@toolhost/sdk/client";

const toolhost = new Toolhost();
try {
  const { result } = await toolhost.call("forecast", { city: "Oslo" });
  console.log(result.text);
} catch (error) {
  if (!(error instanceof ToolhostError)) throw error;
  console.error(`${error.kind}: ${error.message}`);
  process.exitCode = 1;
} finally {
  toolhost.close();
}
