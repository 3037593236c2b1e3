package supervisor

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/toolhost/toolhost/internal/host/lifecycle"
	"github.com/toolhost/toolhost/tool"
)

// Restart replaces the plugin's instances. It launches a new one first; once that takes calls, the
// instances that ran before finish their calls and stop. If the new one does not start, they stay.
// With force they stop at once and their calls are cancelled.
func (s *Supervisor) Restart(ctx context.Context, force bool) (tool.Restarted, error) {
	done := tool.Restarted{Stopped: []string{}, Started: []string{}}
	s.mu.Lock()
	for _, in := range s.machine.Instances() {
		done.Stopped = append(done.Stopped, in.ID)
	}
	id := ""
	s.applyLocked(func(m *lifecycle.Machine, now time.Time) (actions []lifecycle.Action) {
		id, actions = m.Restart(now, force)
		return actions
	})
	in := s.instances[id]
	s.mu.Unlock()
	if in == nil {
		return tool.Restarted{}, tool.Errorf(tool.KindUnavailable, "the plugin %q is being replaced already; wait until that is done", s.name)
	}
	if err := in.awaitReady(ctx); err != nil {
		return tool.Restarted{}, err
	}
	done.Started = append(done.Started, id)
	return done, nil
}

// Drain lets all instances finish their calls and stops them. It returns when they are gone. An
// instance that is about to replace them stays.
func (s *Supervisor) Drain(ctx context.Context) error {
	s.mu.Lock()
	draining := maps.Clone(s.instances)
	s.applyLocked(func(m *lifecycle.Machine, now time.Time) []lifecycle.Action {
		return m.Drain(now, "an operator drained the plugin")
	})
	for _, in := range s.machine.Instances() {
		if in.State == tool.InstanceStarting || in.State == tool.InstanceReady {
			delete(draining, in.ID)
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

// Pause makes the plugin take no new calls until Resume. Calls that run finish, and calls that wait
// are rejected.
func (s *Supervisor) Pause() { s.apply((*lifecycle.Machine).Pause) }

// Resume ends a pause.
func (s *Supervisor) Resume() { s.apply((*lifecycle.Machine).Resume) }

// ClearQuarantine ends a quarantine or a backoff, and forgets which calls crashed the plugin.
func (s *Supervisor) ClearQuarantine() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.crashes = nil
	s.applyLocked((*lifecycle.Machine).Clear)
}

// Describe sets the state, the counts and the exits in what operators see of the plugin.
func (s *Supervisor) Describe(info *tool.PluginInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	info.State, info.Reason = s.machine.State(now)
	info.Instances, info.Launches = len(s.instances), s.machine.Launches()
	info.RecentExits, info.RetryTime = slices.Clone(s.exits), s.machine.RetryTime(now)
	info.LastExit = nil
	if len(s.exits) > 0 {
		exit := s.exits[0].Exit
		info.LastExit = &exit
	}
}

// Instances returns what operators see of the instances, the oldest first. It asks the system about
// the processes without holding the mutex.
func (s *Supervisor) Instances() []tool.InstanceInfo {
	type known struct {
		in    *Instance
		state lifecycle.Instance
	}
	var all []known
	s.mu.Lock()
	for _, state := range s.machine.Instances() {
		if in := s.instances[state.ID]; in != nil {
			all = append(all, known{in, *state})
		}
	}
	s.mu.Unlock()
	infos := make([]tool.InstanceInfo, len(all))
	for i, k := range all {
		infos[i] = k.in.info(&k.state)
	}
	return infos
}
