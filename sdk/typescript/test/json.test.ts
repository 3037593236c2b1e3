import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeJSON, parseJSON, rawJSON } from "@toolhost/sdk";

test("integers keep their digits", () => {
  const text =
    '{"n":9007199254740993,"s":"9007199254740993 \\" 9007199254740993","f":9007199254740993.5,"l":[-18446744073709551616,12]}';
  const value = parseJSON(text);
  assert.deepEqual(value, {
    n: 9007199254740993n,
    s: '9007199254740993 " 9007199254740993',
    f: 9007199254740994,
    l: [-18446744073709551616n, 12],
  });
  assert.equal(encodeJSON({ n: 9007199254740993n, l: [1n] }), '{"n":9007199254740993,"l":[1]}');
  assert.equal(encodeJSON(7n), "7");
  assert.equal(parseJSON("1e20"), 1e20);
  assert.throws(() => parseJSON('{"n":12345678901234567890'), SyntaxError);
});

test("JSON text goes as it is", () => {
  assert.equal(encodeJSON({ a: rawJSON('{"x":1.00, "y":"\\u0041"}') }), '{"a":{"x":1.00, "y":"\\u0041"}}');
  assert.equal(encodeJSON(rawJSON(" 1.0 ")), " 1.0 ");
  assert.equal(encodeJSON(["$&", rawJSON('"$1"')]), '["$&","$1"]');
  assert.throws(() => rawJSON("{"), SyntaxError);
  assert.throws(() => encodeJSON(undefined), TypeError);
});

test("what JSON would lose is refused, with what to do instead", () => {
  const cycle: Record<string, unknown> = {};
  cycle.itself = cycle;
  let deep: unknown = 1;
  for (let i = 0; i < 20_000; i++) {
    deep = [deep];
  }
  for (const [value, why] of [
    [undefined, /^a value of type undefined has no JSON form; use/],
    [() => 1, /^a value of type function has no JSON form; use/],
    [cycle, /^the value holds itself, .* make it one without the cycle \(.*\)$/],
    [deep, /^the value is nested too deeply for JSON; make it flatter$/],
    [{ n: Number.NaN }, /^"n": NaN has no JSON form; use null/],
    [[1, -Infinity], /^"1": -Infinity has no JSON form/],
    [{ m: new Map([[1, 2]]) }, /^"m": a Map has no JSON form; make it an object with Object.fromEntries\(\)$/],
    [new Set([1]), /^a Set has no JSON form; make it a list with \[\.\.\.set\]$/],
    [{ data: Buffer.from("x") }, /^"data": bytes have no JSON form; return them with image\(\) or file\(\)/],
    [Uint8Array.of(1), /^bytes have no JSON form/],
    [[new Error("x")], /^"0": an error has no JSON form; throw it/],
  ] as const) {
    assert.throws(() => encodeJSON(value), { name: "TypeError", message: why });
  }
  assert.equal(
    encodeJSON({ when: new Date(0), not: undefined, l: [undefined] }),
    '{"when":"1970-01-01T00:00:00.000Z","l":[null]}',
  );
});

test("a property called __proto__ is a property", () => {
  const value = parseJSON('{"__proto__":{"x":12345678901234567890}}') as object;
  assert.deepEqual(Object.keys(value), ["__proto__"]);
});
