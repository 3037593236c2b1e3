//go:build more

package languages

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/want.txt again, from what the Go caller says of the Go plugin")

const wanted = "testdata/want.txt"

// The caller of each language prints the same for the plugin of each language.
func TestAllPairs(t *testing.T) {
	bin := build(t)
	encoded, err := json.Marshal(cases())
	if err != nil {
		t.Fatal(err)
	}
	table := filepath.Join(t.TempDir(), "cases.json")
	if err := os.WriteFile(table, encoded, 0o600); err != nil {
		t.Fatal(err)
	}
	all := languages(t, bin)
	if *update {
		outcomes := call(t, all[0], serve(t, filepath.Join(bin, "toolhost"), all[0]), table)
		if err := os.WriteFile(wanted, []byte(outcomes), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(wanted)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("pairs", func(t *testing.T) {
		for _, served := range all {
			t.Run(served.Name+" plugin", func(t *testing.T) {
				t.Parallel()
				addr := serve(t, filepath.Join(bin, "toolhost"), served)
				for _, calling := range all {
					t.Run(calling.Name+" caller", func(t *testing.T) {
						compare(t, string(want), call(t, calling, addr, table))
					})
				}
			})
		}
	})
}

// compare compares the outputs case by case, so that one difference does not hide the others.
func compare(t *testing.T, want, got string) {
	t.Helper()
	wantCases, gotCases := split(want), split(got)
	if len(gotCases) != len(wantCases) {
		t.Errorf("%d cases, want %d", len(gotCases), len(wantCases))
	}
	for i := range min(len(wantCases), len(gotCases)) {
		if diff := cmp.Diff(strings.Split(wantCases[i], "\n"), strings.Split(gotCases[i], "\n")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// split returns the parts of a caller's output. Each part begins with a line without indentation.
func split(printed string) []string {
	var parts []string
	for line := range strings.Lines(printed) {
		if !strings.HasPrefix(line, " ") || len(parts) == 0 {
			parts = append(parts, "")
		}
		parts[len(parts)-1] += line
	}
	return parts
}
