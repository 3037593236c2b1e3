//go:build !race

package trust_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A toolhost that lists absurd folders cannot make the records too large to be read.
func TestAbsurdFoldersDoNotFillTheRecords(t *testing.T) {
	w := newWorld(t)
	path := w.write(t, "etc/toolhost.yaml", "x")
	must(t, w.store.TrustFile(path, []byte("x")))
	for round := range 9 { // 72 MB
		var folders []string
		for i := range 8 {
			folders = append(folders, fmt.Sprintf("/%d/%d/%s", round, i, strings.Repeat("x", 1_000_000)))
		}
		must(t, w.store.AddWritable(folders...))
	}
	info, err := os.Stat(filepath.Join(w.store.Dir(), "trust.json"))
	if must(t, err); info.Size() > 9_000_000 {
		t.Errorf("the records have %d bytes", info.Size())
	}
	must(t, w.check(t, path, false))
}
