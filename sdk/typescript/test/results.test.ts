// Results: the JSON Schema that a schema gives, and the JSON of its values, agree for every type.
import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeJSON } from "@toolhost/sdk";
import { z } from "zod";
import { schemaText } from "../dist/plugin/schema.js";
import { checker } from "../dist/testing/schemas.js";

/** A type with values. Those that the type does not accept are left out. */
interface Sample {
  readonly name: string;
  readonly type: z.ZodType;
  readonly values: readonly unknown[];
}

const simple: [z.ZodType, unknown[]][] = [
  [z.string(), ["", "a"]],
  [z.string().min(2).max(4), ["\u{1f600}", "ab"]],
  [z.string().length(2).describe("two"), ["\u{1f600}"]],
  [z.string().regex(/^a+$/i), ["AA"]],
  [z.string().regex(/a/i).regex(/b/), ["Ab"]],
  [z.string().transform(Number), ["7"]],
  [z.string().brand("x"), ["a"]],
  [z.string().startsWith("a.b"), ["a.b\n"]],
  [z.templateLiteral(["a", z.int()]), ["a-7"]],
  [z.stringbool(), ["true"]],
  [z.number(), [0, -0, 1.5, 1e300, Number.NaN, Number.POSITIVE_INFINITY]],
  [z.number().multipleOf(0.1), [0.3, 1.1]],
  [z.int(), [Number.MAX_SAFE_INTEGER]],
  [z.float32(), [1.5]],
  [z.coerce.number(), ["5", null, 5]],
  [
    z.codec(z.iso.datetime(), z.date(), { decode: (s) => new Date(s), encode: (d) => d.toISOString() }),
    ["2020-01-01T00:00:00Z"],
  ],
  [z.boolean(), [true]],
  [z.null(), [null]],
  [z.literal([1, "a", null]), [1, "a", null]],
  [z.enum({ A: 0, B: "b" }), [0, "b"]],
  [z.any(), [undefined, 1, { a: new Date(0) }]],
  [z.unknown(), [undefined, null, 7n]],
  [z.json(), [{ a: [1, null] }]],
  [z.iso.date(), ["2020-02-29"]],
  [z.iso.time(), ["03:15", "03:15:00.5"]],
  [z.iso.datetime(), ["2020-01-01T00:00:00Z", "2020-01-01T00:00Z"]],
  [z.iso.datetime({ local: true }), ["2020-01-01T00:00:00"]],
  [z.iso.datetime({ offset: true }), ["2020-01-01T00:00:00+14:00"]],
  [z.iso.datetime({ precision: -1 }), ["2020-01-01T00:00Z"]],
  [z.iso.duration(), ["P1W", "PT1.5S"]],
  [z.email(), ["a@b.co"]],
  [z.email({ pattern: z.regexes.unicodeEmail }), ["\u00fc@\u00fc.de"]],
  [z.url(), ["http://\u00fc.de/a b", "x:"]],
  [z.uuid(), ["00000000-0000-0000-0000-000000000000"]],
  [z.guid(), ["00000000-0000-0000-0000-00000000000f"]],
  [z.ipv4(), ["127.0.0.1"]],
  [z.ipv6(), ["::1"]],
  [z.base64(), ["YQ=="]],
];

