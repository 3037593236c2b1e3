package docs

import "testing"

func TestMatches(t *testing.T) {
	for _, test := range []struct {
		shown, text string
		want        bool
	}{
		{"a\nb\n", "a\nb\n", true},
		{"a\nb\n", "a\nb", true},
		{"a\n", "a\nb\n", false},
		{"a\n...\n", "a\nb\nc\n", true},
		{"a\n...\n", "a\n", true},
		{"...\nb\n...\n", "a\nb\nc\n", true},
		{"...\nb\n...\n", "a\nbb\nc\n", false},
		{"took … ms\n", "took 1.5 ms\n", true},
		{"took … ms\n", "took\n1.5 ms\n", false},
		{"a  b\n", "a  b  \n", true},
		{"(1.5)\n", "(145)\n", false},
	} {
		if got := matches(test.shown, test.text); got != test.want {
			t.Errorf("%q as %q: %t", test.text, test.shown, got)
		}
	}
}
