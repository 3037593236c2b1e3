package workspace_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/sdk/workspace"
	"github.com/toolhost/toolhost/sdk/workspace/workspacetest"
)

func TestMemory(t *testing.T) {
	workspacetest.Run(t, func(_ *testing.T, files map[string]workspace.MemoryFile) (workspace.Workspace, string) {
		return workspace.NewMemory(files), workspace.MemoryDir
	})
}

// Contents and entries count, and what is replaced does not.
func TestMemoryIsBounded(t *testing.T) {
	w := workspace.NewMemory(nil)
	w.Limit(10 << 10)
	write := func(name string, size int) error {
		_, err := w.WriteFile(t.Context(), name, []byte(strings.Repeat("x", size)), workspace.WriteOptions{})
		return err
	}
	if err := write("a", 6<<10); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := write("a", 6<<10); err != nil {
			t.Fatalf("the same size again: %v", err)
		}
	}
	if err := write("b", 3<<10); !errors.Is(err, workspace.ErrTooLarge) {
		t.Errorf("beyond the limit: %v", err)
	}
	if err := write("a", 1<<10); err != nil {
		t.Fatal(err)
	}
	if err := write("b", 3<<10); err != nil {
		t.Errorf("after there was room again: %v", err)
	}
	for _, name := range []string{"1", "2", "3", "4"} {
		if err := write(name, 0); err != nil && !errors.Is(err, workspace.ErrTooLarge) {
			t.Error(err)
		}
	}
	if err := write("d/e/f/g", 0); !errors.Is(err, workspace.ErrTooLarge) {
		t.Errorf("empty files and folders without end: %v", err)
	}
}