/** Types around a type, with values around its values. */
const around: ((s: Sample) => Sample)[] = [
  ({ name, type, values }) => ({ name: `nullable ${name}`, type: type.nullable(), values: [...values, null] }),
  ({ name, type, values }) => ({ name: `readonly ${name}`, type: type.readonly(), values }),
  ({ name, type, values }) => ({ name: `lazy ${name}`, type: z.lazy(() => type), values }),
  ({ name, type, values }) => ({ name: `array of ${name}`, type: z.array(type), values: [[], values, [undefined]] }),
  ({ name, type, values }) => ({
    name: `array of optional ${name}`,
    type: z.array(type.optional()).describe("list"),
    values: [[...values, undefined]],
  }),
  ({ name, type, values }) => ({
    name: `tuple with ${name}`,
    type: z.tuple([z.int(), type.optional()], type.optional()),
    values: [[1], [1, undefined, undefined], ...values.map((v) => [1, v, v])],
  }),
  ({ name, type, values }) => ({
    name: `object with ${name}`,
    type: z.object({ a: type, b: type.optional(), c: z.int().default(1), d: z.int().prefault(1), e: type.nullish() }),
    values: [{}, ...values.flatMap((v) => [{ a: v }, { a: v, b: v, c: 2, more: 1 }, { a: v, b: undefined, e: null }])],
  }),
  ({ name, type, values }) => ({
    name: `object with caught ${name}`,
    type: z.object({ a: type.catch(undefined as never) }),
    values: [{}, { a: "other" }, ...values.map((a) => ({ a }))],
  }),
  ({ name, type, values }) => ({
    name: `strict object with ${name}`,
    type: z.strictObject({ a: type }),
    values: values.map((a) => ({ a })),
  }),
  ({ name, type, values }) => ({
    name: `record of ${name}`,
    type: z.record(z.string(), type),
    values: [{ no: undefined }, ...values.map((v) => ({ x: v, "1.5": v }))],
  }),
  ({ name, type, values }) => ({
    name: `record by number of ${name}`,
    type: z.record(z.number(), type),
    values: values.map((v) => ({ 1: v, "-1.5": v })),
  }),
  ({ name, type, values }) => ({
    name: `intersection with ${name}`,
    type: z.object({ a: type }).and(z.object({ b: z.int() })),
    values: values.map((a) => ({ a, b: 1, c: 2 })),
  }),
  ({ name, type, values }) => ({
    name: `variants with ${name}`,
    type: z.discriminatedUnion("k", [z.object({ k: z.literal("a"), a: type }), z.object({ k: z.literal("b") })]),
    values: [{ k: "b", a: 1 }, ...values.map((a) => ({ k: "a", a }))],
  }),
  ({ name, type, values }) => ({
    name: `union with ${name}`,
    type: z.union([type, z.object({ a: z.array(type) })]),
    values: [...values, { a: values }],
  }),
];

const samples: Sample[] = simple.map(([type, values], i) => ({ name: `type ${i} (${type.type})`, type, values }));
const nested = samples.flatMap((s) => around.map((wrap) => wrap(s)));
// Two levels, by a fixed choice: all pairs are too many.
const deeper = nested.flatMap((s, i) =>
  [5, 11].map((step) => (around[(i * step + 3) % around.length] as (s: Sample) => Sample)(s)),
);

/** The formats as RFC 3339 and 2673 have them, independent of zod. */
const formats: Record<string, RegExp> = {
  date: /^\d{4}-\d\d-\d\d$/,
  "date-time": /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/,
  ipv4: /^\d+(\.\d+){3}$/,
  ipv6: /^[0-9a-f:.]+$/,
};

test("the schema of a result accepts the JSON of every value", async () => {
  let checked = 0;
  const problems: string[] = [];
  for (const { name, type, values } of [...samples, ...nested, ...deeper]) {
    const text = schemaText(type, "output");
    const check = await checker(text);
    const { format } = JSON.parse(text) as { format?: string };
    for (const value of values) {
      if (!type.safeParse(value).success) {
        continue;
      }
      let encoded: string;
      try {
        encoded = encodeJSON(value);
      } catch {
        continue; // the whole is undefined, or NaN
      }
      checked++;
      for (const line of check?.(JSON.parse(encoded)) ?? ["zod cannot read the schema"]) {
        problems.push(`${name}: ${encoded} does not fit ${text}: ${line}`);
      }
      if (format && typeof value === "string" && !formats[format]?.test(value)) {
        problems.push(`${name}: ${encoded} does not have the format ${format}`);
      }
    }
  }
  assert.deepEqual(problems.slice(0, 20), [], `${problems.length} of ${checked}`);
  assert.ok(checked > 2000, `${checked} values`);
});

test("a regular expression that toolhost cannot read is left to zod", () => {
  const read = (type: z.ZodType) => (JSON.parse(schemaText(type, "input")) as { pattern?: string }).pattern;
  for (const type of [z.iso.duration(), z.emoji(), z.hostname(), z.string().regex(/(a)\1/), z.string().regex(/\u0041/)]) {
    assert.equal(read(type), undefined);
  }
  assert.equal(read(z.string().regex(/^(?<n>[a-z]+)\d$/)), "^(?<n>[a-z]+)\\d$");
});

test("a type whose values JSON loses has no schema", () => {
  for (const type of [
    z.bigint(),
    z.date(),
    z.map(z.string(), z.int()),
    z.set(z.int()),
    z.undefined(),
    z.nan(),
    z.file(),
    z.symbol(),
  ]) {
    assert.throws(() => schemaText(z.object({ a: type }), "output"), /cannot be represented in JSON Schema; use types/);
  }
  assert.throws(() => encodeJSON({ a: new Blob(["x"]) }), /a file has no JSON form/);
  assert.throws(() => encodeJSON({ a: Promise.resolve(1) }), /await it/);
});
