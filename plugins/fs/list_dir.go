package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/toolhost/toolhost/sdk"
)

const (
	defaultEntries = 500
	maxSorted      = 50_000 // entries of one folder that are read, so that a folder of millions costs bounded memory
	batch          = 1000   // entries between two looks at the context
)

type listInput struct {
	Path  string `json:"path" jsonschema:"the folder, relative to the workspace; . is the workspace itself" default:"." minLength:"1"`
	Limit int    `json:"limit" jsonschema:"how many entries to return at most" default:"500" minimum:"1" maximum:"5000"`
}

func listDirTool() sdk.Tool {
	return sdk.Func(sdk.Spec{
		Name:        "list_dir",
		Version:     "1.0.0",
		DisplayName: "List folder",
		Description: `Lists one folder of the workspace, sorted by name, hidden entries included: a line for each, with its kind (file, folder, link, fifo, socket, device), the size of a file in bytes, and its name; for a link also its target.
It does not go into subfolders; call it again with their path.`,
		Category: "files",
		InputExamples: []sdk.InputExample{
			{Description: "the workspace itself", Arguments: json.RawMessage(`{}`)},
			{Description: "a folder", Arguments: json.RawMessage(`{"path":"src"}`)},
		},
		ReadOnly:   true,
		Idempotent: true,
	}, inWorkspace(listDir))
}

func listDir(ctx context.Context, w *workspace, in listInput) (string, error) {
	path := cmp.Or(in.Path, ".")
	folder, _, err := w.open(path, onlyFolder)
	if err != nil {
		return "", err
	}
	defer folder.Close()
	names, complete, err := readNames(ctx, folder)
	if err != nil {
		return "", explain("list", path, err)
	}
	if len(names) == 0 {
		return fmt.Sprintf("[the folder %q is empty]", path), nil
	}
	slices.Sort(names)
	shown := names[:min(len(names), cmp.Or(in.Limit, defaultEntries))]
	var text strings.Builder
	for _, name := range shown {
		if err := ctx.Err(); err != nil {
			return "", fmt.Errorf("listing %q: %w", path, err)
		}
		text.WriteString(w.entry(path, name))
	}
	switch {
	case !complete:
		fmt.Fprintf(&text, "[%d entries; the folder has more than %d, which were not all read or sorted]\n", len(shown), maxSorted)
	case len(shown) < len(names):
		fmt.Fprintf(&text, "[%d of %d entries; a higher limit shows more]\n", len(shown), len(names))
	}
	return text.String(), nil
}

func onlyFolder(mode fs.FileMode) error {
	switch {
	case mode.IsDir():
		return nil
	case mode.IsRegular():
		return errors.New("a file; use read_file")
	}
	return fmt.Errorf("no folder but a %s", kindOf(mode))
}

// readNames returns the names in a folder, in no order, and whether they are all.
func readNames(ctx context.Context, folder *os.File) (names []string, complete bool, err error) {
	for len(names) < maxSorted {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		some, err := folder.Readdirnames(batch)
		names = append(names, some...)
		if errors.Is(err, io.EOF) {
			return names, true, nil
		}
		if err != nil {
			return nil, false, err
		}
	}
	return names, false, nil
}

// entry returns the line of one entry. What vanished or became unreadable since its name was read is shown as unknown.
func (w *workspace) entry(folder, name string) string {
	path := folder + string(filepath.Separator) + name // not Join, which would take "link/.." for the folder of the link
	kind, size, shown := "unknown", "-", printable(name)
	if info, err := w.root.Lstat(path); err == nil {
		kind = kindOf(info.Mode())
		switch kind {
		case "file":
			size = strconv.FormatInt(info.Size(), 10)
		case "link":
			if target, err := w.root.Readlink(path); err == nil {
				shown += " -> " + printable(target)
			}
		}
	}
	return fmt.Sprintf("%-7s %10s  %s\n", kind, size, shown)
}

// printable returns a name as it is, or quoted if it could be taken for something else than one name in one line.
func printable(name string) string {
	odd := func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }
	if strings.ContainsFunc(name, odd) || strings.TrimSpace(name) != name || strings.Contains(name, " -> ") {
		return strconv.Quote(name)
	}
	return name
}
