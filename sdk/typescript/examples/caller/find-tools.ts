// List, search and render tools.
import { Toolhost } from "@toolhost/sdk/client";

await using toolhost = new Toolhost();
console.log((await toolhost.listTools({ names: ["echo", "fail"] })).map(({ name }) => name));
console.log((await toolhost.searchTools("effects"))[0]?.tool.name);
console.log(JSON.parse((await toolhost.renderTools("anthropic", { names: ["echo"] })).content)[0].name);

// Output:
// [ 'echo', 'fail' ]
// effects
// echo
