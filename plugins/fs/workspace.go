package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/toolhost/toolhost/sdk"
)

// workspace is the folder that the tools see. Everything goes through os.Root, which resolves a path step by step from
// an open folder, so that no `..`, symbolic link or swap of one for another while a call runs leads out of it.
type workspace struct {
	root *os.Root
	dir  string
}

func openWorkspace(dir string) (*workspace, error) {
	if dir == "" {
		return nil, sdk.Unavailable("this call comes without a workspace, and the file tools work in nothing else; the operator names one with toolhost serve --workspace DIR")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, sdk.Unavailable("opening the workspace: %w", err)
	}
	return &workspace{root: root, dir: dir}, nil
}

// Close releases the folder. An error of closing an open folder says nothing that a caller could use.
func (w *workspace) Close() { _ = w.root.Close() }

// inWorkspace makes the function of a tool from one that is given the call's workspace.
func inWorkspace[In, Out any](fn func(context.Context, *workspace, In) (Out, error)) func(context.Context, In) (Out, error) {
	return func(ctx context.Context, in In) (Out, error) {
		w, err := openWorkspace(sdk.Workspace(ctx))
		if err != nil {
			var none Out
			return none, err
		}
		defer w.Close()
		return fn(ctx, w, in)
	}
}

// check refuses a path that is no relative path within the workspace by its spelling. What its links make of it is
// os.Root's to check, when the path is used.
func (w *workspace) check(path string) error {
	switch {
	case path == "":
		return errors.New(`the path is empty; "." is the workspace itself`)
	case strings.ContainsRune(path, 0):
		return fmt.Errorf("the path %q contains a NUL character", path)
	case filepath.IsAbs(path):
		return w.refuseAbsolute(path)
	case !filepath.IsLocal(path):
		return fmt.Errorf("the path %q leads out of the workspace; paths are relative to it and stay within it", path)
	}
	return nil
}

func (w *workspace) refuseAbsolute(path string) error {
	bases := []string{w.dir}
	if real, err := filepath.EvalSymlinks(w.dir); err == nil {
		bases = append(bases, real)
	}
	for _, base := range bases {
		if relative, err := filepath.Rel(base, path); err == nil && filepath.IsLocal(relative) {
			return fmt.Errorf("the path %q is absolute; use %q, which is the same relative to the workspace", path, relative)
		}
	}
	return fmt.Errorf(`the path %q is absolute and outside of the workspace; paths are relative to the workspace, which is "."`, path)
}

// open opens a file or folder for reading, if its kind is wanted. It never blocks on a FIFO and opens no device.
func (w *workspace) open(path string, wanted func(fs.FileMode) error) (*os.File, fs.FileInfo, error) {
	if err := w.check(path); err != nil {
		return nil, nil, err
	}
	// Opening a device may already do something, so its kind is asked first; asked again below, because it may change
	// between the two, and until then O_NONBLOCK keeps the opening of a FIFO from waiting for a writer.
	info, err := w.root.Stat(path)
	if err != nil {
		return nil, nil, explain("read", path, err)
	}
	if err := wanted(info.Mode()); err != nil {
		return nil, nil, fmt.Errorf("%q is %w", path, err)
	}
	file, err := w.root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, explain("read", path, err)
	}
	info, err = file.Stat()
	if err == nil {
		err = wanted(info.Mode())
	}
	if err != nil {
		_ = file.Close() // nothing was written that closing could lose
		return nil, nil, fmt.Errorf("%q is %w", path, err)
	}
	return file, info, nil
}

// explain says what went wrong with a path of the workspace, in words that name no path outside of it.
func explain(action, path string, err error) error {
	cause := err
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		cause = inner
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no %q in the workspace; list_dir shows what there is", path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("there is no permission to %s %q", action, path)
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("a part of the path %q is no folder", path)
	case cause.Error() == "path escapes from parent": // os exports no value to compare with
		return fmt.Errorf("the path %q leads out of the workspace by a symbolic link; only links with a relative target inside the workspace are followed", path)
	}
	return fmt.Errorf("cannot %s %q: %w", action, path, cause)
}

// kindOf names the kind of a file in a word.
func kindOf(mode fs.FileMode) string {
	switch mode.Type() {
	case 0:
		return "file"
	case fs.ModeDir:
		return "folder"
	case fs.ModeSymlink:
		return "link"
	case fs.ModeNamedPipe:
		return "fifo"
	case fs.ModeSocket:
		return "socket"
	}
	return "device"
}
