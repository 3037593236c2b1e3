package limits

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/toolhost/toolhost/server/internal/store/claimed"
)

// A sweep kills what runs in the groups that it removes. It must not take the group of another
// program, whose name may begin like those of toolhosts.
func TestSweepTakesOnlyNamesOfToolhosts(t *testing.T) {
	parent := t.TempDir()
	for _, name := range []string{
		"toolhost-abcdefghij",
		"toolhost-", "toolhost-db.service", "toolhost-abcdefghi", "toolhost-abcdefghijk", "toolhost-ABCDEFGHIJ",
		"toolhost-abcdefghi1", "toolhost-abcde-ghij", "mytoolhost-abcdefghij", "abcdefghij",
	} {
		if err := os.Mkdir(filepath.Join(parent, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var removed []string
	swept, err := sweepIn(parent, ownPrefix, func(dir string) error {
		removed = append(removed, filepath.Base(dir))
		return nil
	})
	if err != nil || swept != 1 || len(removed) != 1 || removed[0] != "toolhost-abcdefghij" {
		t.Errorf("%d groups were removed: %q, %v", swept, removed, err)
	}
}

func TestClaimedNamesHaveTheirForm(t *testing.T) {
	dir, claim, err := claimed.Make(t.TempDir(), "toolhost-")
	if err != nil {
		t.Fatal(err)
	}
	defer claim.Close()
	if !claimed.HasForm(filepath.Base(dir), "toolhost-") {
		t.Errorf("a sweep does not know %s", filepath.Base(dir))
	}
}
