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

// Run builds the repository, and builds it again after each change, until ctx ends. It calls begins
// before a build. After the build it calls built with the plugin or the error and waits for built
// to return. If files change during a build, Run builds again before it calls built.
func (p *Project) Run(ctx context.Context, output io.Writer, begins func(), built func(ctx context.Context, plugin string, err error)) {
	written := writes{}
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
		if again = written.note(before, after); again {
			continue
		}
		built(ctx, plugin, err)
		p.await(ctx, after)
	}
}

// writes counts, for each file, the consecutive builds during which it changed. A build may write
// files of the repository itself. Such a file must not start another build, or the loop would never
// end. After ownAfter consecutive builds, Run therefore treats the file as output of the build.
type writes map[string]int

// ownAfter is the number of consecutive builds with a change after which Run treats a file as
// output of the build. An author who changes the same file during all these builds must save it
// once more.
const ownAfter = 3

// note records the files that changed during a build. It reports whether a file changed that the
// build does not write itself.
func (w writes) note(before, after look) (foreign bool) {
	changed := before.changed(after)
	maps.DeleteFunc(w, func(path string, _ int) bool { return !changed[path] })
	for path := range changed {
		w[path]++
		foreign = foreign || w[path] < ownAfter
	}
	return foreign
}

// await waits until the repository differs from seen and two consecutive looks are equal, so that a
// build does not start while an author saves files. It also returns when ctx ends.
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

// look is the state of a repository's files: a stamp for each path.
type look map[string]stamp

// changed returns the paths of the files that were changed, created or removed between the looks l
// and since.
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

// stamp differs if a file has changed.
type stamp struct {
	size int64
	mode fs.FileMode
	time int64 // time of the last change, in nanoseconds since 1970
}

// mostLooked is the maximum number of files that look reads.
const mostLooked = 20_000

// passedOver reports whether look skips a file or folder of this name, because it contains build
// output, downloads or caches.
func passedOver(name string) bool {
	switch name {
	case "node_modules", "__pycache__", "build", "dist", "bin", "target":
		return true
	}
	return strings.HasPrefix(name, ".")
}

func (p *Project) look() look {
	seen := look{}
	// The walk skips unreadable files. The build reports them.
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
