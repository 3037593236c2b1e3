package host

import (
	"context"
	"maps"
	"time"

	"github.com/toolhost/toolhost/internal/host/lifecycle"
	"github.com/toolhost/toolhost/tool"
)

// Restart replaces a plugin's instances. A new one is launched first; once it is ready, those that ran before end their
// calls and stop. If it does not start, they stay. With force they are stopped at once, whatever they do. Errors:
// not_found, unavailable.
func (h *Host) Restart(ctx context.Context, plugin string, force bool) (tool.Restarted, error) {
	s, err := h.operated(plugin)
	if err != nil {
		return tool.Restarted{}, err
	}
	done := tool.Restarted{Stopped: []string{}, Started: []string{}}
	s.mu.Lock()
	for _, in := range s.machine.Instances() {
		done.Stopped = append(done.Stopped, in.ID)
	}
	id := ""
	s.tellLocked(func(m *lifecycle.Machine, now time.Time) (actions []lifecycle.Action) {
		id, actions = m.Restart(now, force)
		return actions
	})
	in := s.instances[id]
	s.mu.Unlock()
	if in == nil {
		return tool.Restarted{}, tool.Errorf(tool.KindUnavailable, "the plugin %q is being replaced already; wait until that is done", plugin)
	}
	if err := in.awaitReady(ctx); err != nil {
		return tool.Restarted{}, err
	}
	done.Started = append(done.Started, id)
	return done, nil
}

// Drain lets all instances of a plugin end their calls, and stops them. It returns once they are gone. New calls start
// new ones, unless the plugin is paused. Errors: not_found.
func (h *Host) Drain(ctx context.Context, plugin string) error {
	s, err := h.operated(plugin)
	if err != nil {
		return err
	}
	s.mu.Lock()
	draining := maps.Clone(s.instances)
	s.tellLocked(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action {
		return m.Drain(now, "an operator drained the plugin")
	})
	for _, in := range s.machine.Instances() {
		if in.State == tool.InstanceStarting || in.State == tool.InstanceReady {
			delete(draining, in.ID) // it is on its way to replace them
		}
	}
	s.mu.Unlock()
	for _, in := range draining {
		select {
		case <-in.gone:
		case <-ctx.Done():
			return tool.AsError(context.Cause(ctx))
		}
	}
	return nil
}

// Pause lets a plugin take no new calls until Resume: those that wait are rejected, those under way end. Errors:
// not_found.
func (h *Host) Pause(_ context.Context, plugin string) error {
	return h.order(plugin, (*lifecycle.Machine).Pause)
}

// Resume ends a pause. Errors: not_found.
func (h *Host) Resume(_ context.Context, plugin string) error {
	return h.order(plugin, (*lifecycle.Machine).Resume)
}

// ClearQuarantine ends a quarantine or a backoff: the next call launches again. Errors: not_found.
func (h *Host) ClearQuarantine(_ context.Context, plugin string) error {
	if s, err := h.operated(plugin); err == nil {
		s.pardon()
	}
	return h.order(plugin, (*lifecycle.Machine).Clear)
}

func (h *Host) order(plugin string, what func(m *lifecycle.Machine, now time.Time) []lifecycle.Action) error {
	s, err := h.operated(plugin)
	if err != nil {
		return err
	}
	s.tell(what)
	return nil
}

// operated returns the supervisor of a plugin that an operator names.
func (h *Host) operated(plugin string) (*supervisor, error) {
	snapshot := h.cfg.Catalog.Snapshot()
	p := snapshot.Plugin(plugin)
	if p == nil {
		return nil, unknownPlugin(snapshot, plugin)
	}
	if err := h.switchedOff(plugin); err != nil {
		return nil, err
	}
	return h.supervisor(p), nil
}

// awaitReady returns once the instance takes calls, or the reason why it does not.
func (in *instance) awaitReady(ctx context.Context) error {
	select {
	case <-in.routed:
		return nil
	case <-in.gone:
		if in.err != nil {
			return in.err
		}
		return nil // it was ready, and has gone since
	case <-ctx.Done():
		return tool.AsError(context.Cause(ctx))
	}
}
