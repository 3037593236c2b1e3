package workspace_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/toolhost/toolhost/sdk/workspace"
)

// A test gives a tool a workspace in memory. IfVersion makes a write fail if the file has changed
// since the tool read it.
func ExampleNewMemory() {
	ctx := context.Background()
	w := workspace.NewMemory(map[string]workspace.MemoryFile{"notes.txt": {Content: "one\n"}})
	info, err := w.Stat(ctx, "notes.txt")
	if err != nil {
		fmt.Println(err)
		return
	}
	first := workspace.WriteOptions{IfVersion: info.Version}
	change, err := w.WriteFile(ctx, "notes.txt", []byte("one\ntwo\n"), first)
	fmt.Println(change.Before.Size, change.After.Size, err)
	_, err = w.WriteFile(ctx, "notes.txt", []byte("three\n"), first)
	fmt.Println(errors.Is(err, workspace.ErrChanged))
	// Output:
	// 4 8 <nil>
	// true
}
