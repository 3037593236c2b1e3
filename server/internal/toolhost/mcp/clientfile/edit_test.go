package clientfile

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	testEntry = object{{"command", "/bin/toolhost"}, {"args", []string{"mcp", "serve"}}}
	testLine  = object{{"args", []string{"mcp", "serve", "--search"}}}
)

// TestEdits checks the texts that put, update and remove make. In the texts, ENTRY is the entry in
// several lines at the indentation of its line.
func TestEdits(t *testing.T) {
	jsonPath, tomlPath := []string{"servers", "toolhost"}, []string{"mcp_servers", "toolhost"}
	const multi = "{\n  \"servers\": {\n    \"toolhost\": {\n      \"command\": \"/bin/toolhost\",\n      \"args\": [\"mcp\", \"serve\"]\n    }\n  }\n}\n"
	const one = `"toolhost": {"command": "/bin/toolhost", "args": ["mcp", "serve"]}`
	const four = "\"toolhost\": {\n            \"command\": \"/bin/toolhost\",\n            \"args\": [\"mcp\", \"serve\"]\n        }"
	const table = "[mcp_servers.toolhost]\ncommand = \"/bin/toolhost\"\nargs = [\"mcp\", \"serve\"]\n"
	for name, tt := range map[string]struct {
		syntax        syntax
		path          []string
		before, after string
		removed       string // after remove, if it is not before
	}{
		"an empty file":      {jsonSyntax{}, jsonPath, "", multi, "{\n  \"servers\": {\n  }\n}\n"},
		"white space":        {jsonSyntax{}, jsonPath, " \n\n", multi, "{\n  \"servers\": {\n  }\n}\n"},
		"a byte order mark":  {jsonSyntax{}, jsonPath, "\xef\xbb\xbf", "\xef\xbb\xbf" + multi, "\xef\xbb\xbf{\n  \"servers\": {\n  }\n}\n"},
		"an empty object":    {jsonSyntax{}, jsonPath, "{}\n", multi, "{\n  \"servers\": {\n  }\n}\n"},
		"one line":           {jsonSyntax{}, jsonPath, `{"a": 1}`, `{"a": 1, "servers": {` + one + `}}`, `{"a": 1, "servers": {}}`},
		"one line, a server": {jsonSyntax{}, jsonPath, `{"servers": {"b": {}}}`, `{"servers": {"b": {}, ` + one + `}}`, ""},
		"one line, a comma":  {jsonSyntax{}, jsonPath, `{"servers": {"b": {},},}`, `{"servers": {"b": {}, ` + one + `,},}`, ""},
		"other servers": {
			jsonSyntax{}, jsonPath, "{\n    \"servers\": {\n        \"b\": {}\n    },\n    \"c\": [1,2]\n}",
			"{\n    \"servers\": {\n        \"b\": {},\n        " + four + "\n    },\n    \"c\": [1,2]\n}", "",
		},
		"comments and commas": {
			jsonSyntax{}, jsonPath, "// mine\n{\n    \"servers\": {\n        // the b\n        \"b\": {}, // b }\n        /* end */\n    }, \"x\": \"{\", } // end",
			"// mine\n{\n    \"servers\": {\n        // the b\n        \"b\": {}, // b }\n        /* end */\n        " + four + ",\n    }, \"x\": \"{\", } // end", "",
		},
		"a comment at the last one": {
			jsonSyntax{}, jsonPath, "{\n    \"servers\": {\n        \"b\": {} // b\n    }\n}", "{\n    \"servers\": {\n        \"b\": {}, // b\n        " + four + "\n    }\n}", "",
		},
		"the ends of lines of Windows": {
			jsonSyntax{}, jsonPath, "{\r\n    \"servers\": {\r\n        \"b\": {}\r\n    }\r\n}\r\n",
			"{\r\n    \"servers\": {\r\n        \"b\": {},\r\n        " + strings.ReplaceAll(four, "\n", "\r\n") + "\r\n    }\r\n}\r\n", "",
		},
		"tabs": {
			jsonSyntax{}, jsonPath, "{\n\t\"servers\": {}\n}",
			"{\n\t\"servers\": {\n\t\t\"toolhost\": {\n\t\t\t\"command\": \"/bin/toolhost\",\n\t\t\t\"args\": [\"mcp\", \"serve\"]\n\t\t}\n\t}\n}", "{\n\t\"servers\": {\n\t}\n}",
		},
		"the same key elsewhere": {
			jsonSyntax{}, jsonPath, "{\n    \"projects\": {\"/x\": {\"servers\": {\"toolhost\": 1}}},\n    \"servers\": {\n        \"b\": 1e400\n    }\n}",
			"{\n    \"projects\": {\"/x\": {\"servers\": {\"toolhost\": 1}}},\n    \"servers\": {\n        \"b\": 1e400,\n        " + four + "\n    }\n}", "",
		},

		"no TOML":                   {tomlSyntax{}, tomlPath, "", table, ""},
		"TOML with a mark":          {tomlSyntax{}, tomlPath, "\xef\xbb\xbfa = 1\n", "\xef\xbb\xbfa = 1\n\n" + table, ""},
		"TOML without an end":       {tomlSyntax{}, tomlPath, "a = 1", "a = 1\n\n" + table, "a = 1\n"},
		"values that are no number": {tomlSyntax{}, tomlPath, "a = nan\n[[b]]\nc = [1.5, -nan, inf]\n", "a = nan\n[[b]]\nc = [1.5, -nan, inf]\n\n" + table, ""},
		"tables": {
			tomlSyntax{}, tomlPath, "# mine\nmodel = \"x\" # it\n\n[mcp_servers.b]\nargs = [\n  \"[mcp_servers.toolhost]\", # c\n]\n\n# the end\n",
			"# mine\nmodel = \"x\" # it\n\n[mcp_servers.b]\nargs = [\n  \"[mcp_servers.toolhost]\", # c\n]\n\n# the end\n\n" + table, "",
		},
		"the ends of lines of Windows in TOML": {tomlSyntax{}, tomlPath, "a = 1\r\n", "a = 1\r\n\r\n" + strings.ReplaceAll(table, "\n", "\r\n"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			before, err := tt.syntax.decode([]byte(tt.before))
			if err != nil {
				t.Fatal(err)
			}
			made, err := tt.syntax.put([]byte(tt.before), tt.path, testEntry)
			if err != nil || string(made) != tt.after {
				t.Fatalf("put: %v\n%s", err, cmp.Diff(tt.after, string(made)))
			}
			after, err := tt.syntax.decode(made)
			if err != nil || !changesOnly(before, after, tt.path, testEntry.tree()) {
				t.Errorf("put changes more: %v, %v", after, err)
			}
			updated, err := tt.syntax.update(made, tt.path, testLine)
			if want := strings.ReplaceAll(tt.after, `"serve"]`, `"serve", "--search"]`); err != nil || string(updated) != want {
				t.Errorf("update: %v\n%s", err, cmp.Diff(want, string(updated)))
			}
			if again, err := tt.syntax.put(updated, tt.path, testEntry); err != nil || !bytes.Equal(again, made) {
				t.Errorf("putting it again: %v\n%s", err, cmp.Diff(string(made), string(again)))
			}
			if tt.removed == "" {
				tt.removed = tt.before
			}
			removed, err := tt.syntax.remove(made, tt.path)
			if err != nil || string(removed) != tt.removed {
				t.Errorf("remove: %v\n%s", err, cmp.Diff(tt.removed, string(removed)))
			}
			if again, err := tt.syntax.remove(removed, tt.path); err != nil || !bytes.Equal(again, removed) {
				t.Errorf("removing it again: %v, %q", err, again)
			}
		})
	}
}

