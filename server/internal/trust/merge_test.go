package trust_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/toolhost/toolhost/server/internal/trust"
)

// A restore of trust records from a backup keeps the folders that plugins could write since then,
// so that their files do not become configuration.
func TestMergeKeepsTheWritableFolders(t *testing.T) {
	w := newWorld(t)
	first, second := filepath.Dir(w.write(t, "etc/a", "")), filepath.Dir(w.write(t, "ws/toolhost.yaml", "x"))
	file := filepath.Join(w.store.Dir(), "trust.json")
	recorded := func(folder string) []byte {
		must(t, w.store.AddWritable(folder))
		text, err := os.ReadFile(file)
		must(t, err)
		return text
	}
	restored := recorded(first)
	inUse := recorded(second)
	merged, err := trust.Merge(restored, inUse)
	must(t, err)
	must(t, os.WriteFile(file, merged, 0o600))
	refused(t, w.check(t, filepath.Join(second, "toolhost.yaml"), true), "tools may write")
	if again, err := trust.Merge(merged, merged); err != nil || string(again) != string(merged) {
		t.Errorf("merged with itself: %s, %v; want %s", again, err, merged)
	}
	for _, damaged := range []string{"", "{}", `{"version":2}`} {
		if _, err := trust.Merge([]byte(damaged), inUse); err == nil {
			t.Errorf("it accepts %q", damaged)
		}
	}
}
