// A plugin opens and closes what all calls share.
import { type Plugin, tool } from "@toolhost/sdk";
import { TestHost } from "@toolhost/sdk/testing";

let connection = "closed";
const plugin: Plugin = {
  name: "db",
  tools: [tool({ name: "state", description: "Returns the state of the connection." }, () => connection)],
  open: () => {
    connection = "open";
  },
  close: () => {
    connection = "closed";
  },
};

const host = new TestHost(plugin);
console.log((await host.call("state")).text);
await host.close();
console.log(connection);

// Output:
// open
// closed
