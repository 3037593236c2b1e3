package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/workspace"
)

const (
	defaultEntries = 500
	// entries that are read of one folder, so that a huge folder costs bounded memory
	maxSorted = 50_000
)

type listInput struct {
	Path  string `json:"path" jsonschema:"the folder, relative to the workspace; . is the workspace itself" default:"." minLength:"1"`
	Limit int    `json:"limit" jsonschema:"how many entries to return at most" default:"500" minimum:"1" maximum:"5000"`
}

func listDirTool() sdk.Tool {
	return sdk.Func(sdk.Spec{
		Name:        "list_dir",
		Version:     "1.1.0",
		DisplayName: "List folder",
		Description: `Lists one folder of the workspace, sorted by name, hidden entries included: a line for each, with its kind (file, folder, link, fifo, socket, device), the size of a file in bytes, and its name; for a link also its target.
Use it to see what a folder is about. It does not go into subfolders: to find files by name in a whole tree use glob, by content grep.`,
		Category: "files",
		InputExamples: []sdk.InputExample{
			{Description: "the workspace itself", Arguments: json.RawMessage(`{}`)},
			{Description: "a folder", Arguments: json.RawMessage(`{"path":"src"}`)},
		},
		ReadOnly:   true,
		Idempotent: true,
	}, inWorkspace(listDir))
}

func listDir(ctx context.Context, w workspace.Workspace, in listInput) (string, error) {
	path := cmp.Or(in.Path, ".")
	entries, complete, err := readEntries(ctx, w, path, maxSorted)
	if err != nil {
		if errors.Is(err, workspace.ErrNotFolder) && strings.HasSuffix(err.Error(), "is a file") {
			return "", fmt.Errorf("%w; use read_file", err)
		}
		return "", advise(err)
	}
	if len(entries) == 0 {
		return fmt.Sprintf("[the folder %q is empty]", path), nil
	}
	shown := entries[:min(len(entries), cmp.Or(in.Limit, defaultEntries))]
	var text strings.Builder
	for _, entry := range shown {
		if err := ctx.Err(); err != nil {
			return "", fmt.Errorf("listing %q: %w", path, err)
		}
		text.WriteString(entryLine(entry))
	}
	switch {
	case !complete:
		fmt.Fprintf(&text, "[%d entries; the folder has more than %d, which were not all read or sorted]\n", len(shown), maxSorted)
	case len(shown) < len(entries):
		fmt.Fprintf(&text, "[%d of %d entries; a higher limit shows more]\n", len(shown), len(entries))
	}
	return text.String(), nil
}

// readEntries returns the entries of a folder, sorted by name, and whether the list is complete.
func readEntries(ctx context.Context, w workspace.Reader, name string, most int) (entries []workspace.Entry, complete bool, err error) {
	complete = true
	for entry, err := range w.ReadDir(ctx, name) {
		if err != nil {
			return nil, false, err
		}
		if len(entries) == most {
			complete = false
			break
		}
		entries = append(entries, entry)
	}
	slices.SortFunc(entries, func(a, b workspace.Entry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, complete, nil
}

// entryLine returns the line of one entry. An entry that vanished or became unreadable is shown as
// unknown.
func entryLine(entry workspace.Entry) string {
	kind, size, shown := "unknown", "-", printable(entry.Name())
	if info, err := entry.Info(); err == nil {
		kind = workspace.Kind(info.Mode)
		switch kind {
		case "file":
			size = strconv.FormatInt(info.Size, 10)
		case "link":
			shown += " -> " + printable(info.Target)
		}
	}
	return fmt.Sprintf("%-7s %10s  %s\n", kind, size, shown)
}

// printable returns a name, quoted if it could be mistaken for several names or lines.
func printable(name string) string {
	odd := func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }
	if strings.ContainsFunc(name, odd) || strings.TrimSpace(name) != name || strings.Contains(name, " -> ") {
		return strconv.Quote(name)
	}
	return name
}
