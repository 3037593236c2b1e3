package catalog

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/toolhost/manifest"
	"github.com/toolhost/toolhost/server/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

// reading is the result of reading a source.
type reading struct {
	source  string
	real    string // see slot
	stamp   string
	problem string  // why the source cannot be read; empty if it can
	fault   string  // the fault of the machine that is the problem; empty if it is another one
	file    *Plugin // its revision; nil if problem is set

	otherNames bool // it is a file that has other names (hard links)

	left bool // it was not read, and keeps its known state

	// The revision that earlier processes had in service. It is nil if it cannot be run, or if it
	// is not needed.
	current *Plugin
}

// read reads one source. If the source has not changed since its record was made, read does not
// read its content again. known is the plugin of that record, if it is still in memory.
func (x *sources) read(ctx context.Context, found entry, rec record, known *Plugin) reading {
	r := reading{source: found.source, problem: found.problem}
	if r.problem != "" {
		return r
	}
	var err error
	if found.folder {
		err = x.readFolder(ctx, &r, found, rec, known)
	} else {
		err = x.readFile(ctx, &r, found, rec, known)
	}
	if err != nil {
		r.problem, r.fault = fmt.Sprintf("reading %s: %v", found.source, err), faultOf(err)
	}
	return r
}

func (x *sources) readFile(ctx context.Context, r *reading, found entry, rec record, known *Plugin) error {
	r.stamp, r.otherNames = found.stamp, trust.HasOtherNames(found.source)
	if r.file = x.unchanged(r, rec, known); r.file != nil {
		return nil
	}
	digest, err := x.store.takeFile(ctx, found)
	if err != nil {
		return err
	}
	r.file, err = x.open(digest, found.source)
	return err
}

func (x *sources) readFolder(ctx context.Context, r *reading, found entry, rec record, known *Plugin) error {
	root, err := os.OpenRoot(found.source)
	if err != nil {
		return err
	}
	defer root.Close()
	l, err := list(ctx, root)
	if err != nil {
		return err
	}
	r.stamp = l.stamp
	if r.file = x.unchanged(r, rec, known); r.file != nil {
		return nil
	}
	inPlace := l.files > x.cfg.MaxFolderFiles || l.bytes > x.cfg.MaxFolderBytes
	digest, err := x.store.takeFolder(ctx, found, l, inPlace)
	if err != nil {
		return err
	}
	r.file, err = x.open(digest, found.source)
	return err
}

// unchanged returns the plugin of a source that has not changed since its record was made; nil if
// it has changed, or if its copy is lost.
func (x *sources) unchanged(r *reading, rec record, known *Plugin) *Plugin {
	if rec.Digest == "" || rec.Stamp != r.stamp {
		return nil
	}
	if known != nil && known.Digest == rec.Digest && (known.usable() || known.pending() || known.unanswered) {
		if _, err := os.Stat(known.Path); err == nil {
			return known
		}
	}
	p, err := x.open(rec.Digest, r.source)
	if err != nil {
		return nil
	}
	return p
}

