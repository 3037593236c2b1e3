import assert from "node:assert/strict";
import { test } from "node:test";
import { PartialJSON } from "../dist/plugin/partialjson.js";

const texts = [
  '{"a":[1,-2.5e+3,{"b":null,"c":"x\\ud83d\\ude00\\n"}],"d":true}',
  '["\\u00e9","é","\\ud800",false,{},[ ]]',
  '"\\ud800\\ud800\\udc00"',
  ' { "k" : 0 , "l" : [ ] } ',
  '{"":"\\ud83d\\n","\\ud83d":[0e1,"\\\\\\""],"x":"\\u0000\\udc00\\ud83d\\u0041"}',
  '["naïve 漢字 😀",{"a":{}}]',
];

test("every prefix gives what the whole says as far as it goes", () => {
  for (const text of texts) {
    const whole: unknown = JSON.parse(text);
    const bytes = Buffer.from(text);
    const parser = new PartialJSON();
    let longest = 0;
    for (const byte of bytes) {
      parser.write(Uint8Array.of(byte));
      assert(!parser.broken, text);
      if (parser.value !== "") {
        assert(within(JSON.parse(parser.value), whole), `${parser.value} is not in ${text}`);
      }
      longest = Math.max(longest, parser.value.length);
    }
    assert.deepEqual(JSON.parse(parser.value), whole, "the whole");
    const once = new PartialJSON();
    once.write(bytes);
    assert.equal(once.value, parser.value, "however it is cut");
  }
});

test("what could still change is left out", () => {
  for (const [prefix, want] of [
    ["", ""],
    [" ", ""],
    ["{", "{}"],
    ['{"a', "{}"],
    ['{"a":', "{}"],
    ['{"a":1', "{}"],
    ['{"a":1,', '{"a":1}'],
    ['{"a":"x\\', '{"a":"x"}'],
    ['{"a":"x\\u00e', '{"a":"x"}'],
    ['{"a":"x\\ud83d', '{"a":"x"}'],
    ['{"a":"x\\ud83dy', '{"a":"x\\ud83dy"}'],
    ['{"a":tru', "{}"],
    ['{"a":true', '{"a":true}'],
    ["[1.", "[]"],
    ["12", ""],
  ] as const) {
    const parser = new PartialJSON();
    parser.write(Buffer.from(prefix));
    assert.equal(parser.value, want, prefix);
  }
});

test("what is no JSON is noticed where it ceases to be", () => {
  for (const text of ["[1,]", '{"a" 1', "{,", "tru ", "01", "-x", '"\n', '"\\x', "1 2", "]", "[1.e", '{"a":1]']) {
    const parser = new PartialJSON();
    parser.write(Buffer.from(text));
    assert(parser.broken, text);
  }
});

// within reports whether part says nothing that whole does not say.
function within(part: unknown, whole: unknown): boolean {
  if (typeof part === "string") {
    return typeof whole === "string" && whole.startsWith(part);
  }
  if (Array.isArray(part)) {
    return Array.isArray(whole) && part.length <= whole.length && part.every((child, i) => within(child, whole[i]));
  }
  if (typeof part === "object" && part !== null) {
    const other = whole as Record<string, unknown>;
    return Object.entries(part).every(([key, child]) => Object.hasOwn(other, key) && within(child, other[key]));
  }
  return part === whole;
}
