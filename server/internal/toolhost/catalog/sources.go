package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/toolhost/toolhost/server/internal/toolhost/manifest"
	"github.com/toolhost/toolhost/server/internal/trust"
)

// sources reads the operator's folders: it lists the plugins in them, copies their content into the
// store and makes Plugins of it. It makes no decisions about them.
//
// At most one goroutine reads for the catalog at a time: the one that holds the token of turn
// (acquire). Otherwise an older reading could replace a newer one, and a sweep could remove a copy
// that a load has just made. turn is no mutex, so that waiting for it can be canceled. All other
// fields do not change, and no method takes Catalog.mu.
type sources struct {
	cfg   Config
	store *store
	index *index
	tasks *tasks
	turn  chan struct{} // holds one token
}

func newSources(cfg Config, store *store, index *index, tasks *tasks) *sources {
	return &sources{cfg: cfg, store: store, index: index, tasks: tasks, turn: make(chan struct{}, 1)}
}

var errClosed = errors.New("the catalogue is closed")

// acquire waits until no other goroutine reads the folders. The returned context also ends with the
// catalog.
func (x *sources) acquire(ctx context.Context) (reading context.Context, release func(), err error) {
	select {
	case x.turn <- struct{}{}:
	case <-x.tasks.ctx.Done():
		return nil, nil, errClosed
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	reading, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(x.tasks.ctx, func() { cancel(errClosed) })
	return reading, func() {
		stop()
		cancel(nil)
		<-x.turn
	}, nil
}

// close waits for the goroutine that reads the folders. No other one reads them afterwards.
func (x *sources) close() { x.turn <- struct{}{} }

// scanAll lists the entries of all folders, in order. A folder that cannot be read is an error.
func (x *sources) scanAll(ctx context.Context) ([]entry, error) {
	var found []entry
	seen := map[string]bool{}
	for _, folder := range x.cfg.Folders {
		entries, passed, err := scan(ctx, folder)
		if err != nil {
			return nil, fmt.Errorf("scanning plugin folder %s: %w", folder, err)
		}
		for _, source := range passed {
			x.cfg.Logger.Debug("passed over: it is neither executable nor a folder with a "+manifest.FileName, "source", source)
		}
		for _, e := range entries {
			if !seen[e.source] { // a folder may be named twice
				seen[e.source] = true
				found = append(found, e)
			}
		}
	}
	return found, nil
}

// entry is a file or folder that may be a plugin.
type entry struct {
	source  string // its absolute path
	folder  bool   // it holds a plugin.yaml
	stamp   string // changes with the file; of a folder, see list
	problem string // why it cannot be a plugin; empty if it may
}

// scan lists the entries of a folder by name: executables, folders with a plugin.yaml, and files
// that look like programs but are not executable. The last kind gets that as its problem. scan
// returns other folders and files as passed, and ignores hidden files and backups of editors.
func scan(ctx context.Context, folder string) (found []entry, passed []string, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, nil, err
	}
	for _, file := range entries {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		name := file.Name()
		if strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") {
			continue
		}
		source, err := filepath.Abs(filepath.Join(folder, name))
		if err != nil {
			return nil, nil, err
		}
		if e, ok := look(source, file.Type()&fs.ModeSymlink != 0); ok {
			found = append(found, e)
		} else {
			passed = append(passed, source)
		}
	}
	return found, passed, nil
}

// Sources returns the absolute paths of the plugins in a folder, ordered by name. It does not read
// or start them. The error is that of reading the folder.
func Sources(ctx context.Context, folder string) ([]string, error) {
	found, _, err := scan(ctx, folder)
	var sources []string
	for _, e := range found {
		if e.problem == "" {
			sources = append(sources, e.source)
		}
	}
	return sources, err
}

// look returns the entry of a path; false if it has nothing to do with plugins.
func look(source string, isLink bool) (entry, bool) {
	e := entry{source: source}
	info, err := os.Stat(source)
	switch {
	case errors.Is(err, fs.ErrNotExist) && isLink:
		e.problem = "the link leads nowhere"
	case errors.Is(err, fs.ErrNotExist):
		return e, false // removed since it was listed
	case err != nil:
		e.problem = err.Error()
	case info.IsDir():
		return lookFolder(e)
	case !info.Mode().IsRegular():
		return e, false
	case info.Mode().Perm()&0o111 != 0:
		e.stamp = stampOf(info)
	case isProgram(source):
		e.problem = "the file is not executable; run: chmod +x " + source
	default:
		return e, false
	}
	return e, true
}

func lookFolder(e entry) (entry, bool) {
	info, err := os.Stat(filepath.Join(e.source, manifest.FileName))
	if err == nil && info.Mode().IsRegular() {
		e.folder = true
		return e, true
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		e.problem = err.Error()
		return e, true
	}
	if _, err := os.Stat(filepath.Join(e.source, "plugin.yml")); err == nil {
		e.problem = "its manifest has to be named " + manifest.FileName + ", not plugin.yml"
		return e, true
	}
	return e, false
}

// isProgram reports whether a file begins like an ELF or Mach-O executable or a script.
func isProgram(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 4)
	n, _ := io.ReadFull(f, head)
	h := string(head[:n])
	return h == "\x7fELF" || h == "\xcf\xfa\xed\xfe" || strings.HasPrefix(h, "#!")
}

// readAll reads the sources that were found, cfg.Parallel at a time. old holds the known ones.
func (x *sources) readAll(ctx context.Context, found []entry, old map[string]seen, pins manifest.Lock, o loadOptions) ([]reading, error) {
	found = slices.DeleteFunc(found, func(e entry) bool {
		_, known := old[e.source]
		return o.leave[e.source] && !known
	})
	readings := make([]reading, len(found))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(x.cfg.Parallel)
	for i, e := range found {
		group.Go(func() error {
			was, known := old[e.source]
			switch {
			case known && o.leave[e.source]:
				readings[i] = reading{source: e.source, left: true}
			case known:
				readings[i] = x.read(ctx, e, was.record, was.file)
				if pins != nil && (was.current == nil || !allowed(pins, was.current.Digest)) {
					readings[i].current = x.restore(e.source, was.record, pins)
				}
			default:
				rec := x.index.get(e.source)
				readings[i] = x.read(ctx, e, rec, nil)
				if rec.Current != digestOf(readings[i].file) || pins != nil {
					readings[i].current = x.restore(e.source, rec, pins)
				}
			}
			readings[i].real = trust.RealSource(e.source)
			return context.Cause(ctx)
		})
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("reading plugins: %w", err)
	}
	return readings, nil
}

// restore returns the revision that was in service last, in this process or an earlier one, or the
// previous one if the lock file allows only that; nil if neither can be run.
func (x *sources) restore(source string, rec record, pins manifest.Lock) *Plugin {
	for _, digest := range []string{rec.Current, rec.Previous} {
		if digest == "" || !allowed(pins, digest) || digest == rec.Previous && pins == nil {
			continue
		}
		p, err := x.open(digest, source)
		if err == nil && p.usable() && refusal(pins, p, nil) == "" && (p.Pinned || digest == rec.Digest) {
			return p
		}
	}
	return nil
}
