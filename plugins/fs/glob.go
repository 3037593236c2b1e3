package main

import (
	"cmp"
	"container/heap"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/workspace"
)

const defaultPaths = 200

type globInput struct {
	Pattern   string `json:"pattern" jsonschema:"which files, by their path below the folder: * is any part of a name, ** any number of folders, ? one character, [a-z] one of these, {a,b} either; a name that has brackets itself is found too; with a slash at the end, which folders" minLength:"1" examples:"[\"**/*.go\",\"src/**/*_test.py\",\"*.{yaml,yml}\",\"**/testdata/\"]"`
	Path      string `json:"path" jsonschema:"the folder to look in, relative to the workspace; . is the workspace itself" default:"." minLength:"1"`
	Sort      string `json:"sort" jsonschema:"modified: what was changed last comes first; name: by path" enum:"modified,name" default:"modified"`
	Limit     int    `json:"limit" jsonschema:"how many paths to return at most" default:"200" minimum:"1" maximum:"5000"`
	Gitignore bool   `json:"gitignore" jsonschema:"whether to leave out what the .gitignore files say, and .git" default:"false"`
}

func globTool() sdk.Tool {
	return sdk.Func(sdk.Spec{
		Name:        "glob",
		Version:     "1.0.0",
		DisplayName: "Find files by name",
		Description: `Finds files of the workspace by their names, in a whole tree: returns the paths that match a pattern, relative to the workspace, a line for each; what was changed last comes first.
A pattern without ** looks at the folder itself alone: *.go finds the Go files in it, **/*.go also those in all folders below. Hidden files are found too; links are not followed. Use it when you know something of the name; to find files by what is in them use grep, to see what a folder holds list_dir. In a repository with build output, set gitignore.`,
		Category: "files",
		InputExamples: []sdk.InputExample{
			{Description: "all Go files, what was changed last first", Arguments: json.RawMessage(`{"pattern":"**/*.go"}`)},
			{Description: "configuration files in one folder", Arguments: json.RawMessage(`{"pattern":"*.{yaml,yml,toml}","path":"deploy","sort":"name"}`)},
			{Description: "folders named testdata, without what git ignores", Arguments: json.RawMessage(`{"pattern":"**/testdata/","gitignore":true}`)},
		},
		ReadOnly:   true,
		Idempotent: true,
	}, inWorkspace(globFiles))
}

func globFiles(ctx context.Context, ws workspace.Workspace, in globInput) (string, error) {
	start, err := startOf(ws, in.Path)
	if err != nil {
		return "", err
	}
	whole, folders := strings.CutSuffix(in.Pattern, "/")
	whole = path.Clean(whole)
	if err := checkGlob("pattern", whole); err != nil {
		return "", err
	}
	// The part of the pattern before the first * is the folder to start in.
	fixed, rest := doublestar.SplitPattern(whole)
	below := newPattern(rest)
	if fixed != "." {
		if start, err = startOf(ws, path.Join(start, fixed)); err != nil {
			return "", err
		}
	}
	best := &newest{limit: cmp.Or(in.Limit, defaultPaths), byName: in.Sort == "name"}
	w := &walk{start: start, gitignore: in.Gitignore, visit: func(at visited) error {
		isFolder := at.entry.Type().IsDir()
		if isFolder != folders || !isFolder && !isFileOrLink(at.entry.Type()) || !below.matches(at.below) {
			return nil
		}
		return best.add(at)
	}}
	if !strings.Contains(rest, "**") {
		w.depth = strings.Count(rest, "/") + 1
	}
	if err := w.run(ctx, ws); err != nil {
		if fixed != "." {
			return "", fmt.Errorf("no folder to begin in: %w", err)
		}
		return "", advise(err)
	}
	return best.text(in, w.leftOut()), nil
}

// startOf returns the cleaned path of the folder to start in.
func startOf(ws workspace.Workspace, given string) (string, error) {
	name, err := ws.Rel(cmp.Or(given, "."))
	return path.Clean(name), err
}

func isFileOrLink(mode fs.FileMode) bool { return mode.IsRegular() || mode.Type() == fs.ModeSymlink }

// newest collects the paths for the result in a heap whose first element is dropped next. If paths
// are not sorted by time, it keeps the first ones of the walk.
type newest struct {
	limit  int
	byName bool
	total  int
	paths  []timedPath
}

type timedPath struct {
	path string
	time time.Time
}

func (n *newest) add(at visited) error {
	n.total++
	if n.byName {
		if len(n.paths) < n.limit {
			n.paths = append(n.paths, timedPath{path: at.path})
		}
		return nil
	}
	info, err := at.entry.Info()
	if err != nil {
		n.total-- // the file has been removed
		return nil
	}
	added := timedPath{path: at.path, time: info.ModTime}
	if len(n.paths) < n.limit {
		heap.Push(n, added)
	} else if newerFirst(added, n.paths[0]) < 0 {
		n.paths[0] = added
		heap.Fix(n, 0)
	}
	return nil
}

// newerFirst orders paths by time and then by name, so that the order is deterministic.
func newerFirst(a, b timedPath) int {
	return cmp.Or(b.time.Compare(a.time), strings.Compare(a.path, b.path))
}

func (n *newest) Len() int           { return len(n.paths) }
func (n *newest) Less(i, j int) bool { return newerFirst(n.paths[i], n.paths[j]) > 0 }
func (n *newest) Swap(i, j int)      { n.paths[i], n.paths[j] = n.paths[j], n.paths[i] }
func (n *newest) Push(x any)         { n.paths = append(n.paths, x.(timedPath)) }

// Pop implements heap.Interface. Nothing removes elements.
func (n *newest) Pop() any { return nil }

func (n *newest) text(in globInput, notes []string) string {
	var b strings.Builder
	if n.total == 0 {
		hint := ""
		if !strings.Contains(in.Pattern, "**") {
			hint = "; without ** a pattern does not look into folders below"
		}
		if brackets := newPattern(in.Pattern).hint(); brackets != "" {
			hint = brackets
		}
		fmt.Fprintf(&b, "[nothing in %q matches %q%s]\n", cmp.Or(in.Path, "."), in.Pattern, hint)
	}
	if !n.byName {
		slices.SortFunc(n.paths, newerFirst)
	}
	shown := 0
	for _, p := range n.paths {
		if b.Len() > maxText {
			break
		}
		shown++
		b.WriteString(printable(p.path) + "\n")
	}
	if shown < n.total {
		order := "those that were changed last"
		if n.byName {
			order = "the first by name"
		}
		fmt.Fprintf(&b, "[%d of %d paths, %s; a pattern that says more, or a higher limit, shows the others]\n", shown, n.total, order)
	}
	for _, note := range notes {
		b.WriteString(note + "\n")
	}
	return b.String()
}
