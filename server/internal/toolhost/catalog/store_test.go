package catalog

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sync/errgroup"
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

// Two sources may have the same content and are read at the same time. Each finds the copy that it
// relies on.
func TestEqualPluginsAreTakenAtTheSameTime(t *testing.T) {
	for range 40 {
		s, err := openStore(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		x := &sources{store: s}
		var taking errgroup.Group
		for range 4 {
			file := filepath.Join(t.TempDir(), "equal")
			if err := os.WriteFile(file, []byte("the same"), 0o755); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			taking.Go(func() error {
				digest, err := s.takeFile(t.Context(), entry{source: file, stamp: stampOf(info)})
				if err != nil {
					return err
				}
				_, err = x.open(digest, file)
				return err
			})
		}
		if err := taking.Wait(); err != nil {
			t.Fatal(err)
		}
	}
}
