import { Toolhost } from "@toolhost/sdk/client";

await using toolhost = new Toolhost({
  address: "toolhost.example:7443",
  tls: { ca: "ca.pem" },
  tokenFile: "token",
});
const { result } = await toolhost.call("forecast", { city: "Oslo" });
console.log(result.text);
