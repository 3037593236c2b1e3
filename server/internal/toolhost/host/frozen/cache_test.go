//go:build !race

package frozen

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/text/arguments"
)

// The cache takes about as much memory as it counts, whatever the arguments look like: much white
// space, or many small values that were read one by one.
func TestKeptArgumentsAreCounted(t *testing.T) {
	schema, err := arguments.Compile([]byte(`{"not":{"const":1}}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		count int
		text  string
	}{
		"space":  {64, `{"n":%d` + strings.Repeat(" ", 4<<20) + `}`},
		"values": {64, `{"n":%d,"l":[` + strings.Repeat("{},", 1<<16) + `{}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			before, f := inUse(), NewCache()
			for n := range tc.count {
				final, err := arguments.Parse(fmt.Appendf(nil, tc.text, n))
				if err != nil {
					t.Fatal(err)
				}
				if err := schema.Validate(final); err != nil {
					t.Fatal(err)
				}
				f.Store(Key{Session: fmt.Sprint(n)}, Arguments{Final: final})
			}
			if took := inUse() - before; took > maxBytes {
				t.Errorf("what is kept takes %d MiB, want at most %d", took>>20, maxBytes>>20)
			}
			last := f.Take(Key{Session: fmt.Sprint(tc.count - 1)})
			if want := fmt.Sprintf(`{"n":%d`, tc.count-1); last == nil || !strings.Contains(string(last.Final.Canonical()), want[1:]) {
				t.Errorf("the last are not kept: %v", last)
			}
		})
	}
}

func inUse() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