// TestEntriesInOtherForms checks edits of an entry that a person wrote.
func TestEntriesInOtherForms(t *testing.T) {
	jsonPath, tomlPath := []string{"servers", "toolhost"}, []string{"mcp_servers", "toolhost"}
	for name, tt := range map[string]struct {
		syntax                   syntax
		path                     []string
		before, updated, removed string // updated is empty if that is refused
	}{
		"the first one": {
			jsonSyntax{}, jsonPath, "{\n\"servers\": {\n  \"toolhost\": {\"args\": [1], \"env\": {}}, // mine\n  \"b\": {}\n}}",
			"{\n\"servers\": {\n  \"toolhost\": {\"args\": [\"mcp\", \"serve\", \"--search\"], \"env\": {}}, // mine\n  \"b\": {}\n}}",
			"{\n\"servers\": {\n   // mine\n  \"b\": {}\n}}",
		},
		"in the middle of a line, behind a comment": {
			jsonSyntax{}, jsonPath, "{\"servers\": { // all\n  \"toolhost\": {\"args\": []}, \"b\": {}}}",
			"{\"servers\": { // all\n  \"toolhost\": {\"args\": [\"mcp\", \"serve\", \"--search\"]}, \"b\": {}}}",
			"{\"servers\": { // all\n   \"b\": {}}}",
		},
		"a comment in front of the comma": {
			jsonSyntax{}, jsonPath, "{\"servers\": {\"toolhost\": {\"args\": []} /* c */, \"b\": {}}}",
			"{\"servers\": {\"toolhost\": {\"args\": [\"mcp\", \"serve\", \"--search\"]} /* c */, \"b\": {}}}",
			"{\"servers\": { /* c */ \"b\": {}}}",
		},
		"a table with tables": {
			tomlSyntax{}, tomlPath, "[mcp_servers.\"toolhost\"] # mine\nargs = [ # c\n  \"x\",\n] # d\nenabled = false\n# e\n[mcp_servers.toolhost.env]\nA = \"b\"\n[z]\n",
			"[mcp_servers.\"toolhost\"] # mine\nargs = [\"mcp\", \"serve\", \"--search\"] # d\nenabled = false\n# e\n[mcp_servers.toolhost.env]\nA = \"b\"\n[z]\n",
			"# e\n[z]\n",
		},
		"dotted keys": {
			tomlSyntax{}, tomlPath, "[mcp_servers]\ntoolhost.args = ['x']\nb.args = []\n", "[mcp_servers]\ntoolhost.args = [\"mcp\", \"serve\", \"--search\"]\nb.args = []\n",
			"[mcp_servers]\nb.args = []\n",
		},
		"an inline table": {tomlSyntax{}, tomlPath, "[mcp_servers]\ntoolhost = {args = ['x']}\nb.args = []\n", "", "[mcp_servers]\nb.args = []\n"},
	} {
		t.Run(name, func(t *testing.T) {
			updated, err := tt.syntax.update([]byte(tt.before), tt.path, testLine)
			if (err != nil) != (tt.updated == "") || string(updated) != tt.updated {
				t.Errorf("update: %v\n%s", err, cmp.Diff(tt.updated, string(updated)))
			}
			removed, err := tt.syntax.remove([]byte(tt.before), tt.path)
			if err != nil || string(removed) != tt.removed {
				t.Errorf("remove: %v\n%s", err, cmp.Diff(tt.removed, string(removed)))
			}
			made, err := tt.syntax.put([]byte(tt.before), tt.path, testEntry)
			if err != nil {
				t.Fatal(err)
			}
			before, _ := tt.syntax.decode([]byte(tt.before))
			if after, err := tt.syntax.decode(made); err != nil || !changesOnly(before, after, tt.path, testEntry.tree()) {
				t.Errorf("put: %v\n%s", err, made)
			}
		})
	}
}

