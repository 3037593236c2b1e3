package postgres

import (
	"encoding/json"
	"testing"

	"github.com/toolhost/toolhost/plugins/querydb/rowset"
)

// For every input, the result is an error or valid JSON.
func FuzzArray(f *testing.F) {
	for _, text := range []string{"{}", "{1,NULL}", `{"a\"b",c}`, "{{1},{2}}", "[0:1]={1,2}", "{", "{,}", `{"`, `{"\`, "{a\\b}", "{{{{{{{1}}}}}}}", "{1}x", "{}{}", "[", "{\"\"}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		value, err := array(text, rowset.Text)
		if err == nil && !json.Valid(value) {
			t.Errorf("%q became %q", text, value)
		}
	})
}
