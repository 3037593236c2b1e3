// A filter runs before and after calls of tools of any plugin.
import type { Filter } from "@toolhost/sdk";
import { TestHost } from "@toolhost/sdk/testing";

const guard: Filter = {
  name: "guard",
  description: "Protects files.",
  before: ({ arguments: { path } }) => (path === "/etc/passwd" ? { deny: "the file is protected" } : undefined),
};

await using host = new TestHost({ name: "guards", filters: [guard] });
console.log((await host.before("guard", { tool: "read_file", arguments: { path: "/etc/passwd" } })).deny);
console.log((await host.before("guard", { tool: "read_file", arguments: { path: "notes.md" } })).deny);

// Output:
// the file is protected
// undefined
