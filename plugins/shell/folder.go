package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/toolhost/toolhost/sdk"
)

// openFolder opens the working directory of a command. The path is resolved from the open workspace step by step, and the
// command is started in what was opened, so that no `..`, link or swap of one for another leads out of the workspace.
// That is where a command begins; where it goes from there is the sandbox's concern.
func openFolder(workspace, path string) (*os.File, error) {
	if workspace == "" {
		return nil, sdk.Unavailable("this call comes without a workspace, which commands are run in; the operator names one with toolhost serve --workspace DIR")
	}
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, sdk.Unavailable("opening the workspace: %w", err)
	}
	defer root.Close()
	if !filepath.IsLocal(path) {
		return nil, fmt.Errorf("the working_directory %q is not in the workspace; it is relative to the workspace, which is %q", path, ".")
	}
	folder, err := root.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no folder %q in the workspace, to be the working_directory", path)
	case errors.Is(err, syscall.ENOTDIR):
		return nil, fmt.Errorf("the working_directory %q is no folder", path)
	case err != nil:
		return nil, fmt.Errorf("the working_directory %q cannot be used: %w", path, cause(err))
	}
	return folder, nil
}

// cause returns an error without what says where in this machine it happened.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// openInput returns what the command reads as its standard input: a file without a name, so that a command that reads
// nothing holds nobody up, or nil for nothing.
func openInput(ctx context.Context, in input) (*os.File, error) {
	var source io.Reader
	switch {
	case in.Stdin != "" && in.StdinArtifact != "":
		return nil, errors.New("stdin and stdin_artifact are both given; a command has one standard input")
	case in.Stdin != "":
		source = strings.NewReader(in.Stdin)
	case in.StdinArtifact != "":
		artifact, err := sdk.OpenArtifact(ctx, in.StdinArtifact)
		if err != nil {
			return nil, err
		}
		source = artifact
	default:
		return nil, nil
	}
	file, err := unnamedFile()
	if err != nil {
		return nil, sdk.Unavailable("keeping the standard input of the command: %w", err)
	}
	_, err = io.Copy(file, source)
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(sdk.Unavailable("keeping the standard input of the command: %w", err), file.Close())
	}
	return file, nil
}
