// Package shortdir makes the folders of tests that put sockets into them. The folder of
// testing.T.TempDir contains the test's name and is below TMPDIR, and either can be too long for
// the 108 bytes of a socket's path.
package shortdir

import (
	"os"
	"testing"
)

// Make returns a new folder below /tmp, whose path has at most 20 bytes. The end of the test
// removes it.
func Make(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp("/tmp", "t")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			tb.Error(err)
		}
	})
	return dir
}
