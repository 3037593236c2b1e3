package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolhost/toolhost/sdk/workspace"
)

func TestReadFileIsBounded(t *testing.T) {
	dir := t.TempDir()
	file, err := os.Create(filepath.Join(dir, "sparse"))
	if err == nil {
		err = errors.Join(file.Truncate(workspace.MaxReadFile+1), file.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	w, err := workspace.OpenLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if content, err := w.ReadFile(t.Context(), "sparse"); !errors.Is(err, workspace.ErrTooLarge) {
		t.Errorf("got %d bytes, %v", len(content), err)
	}
}
