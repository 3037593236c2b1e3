package terminal

import (
	"strings"
	"testing"
)

// A block is erased as a whole, also after the terminal got narrower and wrapped its lines, or
// wider.
func TestABlockIsErasedAfterAResize(t *testing.T) {
	for name, tt := range map[string]struct {
		lines []string
		wide  int
		up    int
	}{
		"the same width":  {[]string{"one", strings.Repeat("x", 79)}, 80, 1},
		"wider":           {[]string{"one", "two"}, 100, 1},
		"narrower":        {[]string{"one", strings.Repeat("x", 79)}, 40, 2},
		"in color":        {[]string{"\x1b[2m" + strings.Repeat("x", 40) + "\x1b[0m"}, 40, 0},
		"wide characters": {[]string{strings.Repeat("語", 21)}, 40, 1},
		"was cut":         {[]string{strings.Repeat("x", 200)}, 40, 1},
		"an empty line":   {[]string{"", "two"}, 40, 1},
		"gone":            {[]string{"one", "two"}, 0, 1},
	} {
		wide := 80
		b := Block{Size: func() (int, int) { return wide, 24 }}
		b.Above("", tt.lines, false)
		wide = tt.wide
		if got, want := b.Erase(), "\r"+strings.Repeat(LineUp, tt.up)+EraseBelow; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		if got := b.Erase(); got != "" {
			t.Errorf("%s: erased twice: %q", name, got)
		}
	}
}
