/** What a toolhost checks of arguments and results, as far as zod can tell. */
import * as zod from "zod";
import type { $ZodIssue, $ZodType } from "zod/v4/core";
import { safeParse } from "zod/v4/core";

/**
 * Returns what checks values by a JSON Schema: it returns the lines that say what is wrong. Undefined: zod cannot tell, and
 * a toolhost will.
 */
export function checker(schema: string): ((value: unknown) => string[]) | undefined {
  let type: $ZodType;
  try {
    type = zod.fromJSONSchema(JSON.parse(schema));
  } catch {
    return undefined;
  }
  return (value) => {
    const parsed = safeParse(type, value);
    return parsed.success ? [] : parsed.error.issues.map((issue) => `- ${place(issue)}: ${issue.message}`);
  };
}

function place({ path }: $ZodIssue): string {
  return path.length > 0 ? path.map(String).join(".") : "arguments";
}