// open returns a plugin for a digest in the store. If the digest was never asked for its
// description, the plugin has a problem that says so.
func (x *sources) open(digest, source string) (*Plugin, error) {
	a, ok := x.store.about(digest)
	if !ok || !a.InPlace && !x.store.holds(digest, source, a) {
		return nil, fmt.Errorf("no copy of %s is kept", digest)
	}
	p := &Plugin{Source: source, Digest: digest, Path: x.store.path(digest, source), Cache: x.store.cache(digest), Pinned: !a.InPlace}
	p.Info = tool.Description{Name: filepath.Base(source)}
	if a.InPlace {
		p.Path = source
		p.warnf("it is too large to be copied and runs where it is: what was checked may change before it runs")
	}
	warned := 0
	for _, link := range a.Leave {
		if target, err := os.Readlink(filepath.Join(p.Path, filepath.FromSlash(link))); err == nil {
			p.Outside = append(p.Outside, target)
		}
		if leadsToInterpreter(p.Path, link) {
			continue
		}
		if warned++; warned > maxLeaveWarned {
			continue
		}
		p.warnf("the link %s leads out of its folder: what is behind it may change without being noticed", link)
	}
	if info, err := os.Stat(p.Path); err != nil {
		return nil, err
	} else if info.IsDir() {
		if err := p.openFolder(); err != nil {
			return p.withProblem(err.Error()), nil
		}
	}
	if d := a.Description; d != nil && len(d.Filters) > 0 && !a.OwnFilters {
		a.Description = nil // the plugin is asked again, so that no tool runs without its own filters
	}
	if a.Description == nil && a.Unanswered != "" {
		p = p.withProblem(a.Unanswered)
		p.unanswered, p.remembered = true, true
		return p, nil
	}
	if a.Description == nil {
		return p.withProblem(problemPending), nil
	}
	if a.SchemaCheck != schemaCheck {
		a.Refused = checkSchemas(a.Description.Tools)
	}
	return p.described(*a.Description, a.Refused), nil
}

// leadsToInterpreter reports whether a link of a folder is that of a Python environment to its
// interpreter. The interpreter is not part of the plugin, like the one of a command python3 or
// node, for which there is no warning either.
func leadsToInterpreter(folder, link string) bool {
	bin, name := path.Split(link)
	if path.Base(bin) != "bin" || !strings.HasPrefix(name, "python") {
		return false
	}
	if _, err := os.Stat(filepath.Join(folder, filepath.FromSlash(path.Dir(path.Clean(bin))), "pyvenv.cfg")); err != nil {
		return false
	}
	info, err := os.Stat(filepath.Join(folder, filepath.FromSlash(link)))
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// openFolder reads the manifest in the folder p.Path, and sets how the plugin is run.
func (p *Plugin) openFolder() error {
	file := filepath.Join(p.Path, manifest.FileName)
	if info, err := os.Lstat(file); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s has to be a file, not a link: how a plugin is run is part of what is checked", manifest.FileName)
	}
	data, err := readBounded(file, manifest.MaxSize+1)
	if err != nil {
		return fmt.Errorf("reading the manifest: %w", err)
	}
	m, err := manifest.Parse(filepath.Join(p.Source, manifest.FileName), data)
	if err != nil {
		return err
	}
	p.Manifest, p.Dir = m, p.Path
	if m.Name != "" {
		p.Info.Name = m.Name
	}
	p.Info.Description = m.Description
	if m.Remote() {
		return nil
	}
	program, err := lookProgram(p.Dir, m.Command[0])
	if err != nil {
		return err
	}
	p.Path, p.Args = program, m.Command[1:]
	p.Env = environ(m.Env)
	return nil
}

func readBounded(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

// lookProgram returns the absolute path of a program: in the folder if its name has a slash, else
// in PATH.
func lookProgram(dir, name string) (string, error) {
	if !strings.ContainsRune(name, '/') {
		program, err := exec.LookPath(name)
		if err == nil {
			program, err = filepath.Abs(program)
		}
		if err != nil {
			return "", fmt.Errorf("the command cannot be run: %w; install it, or write ./%s if it is in the plugin's folder", err, name)
		}
		return program, nil
	}
	program := filepath.Join(dir, name)
	info, err := os.Stat(program)
	switch {
	case err != nil:
		return "", fmt.Errorf("the command %s cannot be run: there is no such file in the plugin's folder", name)
	case !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0:
		return "", fmt.Errorf("the command %s cannot be run: it is not executable; run chmod +x on it", name)
	}
	return program, nil
}

// environ returns the variables that a manifest sets in a plugin's environment, ordered by name.
// Variables that it asks to be passed on are requests: the process's starter passes on those that
// the operator granted.
func environ(env manifest.Env) []string {
	list := make([]string, 0, len(env.Set))
	for name, value := range env.Set {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}