func TestSame(t *testing.T) {
	for a, others := range map[string][]string{
		"a = 1": {"a = 2", "a = 1.0", "a = '1'", "b = 1", "", "a = [1]", "a = 1\nb = 1"}, "a = nan": {"a = 1.0", "a = 'nan'"},
		"a = [1, {b = nan}]": {"a = [1, {b = 1.0}]", "a = [1]", "a = [{b = nan}, 1]", "a = {b = nan}"}, "a = 2026-01-01T00:00:00Z": {"a = 2026-01-01", "a = 2026-01-01T00:00:01Z"},
	} {
		for _, b := range append(others, a) {
			one, err := tomlSyntax{}.decode([]byte(a))
			two, otherErr := tomlSyntax{}.decode([]byte(b))
			if got := same(one, two); got != (a == b) || got != same(two, one) || err != nil || otherErr != nil {
				t.Errorf("%q and %q: %v, %v, %v", a, b, got, err, otherErr)
			}
		}
	}
}

// A header with many parts costs no memory for each key below it.
func TestPathsAreBounded(t *testing.T) {
	long := strings.Repeat("a.", 2*mostParts)
	all, err := expressions([]byte("[" + long + "b]\n" + long + "c = 1\nd = 1\n"))
	if err != nil || len(all) != 3 {
		t.Fatalf("%v, %v", all, err)
	}
	for _, e := range all {
		if len(e.path) != mostParts {
			t.Errorf("the path is %q", e.path)
		}
	}
}

