package main

import (
	"context"
	"testing"

	"github.com/toolhost/toolhost/sdk/sdktest"
	"github.com/toolhost/toolhost/sdk/workspace"
)

// lost is a workspace whose folders can be listed, and whose files are on a machine that has gone.
type lost struct{ workspace.Workspace }

func (l lost) Sub(ctx context.Context, name string) (workspace.Workspace, error) {
	sub, err := l.Workspace.Sub(ctx, name)
	return lost{sub}, err
}

func (lost) Open(context.Context, string) (workspace.File, error) {
	return nil, &workspace.Error{Message: "the machine does not answer", Err: workspace.ErrUnavailable}
}

// A search of files that are gone is not a search without matches.
func TestALostWorkspaceIsUnavailable(t *testing.T) {
	files := workspace.NewMemory(map[string]workspace.MemoryFile{"a.txt": {Content: "one"}, "sub/.gitignore": {Content: "x"}, "sub/b.txt": {Content: "one"}})
	ctx := workspace.NewContext(t.Context(), lost{files})
	h := sdktest.New(t, plugin())
	for tool, arguments := range map[string]string{
		"grep": `{"pattern":"one"}`, "glob": `{"pattern":"**/*.txt","gitignore":true}`, "read_file": `{"path":"a.txt"}`,
	} {
		if got := h.Call(tool, arguments, sdktest.WithContext(ctx)); got.Err == nil || got.Err.Kind != "unavailable" {
			t.Errorf("%s: got %q, %v", tool, got.Text(), got.Err)
		}
	}
}
