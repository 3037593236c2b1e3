package sdk

import (
	"context"

	"github.com/toolhost/toolhost/sdk/workspace"
)

// OpenWorkspace opens the folder in which the tool may work. Its methods keep every path inside the
// folder: see package workspace. The caller closes it, and closes the files that it opens.
//
// If the call has no workspace, the error is of kind unavailable and says what the operator can do.
// A test gives its tool a workspace in memory with workspace.NewContext and sdktest.WithContext.
func OpenWorkspace(ctx context.Context) (workspace.Workspace, error) {
	if w := workspace.FromContext(ctx); w != nil {
		return w.Sub(ctx, ".") // closing the result leaves w open
	}
	dir := Workspace(ctx)
	if dir == "" {
		return nil, Unavailable("this call comes without a workspace, and the tool works in nothing else; the operator names one with toolhost serve --workspace DIR")
	}
	w, err := workspace.OpenLocal(dir)
	if err != nil {
		return nil, Unavailable("opening the workspace: %w", err)
	}
	return w, nil
}