// TestTextsThatAreRefused checks that a text is refused instead of guessed at.
func TestTextsThatAreRefused(t *testing.T) {
	for text, syntax := range map[string]syntax{
		"[]": jsonSyntax{}, "null": jsonSyntax{}, "7": jsonSyntax{}, "{": jsonSyntax{}, "{} {}": jsonSyntax{}, "// nothing": jsonSyntax{}, "\xff\xfe{\x00}\x00": jsonSyntax{},
		`{"servers": []}`: jsonSyntax{}, `{"servers": {}, "servers": {}}`: jsonSyntax{}, `{"servers": {"toolhost": {}, "t\u006folhost": {}}}`: jsonSyntax{},
		`{"a": ` + strings.Repeat("[", 3<<20): jsonSyntax{}, strings.Repeat("[", 3<<20): tomlSyntax{},
		strings.Repeat("a.", 6<<20) + "a = 1": tomlSyntax{}, "a = {" + strings.Repeat("a.", 6<<20) + "a = 1}": tomlSyntax{},
		"a = ": tomlSyntax{}, "a = 1\na = 2": tomlSyntax{}, "servers = 1": tomlSyntax{}, "servers = {a = {}}": tomlSyntax{}, "[[servers]]": tomlSyntax{},
	} {
		before, err := syntax.decode([]byte(text))
		if err != nil {
			continue
		}
		made, err := syntax.put([]byte(text), []string{"servers", "toolhost"}, testEntry)
		if err != nil {
			continue
		}
		after, err := syntax.decode(made)
		if err == nil && changesOnly(before, after, []string{"servers", "toolhost"}, testEntry.tree()) {
			t.Errorf("%.40q becomes %.80q", text, made)
		}
	}
}

// FuzzEdit checks that an edit either fails or changes nothing but the entry, that the text without
// the entry has the values of the original, and that putting an entry into a text takes nothing of
// it away. An edit of JSON never makes something else; one of TOML may, if the tables are written
// in an odd form, and is refused then.
func FuzzEdit(f *testing.F) {
	for _, text := range []string{
		"", "{}", `{"a": 1,}`, "{\"servers\": {\n\"b\": {} // c\n}}", "{\"servers\": {\"toolhost\": {\"args\": [1]}, // x\n\"c\": 1}}", "\xef\xbb\xbf{/**/}",
		"a = 1", "[servers.toolhost]\nargs = []\nx = 1\n[servers.toolhost.env]\n[c]", "[servers]\ntoolhost.args = []", "[servers.b]\nx = '''\n[servers.toolhost]\n'''\n# c",
	} {
		f.Add(text)
	}
	path := []string{"servers", "toolhost"}
	f.Fuzz(func(t *testing.T, text string) {
		for _, syntax := range []syntax{jsonSyntax{}, tomlSyntax{}} {
			before, err := syntax.decode([]byte(text))
			if err != nil {
				continue
			}
			edit := func(name string, value any, made []byte, err error) bool {
				if err != nil {
					return false
				}
				after, err := syntax.decode(made)
				right := err == nil && changesOnly(before, after, path, value)
				if !right && syntax == (jsonSyntax{}) {
					t.Fatalf("%s: %q became %q: %v", name, text, made, err)
				}
				return right
			}
			removed, err := syntax.remove([]byte(text), path)
			if edit("remove", nil, removed, err) && !within(string(removed), text) {
				t.Errorf("remove: %q became %q", text, removed)
			}
			made, err := syntax.put([]byte(text), path, testEntry)
			if !edit("put", testEntry.tree(), made, err) {
				continue
			}
			if at(before, path) == nil && strings.TrimSpace(text) != "" && !within(text, string(made)) {
				t.Errorf("put: %q became %q", text, made)
			}
			removed, err = syntax.remove(made, path)
			if left, decodeErr := syntax.decode(removed); err != nil || decodeErr != nil || !changesOnly(before, left, path, nil) {
				t.Errorf("%q became %q, and then %q: %v, %v", text, made, removed, err, decodeErr)
			}
		}
	})
}

// within reports whether a text is what remains of another one if bytes of that are taken away.
func within(part, whole string) bool {
	for _, b := range []byte(whole) {
		if part != "" && part[0] == b {
			part = part[1:]
		}
	}
	return part == ""
}
