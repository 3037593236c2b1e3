package sdk

import (
	"context"

	"github.com/toolhost/toolhost/sdk/workspace"
)

// OpenWorkspace opens the folder that the tool may work in, as an interface that keeps every name within it: see package
// workspace. The caller closes it, and closes the files that it opens.
//
// A call that comes without a workspace gets an error of kind unavailable that says what the operator can do. A test gives
// its tool one that is in memory, by workspace.NewContext and sdktest.WithContext.
func OpenWorkspace(ctx context.Context) (workspace.Workspace, error) {
	if w := workspace.FromContext(ctx); w != nil {
		return w.Sub(ctx, ".") // so that closing it leaves w open
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
