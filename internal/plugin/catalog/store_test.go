package catalog

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// The store does not keep a file that changes between the look and the reading.
func TestWhatChangesWhileItIsReadIsNotKept(t *testing.T) {
	s, err := openStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("half"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := s.takeFile(t.Context(), entry{source: file, stamp: "as it was"}); !errors.Is(err, errChanging) {
		t.Errorf("taking a file that changed: %v", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	l, err := list(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("whole"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := s.takeFolder(t.Context(), entry{source: dir, folder: true}, l, false); !errors.Is(err, errChanging) {
		t.Errorf("taking a folder that changed: %v", err)
	}
	if left, err := os.ReadDir(s.dir); err != nil || len(left) > 0 {
		t.Errorf("left in the store: %v, %v", left, err)
	}
}
