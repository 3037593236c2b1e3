// A tool returns text, blocks of content, or a result with effects, cost and metadata.
import { file, result, text, tool } from "@toolhost/sdk";
import { TestHost } from "@toolhost/sdk/testing";

const report = tool({ name: "report", description: "Returns a report." }, () => [
  text("# Rain"),
  file(Buffer.from("title\n"), { name: "report.csv", mediaType: "text/csv" }),
]);
const visit = tool({ name: "visit", description: "Visits Oslo.", effectKeys: ["visited"] }, () =>
  result({ content: "visited Oslo", effects: [{ key: "visited", operation: "append", value: "Oslo" }], cost: 0.5 }),
);

await using host = new TestHost({ name: "reports", tools: [report, visit] });
console.log((await host.call("report")).text);
const { result: visited } = await host.call("visit");
console.log(visited?.text, visited?.effects[0]?.value, visited?.cost);

// Output:
// # Rain
// [file report.csv, text/csv, 6 bytes]
// visited Oslo Oslo 0.5
