package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/toolhost/toolhost/sdk"
)

const (
	maxLinks = 40 // as many as Linux follows in one path
	// temporaryPrefix begins the name of a file that is being written. Its length leaves room in a name of 255 bytes,
	// whatever the target is called.
	temporaryPrefix = ".toolhost-write-"
)

type writeInput struct {
	Path    string `json:"path" jsonschema:"the file, relative to the workspace, such as src/main.go; missing folders are made" minLength:"1"`
	Content string `json:"content" jsonschema:"the whole content that the file shall have; an empty text makes an empty file"`
}

func writeFileTool() sdk.Tool {
	return sdk.Func(sdk.Spec{
		Name:        "write_file",
		Version:     "1.0.0",
		DisplayName: "Write file",
		Description: `Writes a text file of the workspace: makes it, with the folders that lead to it, or replaces its whole content.
It does not append and does not change parts: give the complete new content. The file has either its old or its new content at any moment. Returns how many bytes were written.`,
		Category: "files",
		InputExamples: []sdk.InputExample{
			{Arguments: json.RawMessage(`{"path":"notes/today.md","content":"# Today\n\n- write the report\n"}`)},
		},
		Idempotent: true,
	}, inWorkspace(writeFile))
}

func writeFile(ctx context.Context, w *workspace, in writeInput) (string, error) {
	if err := w.check(in.Path); err != nil {
		return "", err
	}
	target, err := w.target(in.Path)
	if err != nil {
		return "", err
	}
	folder, _ := filepath.Split(target)
	if folder != "" {
		if err := w.root.MkdirAll(filepath.Clean(folder), 0o777); err != nil {
			return "", explain("make the folders of", in.Path, err)
		}
	}
	old, err := w.replaceable(target)
	if err != nil {
		return "", fmt.Errorf("%q is %w", in.Path, err)
	}
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("writing %q: %w", in.Path, err)
	}
	if err := w.replace(folder, target, in.Content, old); err != nil {
		return "", explain("write", in.Path, err)
	}
	if old == nil {
		return fmt.Sprintf("wrote %d bytes to %q, a new file", len(in.Content), in.Path), nil
	}
	return fmt.Sprintf("wrote %d bytes to %q, which had %d", len(in.Content), in.Path, old.Size()), nil
}

// target follows the links at the end of a path, so that a write through a link changes what the link points to.
func (w *workspace) target(path string) (string, error) {
	target := path
	for range maxLinks {
		folder, name := filepath.Split(target)
		if name == "" || name == "." || name == ".." {
			return "", fmt.Errorf("%q names a folder; give the path of a file", path)
		}
		info, err := w.root.Lstat(target)
		if errors.Is(err, fs.ErrNotExist) {
			return target, nil
		}
		if err != nil {
			return "", explain("write", path, err)
		}
		if info.Mode().Type() != fs.ModeSymlink {
			return target, nil
		}
		link, err := w.root.Readlink(target)
		if err != nil {
			return "", explain("write", path, err)
		}
		if filepath.IsAbs(link) {
			return "", fmt.Errorf("%q is a link with the absolute target %q; only links with a relative target inside the workspace are followed", path, link)
		}
		target = folder + link
	}
	return "", fmt.Errorf("%q leads through more than %d links", path, maxLinks)
}

// replaceable returns what is at the target now, nil if there is nothing, and an error if it must not be replaced.
func (w *workspace) replaceable(target string) (fs.FileInfo, error) {
	info, err := w.root.Lstat(target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("not accessible: %w", explain("write", target, err))
	case info.IsDir():
		return nil, errors.New("a folder; give the path of a file")
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("no regular file but a %s, which cannot be written", kindOf(info.Mode()))
	case info.Mode().Perm()&0o200 == 0:
		return nil, fmt.Errorf("read-only (%s)", info.Mode())
	}
	return info, nil
}

// replace writes a file beside the target and renames it, so that no reader and no crash meets half a content.
func (w *workspace) replace(folder, target, content string, old fs.FileInfo) (err error) {
	temporary := folder + temporaryPrefix + rand.Text()
	file, err := w.root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = w.root.Remove(temporary) // err says why it is left, if it is
		}
	}()
	_, err = file.WriteString(content)
	if err == nil && old != nil {
		err = file.Chmod(old.Mode().Perm())
	}
	if err == nil {
		err = file.Sync()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return w.root.Rename(temporary, target)
}
