import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeJSON, parseJSON, rawJSON } from "toolhost";

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

test("a property called __proto__ is a property", () => {
  const value = parseJSON('{"__proto__":{"x":12345678901234567890}}') as object;
  assert.deepEqual(Object.keys(value), ["__proto__"]);
});
