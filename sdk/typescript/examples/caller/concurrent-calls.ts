// Make many calls at the same time on one connection.
import { Toolhost } from "@toolhost/sdk/client";

await using toolhost = new Toolhost({ timeoutMs: 30_000 });
const outcomes = await Promise.all([1, 2, 3].map((n) => toolhost.call("echo", { n })));
console.log(outcomes.map(({ result }) => (result.value as { n: number }).n));

// Output:
// [ 1, 2, 3 ]
