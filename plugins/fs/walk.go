package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync/atomic"

	"github.com/toolhost/toolhost/plugins/fs/ignore"
	"github.com/toolhost/toolhost/sdk/workspace"
)

const (
	maxDepth   = 100     // folders below each other: each is open while what is below it is visited
	maxFolder  = 200_000 // entries of one folder
	maxIgnored = 1 << 20 // bytes of a .gitignore
)

// openFolder is a folder that several hold open: the walk, and whoever still has to open a file of it.
type openFolder struct {
	workspace.Workspace
	holders atomic.Int32
}

func (f *openFolder) hold() { f.holders.Add(1) }

func (f *openFolder) release() {
	if f.holders.Add(-1) == 0 {
		_ = f.Close() // says nothing that anybody could use
	}
}

// visited is what a walk comes by.
type visited struct {
	folder *openFolder // that it is in; who needs it after the visit holds it
	entry  workspace.Entry
	path   string // relative to the workspace, for people
	below  string // relative to where the walk began
}

// walk visits what is below a folder, in order of the paths, element by element. It follows no links.
type walk struct {
	start     string // the folder, by its tidy name
	gitignore bool   // leave out what .gitignore says, and what git keeps for itself
	exclude   string // leave out what matches this glob, and all below it; empty means nothing
	depth     int    // folders to go into; 0 means all
	visit     func(visited) error

	unread  int    // folders and .gitignore files that could not be read
	example string // what was wrong with the first of them
	deep    int    // folders that are too deep
	large   int    // folders with too many entries
}

// errEnough ends a walk that has come far enough, and is no error.
var errEnough = errors.New("enough was found")

// run walks. The error is that of the first folder, of a visit, or of the context.
func (w *walk) run(ctx context.Context, ws workspace.Workspace) error {
	sub, err := ws.Sub(ctx, w.start)
	if err != nil {
		return err
	}
	folder := &openFolder{Workspace: sub}
	folder.hold()
	defer folder.release()
	var rules *ruleChain
	if w.gitignore {
		rules = w.rulesAbove(ctx, ws)
	}
	entries, complete, err := readEntries(ctx, folder, ".", maxFolder)
	if err != nil {
		return err
	}
	if !complete {
		w.large++
	}
	err = w.inFolder(ctx, folder, entries, "", 1, rules)
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// inFolder visits the entries of a folder. below is its path relative to the start.
func (w *walk) inFolder(ctx context.Context, folder *openFolder, entries []workspace.Entry, below string, depth int, rules *ruleChain) error {
	if w.gitignore {
		rules = w.rulesIn(ctx, folder, entries, path.Join(w.start, below), rules)
	}
	for _, entry := range entries {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("looking into %q: %w", path.Join(w.start, below), err)
		}
		at := visited{folder: folder, entry: entry, below: entry.Name(), path: path.Join(w.start, below, entry.Name())}
		if below != "" {
			at.below = below + "/" + entry.Name()
		}
		isFolder := entry.Type().IsDir()
		if w.leavesOut(at, isFolder, rules) {
			continue
		}
		if err := w.visit(at); err != nil {
			return err
		}
		if isFolder {
			if err := w.enter(ctx, at, depth, rules); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *walk) leavesOut(at visited, isFolder bool, rules *ruleChain) bool {
	if w.exclude != "" && globFits(w.exclude, at.below) {
		return true
	}
	return w.gitignore && (isFolder && at.entry.Name() == ".git" || rules.ignored(at.path, isFolder))
}

// enter walks on in a subfolder. That it cannot be read is noted and no error.
func (w *walk) enter(ctx context.Context, at visited, depth int, rules *ruleChain) error {
	switch {
	case w.depth > 0 && depth >= w.depth:
		return nil
	case depth >= maxDepth:
		w.deep++
		return nil
	}
	sub, err := at.folder.Sub(ctx, at.entry.Name())
	if err != nil {
		return w.note(ctx, err)
	}
	folder := &openFolder{Workspace: sub}
	folder.hold()
	defer folder.release()
	entries, complete, err := readEntries(ctx, folder, ".", maxFolder)
	if err != nil {
		return w.note(ctx, err)
	}
	if !complete {
		w.large++
	}
	return w.inFolder(ctx, folder, entries, at.below, depth+1, rules)
}

// note remembers that something could not be read, unless that is because the call is over.
func (w *walk) note(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return err
	case errors.Is(err, fs.ErrNotExist):
		return nil // it went away meanwhile
	}
	if w.unread++; w.example == "" {
		w.example = err.Error()
	}
	return nil
}

// leftOut says what a walk could not see, in a line for each kind.
func (w *walk) leftOut() []string {
	var notes []string
	if w.unread > 0 {
		notes = append(notes, fmt.Sprintf("[%d folders or files could not be read, such as: %s]", w.unread, w.example))
	}
	if w.deep > 0 {
		notes = append(notes, fmt.Sprintf("[%d folders were left out because they are more than %d levels deep]", w.deep, maxDepth))
	}
	if w.large > 0 {
		notes = append(notes, fmt.Sprintf("[of %d folders only %d entries were looked at]", w.large, maxFolder))
	}
	return notes
}

// ruleChain is the .gitignore of a folder, and those of the folders above it.
type ruleChain struct {
	rules *ignore.Rules
	base  string // the folder, relative to the workspace
	above *ruleChain
}

// ignored asks the rules from the innermost outwards; the first that says something counts.
func (c *ruleChain) ignored(name string, isFolder bool) bool {
	for ; c != nil; c = c.above {
		below := name
		if c.base != "." {
			below = strings.TrimPrefix(name, c.base+"/")
		}
		if verdict := c.rules.Match(below, isFolder); verdict != ignore.None {
			return verdict == ignore.Ignored
		}
	}
	return false
}

// rulesAbove returns the rules of the folders above the start.
func (w *walk) rulesAbove(ctx context.Context, ws workspace.Workspace) *ruleChain {
	if w.start == "." {
		return nil
	}
	chain := w.readRules(ctx, ws, ".gitignore", ".", nil)
	for i, c := range w.start {
		if c == '/' {
			folder := w.start[:i]
			chain = w.readRules(ctx, ws, folder+"/.gitignore", folder, chain)
		}
	}
	return chain
}

// rulesIn returns the rules that count in a folder.
func (w *walk) rulesIn(ctx context.Context, folder *openFolder, entries []workspace.Entry, name string, above *ruleChain) *ruleChain {
	for _, entry := range entries {
		if entry.Name() == ".gitignore" && entry.Type().IsRegular() {
			return w.readRules(ctx, folder, ".gitignore", name, above)
		}
	}
	return above
}

func (w *walk) readRules(ctx context.Context, ws workspace.Reader, file, base string, above *ruleChain) *ruleChain {
	opened, err := ws.Open(ctx, file)
	if err != nil {
		_ = w.note(ctx, err) // a call that is over is noticed by the walk
		return above
	}
	defer opened.Close()
	content, err := io.ReadAll(io.LimitReader(opened, maxIgnored))
	if err != nil {
		_ = w.note(ctx, err)
		return above
	}
	return &ruleChain{rules: ignore.Parse(content), base: base, above: above}
}
