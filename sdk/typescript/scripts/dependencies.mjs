// Lists the packages that a user of the SDK installs, as a tree with versions and licenses, in dependencies.txt. With --check
// it reports whether the list is up to date, and fails if a package runs a script when it is installed.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const folder = join(import.meta.dirname, "..");
const listing = join(folder, "dependencies.txt");
const { packages } = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8"));

// The script of protobufjs prints a warning and does nothing else. The tests run without it.
const allowedScripts = ["protobufjs"];

const lines = [];
const seen = new Set();
const scripts = [];

/** Adds the lines of one package and of what it needs. */
function list(name, depth) {
  const found = packages[`node_modules/${name}`];
  const again = seen.has(name);
  lines.push(`${"  ".repeat(depth)}${name} ${found.version}${again ? "" : `, ${found.license}`}`);
  if (again) {
    return;
  }
  seen.add(name);
  if (found.hasInstallScript) {
    scripts.push(name);
    lines[lines.length - 1] += ", has an install script";
  }
  for (const needed of Object.keys(found.dependencies ?? {}).sort()) {
    list(needed, depth + 1);
  }
}

for (const name of Object.keys(packages[""].dependencies).sort()) {
  list(name, 0);
}
const text = `${lines.join("\n")}\n`;
const unexpected = scripts.filter((name) => !allowedScripts.includes(name));
if (unexpected.length > 0) {
  console.error(`these dependencies run a script when they are installed: ${unexpected.join(", ")}`);
  process.exitCode = 1;
}
if (!process.argv.includes("--check")) {
  writeFileSync(listing, text);
} else if (readFileSync(listing, "utf8") !== text) {
  console.error("the dependencies differ from dependencies.txt; if this is intended, run node scripts/dependencies.mjs");
  process.exitCode = 1;
}
