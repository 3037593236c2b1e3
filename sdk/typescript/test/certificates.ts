// Certificates for tests, made with the program openssl.
import { execFileSync } from "node:child_process";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { isIP } from "node:net";
import { join } from "node:path";

/** A CA in a folder. */
export class CA {
  /** The file with its certificate. */
  readonly path: string;
  readonly #folder: string;
  readonly #name: string;

  constructor(folder: string, name: string) {
    this.#folder = folder;
    this.#name = name;
    this.path = join(folder, `${name}.pem`);
    const key = join(folder, `${name}.key`);
    openssl("req", "-x509", ...newKey, "-days", "2", "-subj", `/CN=${name}`, "-keyout", key, "-out", this.path);
  }

  /** Issues a certificate for an IP address, a URI or a DNS name. */
  issue(name: string): { certificate: string; key: string } {
    const stem = join(this.#folder, `${this.#name}-${name.replace(/[^\w.-]/g, "_")}`);
    const [certificate, key] = [`${stem}.pem`, `${stem}.key`];
    const kind = isIP(name) ? "IP" : name.includes("://") ? "URI" : "DNS";
    writeFileSync(`${stem}.ext`, `subjectAltName=${kind}:${name}\n`);
    openssl("req", ...newKey, "-subj", "/CN=leaf", "-keyout", key, "-out", `${stem}.csr`);
    const signer = ["-CA", this.path, "-CAkey", join(this.#folder, `${this.#name}.key`), "-CAcreateserial"];
    openssl("x509", "-req", "-in", `${stem}.csr`, ...signer, "-days", "2", "-extfile", `${stem}.ext`, "-out", certificate);
    return { certificate, key };
  }

  get pem(): Buffer {
    return readFileSync(this.path);
  }
}

const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];

function openssl(...args: string[]): void {
  execFileSync("openssl", args, { stdio: "pipe" });
}

/** Replaces a file in one step. */
export function replace(path: string, content: string | Buffer): void {
  writeFileSync(`${path}.new`, content);
  renameSync(`${path}.new`, path);
}
