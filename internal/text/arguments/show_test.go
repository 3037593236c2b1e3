package arguments_test

import (
	"strings"
	"testing"
)

// TestLookalikesDiffer checks that a message tells apart names and values that look alike on a
// screen.
func TestLookalikesDiffer(t *testing.T) {
	schema := `{"type":"object","properties":{"größe":{"enum":["größe"]},"a b":{},"ab":{},"नमस्ते":{"type":"integer"}},"additionalProperties":false}`
	for given, want := range map[string][]string{
		"{\"gro\u0308ße\":1}":         {`unknown "gro\u0308ße"`, `"größe"`},
		"{\"größe\":\"gro\u0308ße\"}": {`["größe"]`, `"gro\u0308ße"`},
		"{\"a\u00a0b\":1}":            {`unknown "a\u00a0b"`, `"a b"`},
		"{\"a\u200bb\":1}":            {`unknown "a\u200bb"`, `"ab"`},
		"{\"a\u200db\":1}":            {`unknown "a\u200db"`, `"ab"`},
		"{\"नमस्ते\":\"👨\u200d👩\u200d👧\"}": {"नमस्ते: must be", "\"👨\u200d👩\u200d👧\""},
		"{\"größe\":\"x\U000e0041\"}":      {`"x\udb40\udc41"`},
	} {
		err := compile(t, schema).Validate(parsed(t, given))
		if err == nil {
			t.Errorf("%q fits", given)
			continue
		}
		for _, text := range want {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%q: want %q in %q", given, text, err)
			}
		}
	}
}
