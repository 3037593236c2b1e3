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
// built after each build, with the plugin or with what went wrong, and goes on when that returns. A change while it builds
// makes it build once more.
func (p *Project) Run(ctx context.Context, output io.Writer, built func(ctx context.Context, plugin string, err error)) {
	again := true // what a build itself writes looks like a change, too; it must not build for ever
	for ctx.Err() == nil {
		before := p.look()
		plugin, err := p.Build(ctx, output)
		if ctx.Err() != nil {
			return
		}
		after := p.look()
		if again && !maps.Equal(before, after) {
			again = false
			continue
		}
		built(ctx, plugin, err)
		again = p.await(ctx, after)
	}
}

// await returns once the repository is another than it was seen, and has been left alone between two looks. It returns
// false if ctx has ended.
func (p *Project) await(ctx context.Context, seen look) bool {
	tick := time.NewTicker(p.every)
	defer tick.Stop()
	last := seen
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
		now := p.look()
		if maps.Equal(now, last) && !maps.Equal(now, seen) {
			return true
		}
		last = now
	}
}

// look is what tells the files of a repository from what they were, by path.
type look map[string]stamp

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
