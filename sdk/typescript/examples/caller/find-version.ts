// Check that a toolhost has the contract that this program was written for.
import { Toolhost } from "@toolhost/sdk/client";

await using toolhost = new Toolhost();
const { version, contracts } = await toolhost.version();
if (contracts.host !== "toolhost.v1") {
  throw new Error(`toolhost ${version} serves ${contracts.host}, and not toolhost.v1`);
}
console.log(contracts.host);

// Output:
// toolhost.v1
