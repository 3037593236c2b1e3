import { type Plugin, ToolError, tool } from "@toolhost/sdk";
import { z } from "zod";

/** What one unit is in the first one of its kind. */
const kinds: readonly Readonly<Record<string, number>>[] = [
  { m: 1, km: 1000, mi: 1609.344, ft: 0.3048 },
  { kg: 1, g: 0.001, lb: 0.45359237, oz: 0.028349523125 },
];
const units = kinds.flatMap((kind) => Object.keys(kind));

const convert = tool(
  {
    name: "convert",
    description:
      "Converts a length or a mass into another unit. Use it instead of computing by yourself. The answer is rounded to 6 digits.",
    input: z.object({
      value: z.number().describe("how much it is"),
      from: z.enum(units).describe("the unit that it is in"),
      to: z.enum(units).describe("the unit that it shall be in"),
    }),
    output: z.object({ value: z.number(), unit: z.string() }),
    readOnly: true,
  },
  ({ value, from, to }) => {
    const kind = kinds.find((one) => from in one && to in one);
    if (!kind) {
      throw new ToolError(`${from} cannot be converted to ${to}: one is a length, the other a mass`);
    }
    return { value: Number(((value * (kind[from] ?? 1)) / (kind[to] ?? 1)).toPrecision(6)), unit: to };
  },
);

export const plugin: Plugin = { name: "units", version: "1.0.0", description: "Converts units.", tools: [convert] };
