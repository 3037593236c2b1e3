package yamldoc_test

import (
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
)

func TestInsert(t *testing.T) {
	for name, c := range map[string]struct{ before, path, want string }{
		"nothing":           {"", "secrets token", "secrets:\n  token: 1\n"},
		"a comment":         {"# mine", "secrets token", "# mine\nsecrets:\n  token: 1\n"},
		"another key":       {"a: 1 # one\n", "secrets token", "a: 1 # one\nsecrets:\n  token: 1\n"},
		"no line end":       {"a: 1", "b", "a: 1\nb: 1\n"},
		"a mapping":         {"secrets: # mine\n    # the first\n    first: {env: X}\nz: 2\n", "secrets token", "secrets: # mine\n    token: 1\n    # the first\n    first: {env: X}\nz: 2\n"},
		"an empty mapping":  {"z: 2\nsecrets:\n", "secrets token", "z: 2\nsecrets:\n  token: 1\n"},
		"an end":            {"secrets:", "secrets token", "secrets:\n  token: 1\n"},
		"braces":            {"secrets: {first: {env: X}} # mine\n", "secrets token", "secrets: {token: 1, first: {env: X}} # mine\n"},
		"empty braces":      {"secrets: {}\n", "secrets token", "secrets: {token: 1}\n"},
		"all in braces":     {"{a: 1}\n", "secrets token", "{secrets: {token: 1}, a: 1}\n"},
		"deep":              {"plugin:\n  other: {}\n", "plugin web sandbox network", "plugin:\n  web:\n    sandbox: {network: 1}\n  other: {}\n"},
		"deeper":            {"plugin:\n  web:\n    env: {A: b}\n", "plugin web sandbox network", "plugin:\n  web:\n    sandbox:\n      network: 1\n    env: {A: b}\n"},
		"a word of YAML":    {"a: 1\n", "secrets no", "a: 1\nsecrets:\n  \"no\": 1\n"},
		"letters before it": {"ä: {ö: {}, ü: 1}\n", "ä ö x", "ä: {ö: {x: 1}, ü: 1}\n"},
	} {
		got, err := yamldoc.Insert("f.yaml", []byte(c.before), strings.Fields(c.path), "1")
		if err != nil || string(got) != c.want {
			t.Errorf("%s: got %q, %v; want %q", name, got, err, c.want)
		}
		if _, err := yamldoc.Insert("f.yaml", got, strings.Fields(c.path), "1"); err == nil || !strings.Contains(err.Error(), "already") {
			t.Errorf("%s, again: %v", name, err)
		}
	}
	for name, before := range map[string]string{"a text": "secrets: x\n", "a list": "secrets: [x]\n", "null": "secrets: ~\n", "no YAML": "secrets: {\n"} {
		if got, err := yamldoc.Insert("f.yaml", []byte(before), []string{"secrets", "token"}, "1"); err == nil {
			t.Errorf("%s: got %q", name, got)
		}
	}
}
