// Lists the public API in api.txt, or with --check reports whether the file is up to date. The list
// has the declaration of every name that an entry point of package.json exports, except the
// generated code. It reads the declarations in dist.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const root = join(import.meta.dirname, "..");
const listing = join(root, "api.txt");

/** Returns the top-level statements of a declaration file without comments. */
function statementsOf(file) {
  const text = readFileSync(file, "utf8").replace(/[ \t]*\/\*\*?[\s\S]*?\*\/\n?|^\/\/.*\n/gm, "");
  const statements = [];
  for (const line of text.split("\n")) {
    if (/^[\s}]/.test(line) || line === "") {
      if (line.trim() !== "" && statements.length > 0) {
        statements[statements.length - 1] += `\n${line}`;
      }
    } else {
      statements.push(line);
    }
  }
  return statements;
}

/** Returns the declarations of the names that a file exports, by name. */
function exportsOf(file) {
  const found = new Map();
  for (const statement of statementsOf(file)) {
    const reexport = /^export (?:type )?\{([\s\S]*)\} from "(.*)";/.exec(statement);
    if (reexport) {
      const source = exportsOf(join(dirname(file), reexport[2].replace(/\.js$/, ".d.ts")));
      for (const part of reexport[1].split(",")) {
        const name = part.trim().replace(/^type /, "");
        if (name) {
          found.set(name, source.get(name) ?? [`${name} is not declared`]);
        }
      }
      continue;
    }
    const own = /^export (?:declare )?(?:abstract )?(?:const|function|class|interface|type) (\w+)/.exec(statement);
    if (own) {
      found.set(own[1], [...(found.get(own[1]) ?? []), statement]);
    }
  }
  return found;
}

const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
let text = "";
for (const [entry, target] of Object.entries(exports)) {
  if (typeof target === "string" || entry === "./proto") {
    continue;
  }
  text += `== @toolhost/sdk${entry.slice(1)} ==\n`;
  const names = exportsOf(join(root, target.types));
  for (const name of [...names.keys()].sort()) {
    text += `\n${names.get(name).join("\n")}\n`;
  }
  text += "\n";
}
if (!process.argv.includes("--check")) {
  writeFileSync(listing, text);
} else if (readFileSync(listing, "utf8") !== text) {
  console.error("the public API differs from api.txt; if this is intended, run scripts/check.sh api");
  process.exitCode = 1;
}
