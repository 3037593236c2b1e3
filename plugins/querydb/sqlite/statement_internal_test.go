package sqlite

import "testing"

func TestSingle(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT 1":                     "SELECT 1",
		" SELECT 1 ; ":                 " SELECT 1 ",
		"SELECT 1;--x":                 "SELECT 1",
		"SELECT 1;/* ; */;":            "SELECT 1",
		"SELECT ';', \";\", `;`, [;]":  "SELECT ';', \";\", `;`, [;]",
		"SELECT 'it''s;' ; ":           "SELECT 'it''s;' ",
		"SELECT 1 -- ;\n+ 1":           "SELECT 1 -- ;\n+ 1",
		"SELECT /*/;*/ 1":              "SELECT /*/;*/ 1",
		"SELECT 1 /* never closed ;":   "SELECT 1 /* never closed ;",
		"SELECT 'never closed ; -- \n": "SELECT 'never closed ; -- \n",
		"SELECT 4-/*-*/-1":             "SELECT 4-/*-*/-1",
		"/* first */ SELECT 1":         "/* first */ SELECT 1",
		// More than one, or none.
		"SELECT 1; SELECT 2": "", "SELECT 1;;SELECT 2": "", "SELECT 1 -- \n;x": "", "SELECT ']' ; x": "", "SELECT [ ] ; x]": "", "SELECT 1;'": "", "SELECT 1;[": "",
		"": "", " \n": "", ";": "", "-- x": "", "/* x */": "", "SELECT 1\x00": "", "SELECT 1;/*": "",
	} {
		if got, err := single(text); got != want || (err == nil) != (want != "") {
			t.Errorf("%q has the statement %q, want %q, %v", text, got, want, err)
		}
	}
}

// A returned statement has no second statement.
func FuzzSingle(f *testing.F) {
	for _, text := range []string{"SELECT 1;", "SELECT ';'", "SELECT [;]", "SELECT 1 -- ;\n", "SELECT 1/*", "/", "-", "[", "SELECT 1 /*/;*/"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		statement, err := single(text)
		if err != nil {
			return
		}
		if again, err := single(statement); err != nil || again != statement || text[:len(statement)] != statement {
			t.Fatalf("%q has the statement %q, and that has %q, %v", text, statement, again, err)
		}
	})
}
