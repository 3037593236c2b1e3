package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/workspace"
)

// inWorkspace converts a function that takes the call's workspace to a tool function.
func inWorkspace[In, Out any](fn func(context.Context, workspace.Workspace, In) (Out, error)) func(context.Context, In) (Out, error) {
	return func(ctx context.Context, in In) (Out, error) {
		w, err := sdk.OpenWorkspace(ctx)
		if err != nil {
			var none Out
			return none, err
		}
		defer w.Close() // closing a folder reports nothing useful
		return fn(ctx, w, in)
	}
}

// advise adds a hint to an error about a path.
func advise(err error) error {
	advice := ""
	switch {
	case errors.Is(err, fs.ErrNotExist):
		advice = "; list_dir and glob show what there is"
	case errors.Is(err, workspace.ErrFolder):
		advice = "; use list_dir"
	case errors.Is(err, workspace.ErrIrregular):
		advice = ", which cannot be read"
	default:
		return err
	}
	return fmt.Errorf("%w%s", err, advice)
}
