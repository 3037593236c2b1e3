package launch

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/sandbox"
)

// Protectable returns the paths that the sandbox has to protect, of those that a plugin may change.
// The folders of the paths are without links. A path that is a link, or of which own is false and
// that has a second name, is replaced by its folder. If that is what the operator granted, the path
// stays, and the sandbox refuses it. A path that the operator granted by its own name stays
// writable, as do the folders around what was granted.
func (g Places) Protectable(paths []string, own bool) []string {
	var found []string
	for _, path := range paths {
		info, err := os.Lstat(path)
		replaceable := err == nil && (info.Mode()&fs.ModeSymlink != 0 || !own && info.Mode().IsRegular() && hasOtherNames(info))
		if folder := filepath.Dir(path); replaceable && g.changeable(folder) {
			path = folder
		}
		if g.changeable(path) && !slices.Contains(found, path) {
			found = append(found, path)
		}
	}
	return found
}

// changeable reports whether a plugin may change a path without links, and the operator did not
// grant it by its own name.
func (g Places) changeable(path string) bool {
	changeable := false
	for _, folder := range g.Writable {
		folder = withoutLinks(folder)
		if contains(path, folder) {
			return false
		}
		changeable = changeable || contains(folder, path)
	}
	return changeable && !slices.ContainsFunc(g.Hidden, func(hidden string) bool { return contains(withoutLinks(hidden), path) })
}

// programs returns what the known plugins execute outside of their own folders: interpreters, which
// a manifest or the first line of a script names, and what links of a plugin lead to. A tool that
// could change it would get the grants of another plugin.
func (l *Launcher) programs(g Places) []string {
	known := l.known.Load()
	if known == nil || len(g.Writable) == 0 {
		return nil
	}
	s := known.Snapshot()
	return l.executed.of(g, slices.Concat(s.Plugins(), s.Candidates(), l.running.plugins()))
}

// lately is how long what plugins execute is not looked up again. A start takes about as long. If
// many plugins start one after another, their number does not multiply the cost of each start.
const lately = time.Second

// lastExecuted is the latest answer of Places.executed. It is safe for concurrent use.
type lastExecuted struct {
	mu       sync.Mutex
	at       time.Time
	places   Places
	plugins  map[revision]bool
	executed []string
}

func (l *lastExecuted) of(g Places, plugins []*catalog.Plugin) []string {
	revisions := make(map[revision]bool, len(plugins))
	for _, p := range plugins {
		revisions[revision{p.Source, p.Digest}] = true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	same := slices.Equal(l.places.Writable, g.Writable) && slices.Equal(l.places.Hidden, g.Hidden) && maps.Equal(l.plugins, revisions)
	if !same || time.Since(l.at) > lately {
		l.at, l.places, l.plugins = time.Now(), g, revisions
		l.executed = g.executed(plugins)
		slices.Sort(l.executed) // processes run in any order, and sandbox.Configs are compared
	}
	return l.executed
}

// EarlierInPath returns the paths at which a program would be found instead of the one that PATH
// leads to now; all places if PATH does not lead to one. A tool that could make one of them would
// choose what the operator or the next plugin runs.
func EarlierInPath(name string) (paths []string) {
	if strings.Contains(name, "/") {
		return nil
	}
	for _, folder := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(folder) {
			continue // a plugin's own folders: it starts in one of them
		}
		path := filepath.Join(folder, name)
		if _, err := exec.LookPath(path); err == nil {
			return paths
		}
		paths = append(paths, path)
	}
	return paths
}

// executed returns what of the things that plugins execute has to be protected.
func (g Places) executed(plugins []*catalog.Plugin) []string {
	var paths []string
	seen, searched := map[string]bool{}, map[string]bool{}
	add := func(found ...string) {
		for _, path := range found {
			if !seen[path] {
				seen[path] = true
				paths = append(paths, ProgramPaths(path)...)
			}
		}
	}
	examined := map[revision]bool{}
	var examiner sandbox.Examiner
	for _, p := range plugins {
		r := revision{p.Source, p.Digest}
		if p.Path == "" || examined[r] {
			continue // it runs elsewhere
		}
		examined[r] = true
		if p.Manifest != nil && !strings.HasPrefix(p.Path, p.Dir+string(filepath.Separator)) {
			add(p.Path)
		}
		if info, err := os.Lstat(p.Source); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			add(p.Source) // what it leads to becomes the next revision
		}
		interpreters, names := examiner.Interpreters(p.Path, g.Writable)
		add(interpreters...)
		if p.Manifest != nil && len(p.Manifest.Command) > 0 && !strings.Contains(p.Manifest.Command[0], "/") {
			names = append(names, p.Manifest.Command[0])
		}
		for _, name := range names {
			if !searched[name] {
				searched[name] = true
				add(EarlierInPath(name)...)
			}
		}
		add(p.Outside...)
	}
	return g.Protectable(paths, false)
}

// mostSteps bounds the steps to the end of a path.
const mostSteps = 1000

// ProgramPaths returns the paths that keep a program what it is: its file, and every link on the
// way to it. The folder of each is without links. The file need not exist: a tool could make it.
func ProgramPaths(path string) []string {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	var found []string
	at, rest := "/", pathNames(path)
	for step := 0; len(rest) > 0; step++ {
		next := filepath.Join(at, rest[0])
		info, err := os.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return append(found, next)
		case err != nil || step == mostSteps:
			return found // nothing can be executed there
		case info.Mode()&fs.ModeSymlink == 0:
			at, rest = next, rest[1:]
			continue
		}
		target, err := os.Readlink(next)
		if err != nil {
			return found
		}
		if filepath.IsAbs(target) {
			at = "/"
		}
		found, rest = append(found, next), append(pathNames(target), rest[1:]...)
	}
	return append(found, at)
}

// pathNames returns the names in a path.
func pathNames(path string) []string {
	return slices.DeleteFunc(strings.Split(path, "/"), func(name string) bool { return name == "" })
}

// Within reports whether a path is a folder or inside the folder. It follows the symbolic links of
// both paths.
func Within(path, folder string) bool {
	return contains(withoutLinks(folder), withoutLinks(path))
}

// contains reports whether a path is a folder or inside the folder. It follows no links.
func contains(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// withoutLinks returns a path without its links, or the path itself if it leads nowhere.
func withoutLinks(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// hasOtherNames reports whether a file has more than one hard link.
func hasOtherNames(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink > 1
}
