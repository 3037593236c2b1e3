package launch

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/supervisor"
	"github.com/toolhost/toolhost/server/internal/toolhost/process"
	"github.com/toolhost/toolhost/server/internal/toolhost/sandbox"
	"github.com/toolhost/toolhost/tool"
)

// A sandbox protects what the known plugins execute outside of their own folders. It is made when
// its process starts, so a process that runs when a plugin is found may still change what the new
// plugin executes. The launcher keeps its processes for that reason. It has those processes
// replaced, and starts the new plugin only when they are gone. What they changed before is what the
// new plugin executes, as what was changed before it was found is: nothing outside of a plugin's
// folder is part of its digest.
//
// A process is in the record before its sandbox is computed, and a sandbox also protects what the
// plugins in the record execute. So of two processes that start at the same time, the second one in
// the record has the right sandbox.

// replacedWait is how long a launch waits for processes that are being replaced. Most have no call
// and are gone as soon as another one has started. A launch that waits keeps others from starting.
const replacedWait = 3 * time.Second

// running records the processes that start or run. The zero value is ready for use.
type running struct {
	mu  sync.Mutex
	all []*runner
}

// runner is a process that starts or runs.
type runner struct {
	plugin   *catalog.Plugin
	instance string
	sandbox  sandbox.Config // set once known is closed
	known    chan struct{}  // closed when the sandbox is known; soon
	gone     chan struct{}  // closed when the process has ended, or was not started
	leaving  atomic.Bool    // it is being replaced
}

// enter records a process before its sandbox is known. The caller calls confine and leave.
func (r *running) enter(p *catalog.Plugin, instance string) *runner {
	one := &runner{plugin: p, instance: instance, known: make(chan struct{}), gone: make(chan struct{})}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, one)
	return one
}

// confine records the sandbox of a process.
func (one *runner) confine(s sandbox.Config) {
	one.sandbox = s
	close(one.known)
}

// leave records that there is no process any more.
func (r *running) leave(one *runner) {
	close(one.gone)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = slices.DeleteFunc(r.all, func(other *runner) bool { return other == one })
}

func (r *running) list() []*runner {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all)
}

// plugins returns the plugins of the processes.
func (r *running) plugins() (plugins []*catalog.Plugin) {
	for _, one := range r.list() {
		plugins = append(plugins, one.plugin)
	}
	return plugins
}

// mayChange reports whether a process may change a path, which some process may change. A process
// without a sandbox may, but no other process in its place could be kept from it.
func (one *runner) mayChange(path string) bool {
	<-one.known
	s := one.sandbox
	if s.Mode == "" || s.Mode == sandbox.ModeOff {
		return false
	}
	if slices.ContainsFunc(s.Protected, func(kept string) bool { return contains(kept, path) || contains(withoutLinks(kept), path) }) {
		return false
	}
	if s.WorkspaceAccess == tool.AccessWrite && (s.Workspace == "" || contains(withoutLinks(s.Workspace), path)) {
		return true // without a path: that of a tenant or session, which is not known yet
	}
	return slices.ContainsFunc(s.Write, func(granted string) bool { return contains(withoutLinks(granted), path) })
}

// exposure is a process that may change what a plugin executes.
type exposure struct {
	by   *runner
	path string
	of   *catalog.Plugin
}

// exposures returns the processes of other plugins that may change what one of the plugins
// executes. The processes of a plugin itself have its grants anyway.
func (l *Launcher) exposures(g Places, plugins ...*catalog.Plugin) (found []exposure) {
	all := l.running.list()
	if len(all) == 0 || len(g.Writable) == 0 {
		return nil
	}
	for _, p := range plugins {
		paths := g.executed([]*catalog.Plugin{p})
		for _, one := range all {
			if one.plugin.Info.Name == p.Info.Name {
				continue
			}
			if i := slices.IndexFunc(paths, one.mayChange); i >= 0 {
				found = append(found, exposure{one, paths[i], p})
			}
		}
	}
	return found
}

