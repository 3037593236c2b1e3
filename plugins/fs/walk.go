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
	maxDepth   = 100     // depth of folders; each one is open while its content is visited
	maxFolder  = 200_000 // entries of one folder
	maxIgnored = 1 << 20 // bytes of a .gitignore
)

// openFolder is a reference-counted open folder. The walk holds it, and so does each searcher that
// still has to open one of its files.
type openFolder struct {
	workspace.Workspace
	holders atomic.Int32
}

func (f *openFolder) hold() { f.holders.Add(1) }

func (f *openFolder) release() {
	if f.holders.Add(-1) == 0 {
		_ = f.Close() // closing a folder reports nothing useful
	}
}

// visited is one visited file.
type visited struct {
	folder *openFolder // its folder; a visit that needs it later takes a reference
	entry  workspace.Entry
	path   string // relative to the workspace, for messages
	below  string // relative to the start of the walk
}

// walk visits the files below a folder in the order of their paths, compared element by element. It
// does not follow links.
type walk struct {
	start     string  // cleaned path of the folder
	gitignore bool    // skip what .gitignore excludes, and git's own files
	exclude   pattern // skip what fits this pattern, and everything below it
	depth     int     // depth limit; 0 means none
	visit     func(visited) error

	unread  int    // number of unreadable folders and .gitignore files
	example string // the error of the first of them
	lost    error  // the workspace is not available
	deep    int    // number of folders beyond the depth limit
	large   int    // number of folders with too many entries
}

// errEnough stops a walk early without an error.
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
	if w.lost != nil {
		return w.lost
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
	if w.exclude.fits(at.below) {
		return true
	}
	return w.gitignore && (isFolder && at.entry.Name() == ".git" || rules.ignored(at.path, isFolder))
}

// enter walks a subfolder. An unreadable folder is recorded and is not an error.
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

// note records an unreadable folder or file, unless the call is over or nothing can be read.
func (w *walk) note(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return err
	case errors.Is(err, workspace.ErrUnavailable):
		w.lost = err
		return err
	case errors.Is(err, fs.ErrNotExist):
		return nil // the folder has been removed
	}
	if w.unread++; w.example == "" {
		w.example = err.Error()
	}
	return nil
}

// leftOut describes what the walk could not visit, one line for each kind.
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

// ruleChain has the .gitignore of a folder and those of its parent folders.
type ruleChain struct {
	rules *ignore.Rules
	base  string // the folder, relative to the workspace
	above *ruleChain
}

// ignored asks the rules from the innermost folder outward. The first verdict counts.
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

// rulesIn returns the rules that apply in a folder.
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
		_ = w.note(ctx, err) // the walk itself notices that the call is over
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
