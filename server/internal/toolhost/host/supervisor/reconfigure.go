package supervisor

import (
	"context"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
	"github.com/toolhost/toolhost/tool"
)

// Reconfigure applies changed Settings to the plugins that were used. replaced reports whether the
// processes of a plugin would now be started in another way. Reconfigure does not block.
//
// The function that it returns waits until new instances have replaced those of all such plugins,
// or until ctx ends. It returns the plugins whose new instance did not start. The old instances of
// these plugins take no calls either.
func (p *Plugins) Reconfigure(replaced func(*catalog.Plugin) bool) (await func(ctx context.Context) []tool.ReloadFailure) {
	all := p.all()
	for _, s := range all {
		s.reconfigure(replaced)
	}
	return func(ctx context.Context) []tool.ReloadFailure {
		failures := []tool.ReloadFailure{}
		for _, s := range all {
			if err := s.awaitRenewal(ctx); err != nil {
				failures = append(failures, tool.ReloadFailure{Plugin: s.name, Reason: err.Error()})
			}
		}
		return failures
	}
}

func (s *Supervisor) reconfigure(replaced func(*catalog.Plugin) bool) {
	settings := s.cfg.Settings()
	cfg := settings.Lifecycle(s.name)
	s.mu.Lock()
	routed, _ := s.machine.Revision()
	p := s.succession.revisions[routed]
	s.mu.Unlock()
	processes := p != nil && replaced(p) // may read folders, so without the mutex
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isolation.Store(&cfg.Isolation)
	s.applyLocked(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action {
		return m.Reconfigure(now, cfg, processes)
	})
	if settings.Disabled(s.name) {
		// Calls that began before may still have to execute, so that the plugin is not taken out of
		// service. The host refuses new calls.
		s.applyLocked(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action {
			return m.Retire(now, "the configuration disabled the plugin")
		})
	}
}

// awaitRenewal waits until no instance with an earlier configuration takes calls. The error says
// why a new instance did not start.
func (s *Supervisor) awaitRenewal(ctx context.Context) error {
	for {
		s.mu.Lock()
		in := s.instances[s.machine.Replacing()]
		r := s.machine.Report(time.Now())
		s.mu.Unlock()
		if r.NotRenewed != "" {
			return tool.Errorf(tool.KindUnavailable, "%s", r.NotRenewed)
		}
		if !r.Renewing || in == nil {
			return nil
		}
		_ = in.awaitReady(ctx) // the machine keeps why it failed
		if ctx.Err() != nil {
			return tool.AsError(context.Cause(ctx))
		}
	}
}