// replace makes the host replace the processes. It does not wait.
func (l *Launcher) replace(exposed []exposure) {
	renew := l.renew.Load()
	if renew == nil {
		return // Follow looks again
	}
	names := map[string]bool{}
	for _, e := range exposed {
		if e.by.leaving.Swap(true) {
			continue
		}
		names[e.by.plugin.Info.Name] = true
		l.cfg.Logger.Info("an instance is replaced, because it could change what a newer plugin executes",
			"plugin", e.by.plugin.Info.Name, "instance", e.by.instance, "path", e.path, "executed_by", e.of.Info.Name)
	}
	if len(names) > 0 {
		(*renew)(func(p *catalog.Plugin) bool { return names[p.Info.Name] })
	}
}

// outlast returns when no process of another plugin may change what the plugin of a process
// executes. If they do not end soon, it returns an error that refuses the launch.
func (l *Launcher) outlast(ctx context.Context, g Places, one *runner) error {
	exposed := l.exposures(g, one.plugin)
	if len(exposed) == 0 {
		return nil
	}
	l.replace(exposed)
	late := time.NewTimer(replacedWait)
	defer late.Stop()
	for _, e := range exposed {
		select {
		case <-e.by.gone:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-late.C:
			err := tool.Errorf(tool.KindUnavailable, "the plugin %q does not start yet: it executes %s, which %s can still change, because it runs since before toolhost knew that. "+
				"It is replaced when its calls have ended", one.plugin.Info.Name, e.path, e.by.instance)
			err.RetryAfter = time.Second
			return supervisor.RefuseLaunch(err)
		}
	}
	return nil
}

// recorded starts a process, when no process of another plugin may change what it executes. confine
// computes its sandbox, and start starts it.
func (l *Launcher) recorded(ctx context.Context, g Places, p *catalog.Plugin, instance string,
	confine func() sandbox.Config, start func() (*process.Process, error)) (*process.Process, error) {
	one := l.running.enter(p, instance)
	one.confine(confine())
	err := l.outlast(ctx, g, one)
	var started *process.Process
	if err == nil {
		started, err = start()
	}
	if err != nil {
		l.running.leave(one)
		return nil, err
	}
	go func() { // ends with the process, which the host stops and waits for
		<-started.Done()
		l.running.leave(one)
	}()
	return started, nil
}

// Renew replaces the running instances of the plugins that a function selects. It does not wait.
type Renew func(replaced func(p *catalog.Plugin) bool)

// Follow makes the host replace the instances that could change what a plugin executes that the
// catalog has found. stop ends that, and waits.
func (l *Launcher) Follow(known *catalog.Catalog, renew Renew) (stop func()) {
	l.renew.Store(&renew)
	ctx, cancel := context.WithCancel(context.Background())
	var following sync.WaitGroup
	following.Go(func() { // ends with ctx
		var last *catalog.Snapshot
		var seen map[revision]bool
		for {
			next, err := known.Next(ctx, last)
			if err != nil {
				return
			}
			last = next
			seen = l.examine(next, seen)
		}
	})
	return func() {
		cancel()
		following.Wait()
	}
}

// revision names a revision of a plugin.
type revision struct{ source, digest string }

// examine replaces the instances that could change what a plugin of a snapshot executes, unless the
// plugin was examined before. It returns what is examined now.
func (l *Launcher) examine(s *catalog.Snapshot, seen map[revision]bool) map[revision]bool {
	if len(l.running.list()) == 0 {
		return nil
	}
	now := map[revision]bool{}
	var fresh []*catalog.Plugin
	for _, p := range slices.Concat(s.Plugins(), s.Candidates()) {
		r := revision{p.Source, p.Digest}
		if !seen[r] && !now[r] {
			fresh = append(fresh, p)
		}
		now[r] = true
	}
	l.replace(l.exposures(l.current.Load().Places, fresh...))
	return now
}
