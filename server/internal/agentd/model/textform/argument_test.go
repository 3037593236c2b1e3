package textform

import (
	"strings"
	"testing"
)

// TestPiecesAreExaminedOnce reads long texts byte by byte. If each byte led to another look at the
// whole text, the test would take many minutes.
func TestPiecesAreExaminedOnce(t *testing.T) {
	const size = 500_000
	for name, test := range map[string]struct {
		permitted types
		text      string
	}{
		"an object or text":    {typeAny, `{"a":"` + strings.Repeat("x", size) + `"}`},
		"an array or text":     {typeString | typeArray, "[" + strings.Repeat("1", size) + "]"},
		"a number and space":   {typeString | typeNumber, "1" + strings.Repeat(" ", size)},
		"space and a number":   {typeNumber, strings.Repeat("\t", size) + "1"},
		"text for a number":    {typeNumber, strings.Repeat("x ", size/2)},
		"an array for objects": {typeObject, "[" + strings.Repeat(" ", size) + "]"},
	} {
		var got strings.Builder
		a := argument{permitted: test.permitted, blank: true, write: func(json string) { got.WriteString(json) }}
		for i := range len(test.text) {
			a.add(test.text[i : i+1])
		}
		want := strings.Trim(test.text, space)
		if name == "text for a number" {
			want = quote(want)
		}
		if problem := a.close(); problem != "" || got.String() != want {
			t.Errorf("%s: got %d bytes and %q, want %d bytes", name, got.Len(), problem, len(want))
		}
	}
}
