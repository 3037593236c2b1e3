package devloop

import (
	"context"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"strings"
	"time"
)

// Run builds the repository, and builds it again whenever it has changed, until ctx ends, which is no error to it. It calls
// begins before it builds, and built after that, with the plugin or with what went wrong, and goes on when that returns. A
// change while it builds makes it build once more.
func (p *Project) Run(ctx context.Context, output io.Writer, begins func(), built func(ctx context.Context, plugin string, err error)) {
	own := writes{}
	for again := false; ctx.Err() == nil; {
		if !again {
			begins()
		}
		before := p.look()
		plugin, err := p.Build(ctx, output)
		if ctx.Err() != nil {
			return
		}
		after := p.look()
		if again = own.note(before, after); again {
			continue
		}
		built(ctx, plugin, err)
		p.await(ctx, after)
	}
}

// writes counts how many builds in a row changed a file. What each of them changes is no change of the author's: it must not
// be built for ever.
type writes map[string]int

// ownAfter is how many builds in a row make a file the build's own. An author who writes the same file during so many of
// them has to write it once more.
const ownAfter = 3

// note takes in what changed during a build. It reports whether some of that is not the build's own.
func (w writes) note(before, after look) (foreign bool) {
	changed := before.changed(after)
	maps.DeleteFunc(w, func(path string, _ int) bool { return !changed[path] })
	for path := range changed {
		w[path]++
		foreign = foreign || w[path] < ownAfter
	}
	return foreign
}

// await returns once the repository is another than it was seen, and has been left alone between two looks, or when ctx ends.
func (p *Project) await(ctx context.Context, seen look) {
	tick := time.NewTicker(p.every)
	defer tick.Stop()
	last := seen
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		now := p.look()
		if maps.Equal(now, last) && !maps.Equal(now, seen) {
			return
		}
		last = now
	}
}

// look is what tells the files of a repository from what they were, by path.
type look map[string]stamp

// changed returns the paths of what was changed, made or removed.
func (l look) changed(since look) map[string]bool {
	paths := map[string]bool{}
	for path, stamp := range l {
		if now, ok := since[path]; !ok || now != stamp {
			paths[path] = true
		}
	}
	for path := range since {
		if _, ok := l[path]; !ok {
			paths[path] = true
		}
	}
	return paths
}

// stamp changes when a file does.
type stamp struct {
	size int64
	mode fs.FileMode
	time int64 // of its last change, in nanoseconds since 1970
}

// mostLooked bounds how many files are looked at.
const mostLooked = 20_000

// passedOver reports whether a folder holds no sources: what is built, fetched or remembered.
func passedOver(name string) bool {
	switch name {
	case "node_modules", "__pycache__", "build", "dist", "bin", "target":
		return true
	}
	return strings.HasPrefix(name, ".")
}

func (p *Project) look() look {
	seen := look{}
	// What cannot be read is as if it were not there; the build says what is wrong with it.
	_ = filepath.WalkDir(p.dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil
		case path != p.dir && passedOver(entry.Name()):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir():
			return nil
		case len(seen) >= mostLooked:
			return fs.SkipAll
		}
		if info, err := entry.Info(); err == nil {
			seen[path] = stamp{info.Size(), info.Mode(), info.ModTime().UnixNano()}
		}
		return nil
	})
	return seen
}
