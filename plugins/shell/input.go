package main

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/toolhost/toolhost/sdk"
)

// openInput returns the command's standard input, or nil for no input.
func openInput(ctx context.Context, in input) (io.Reader, error) {
	switch {
	case in.Stdin != "" && in.StdinArtifact != "":
		return nil, errors.New("stdin and stdin_artifact are both given; a command has one standard input")
	case in.Stdin != "":
		return strings.NewReader(in.Stdin), nil
	case in.StdinArtifact != "":
		return sdk.OpenArtifact(ctx, in.StdinArtifact)
	}
	return nil, nil
}
