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

// openFolder opens the working directory of a command. It resolves the path step by step from the
// open workspace, and the command starts in the folder that was opened. No `..`, link, or
// replacement of one by another leads out of the workspace. This only determines where the command
// starts. The sandbox determines what it can reach later.
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

// cause returns an error without paths of the machine.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// openInput returns the command's standard input: an unlinked file, so that a command that does not
// read its input blocks nothing, or nil for no input.
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
