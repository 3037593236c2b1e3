package supervisor

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
	"github.com/toolhost/toolhost/tool"
)

// commandLocked gives the machine a command of an operator. The events of the command name the
// operator.
func (s *Supervisor) commandLocked(by By, command func(m *lifecycle.Machine, now time.Time) []lifecycle.Action) {
	s.by = by
	s.applyLocked(command)
	s.by = By{}
}

func (s *Supervisor) command(by By, command func(m *lifecycle.Machine, now time.Time) []lifecycle.Action) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commandLocked(by, command)
}

// Restart replaces the plugin's instances. It launches a new one first. Once the new one takes
// calls, the old ones finish their calls and stop. If the new one does not start, the old ones
// stay. With force, the old ones stop at once and their calls are canceled.
func (s *Supervisor) Restart(ctx context.Context, by By, force bool) (tool.Restarted, error) {
	done := tool.Restarted{Stopped: []string{}, Started: []string{}}
	s.mu.Lock()
	for _, in := range s.machine.Instances() {
		done.Stopped = append(done.Stopped, in.ID)
	}
	id := ""
	s.commandLocked(by, func(m *lifecycle.Machine, now time.Time) (actions []lifecycle.Action) {
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
// instance that is being launched to replace them stays.
func (s *Supervisor) Drain(ctx context.Context, by By) error {
	s.mu.Lock()
	draining := maps.Clone(s.instances)
	s.commandLocked(by, func(m *lifecycle.Machine, now time.Time) []lifecycle.Action {
		return m.Drain(now, lifecycle.ByOperator+"drained the plugin")
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
func (s *Supervisor) Pause(by By) { s.command(by, (*lifecycle.Machine).Pause) }

// Resume ends a pause.
func (s *Supervisor) Resume(by By) { s.command(by, (*lifecycle.Machine).Resume) }

// ClearQuarantine ends a quarantine or a backoff, and forgets which calls crashed the plugin.
func (s *Supervisor) ClearQuarantine(by By) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.crashes = nil
	s.commandLocked(by, (*lifecycle.Machine).Clear)
}

// Describe sets the plugin's state, counts and exits in info, which operators see.
func (s *Supervisor) Describe(info *tool.PluginInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	r := s.machine.Report(now)
	info.State, info.Reason = r.State, r.Reason
	if refused := s.crashes.refusedNow(now); refused != nil && info.State == tool.PluginEnabled {
		info.Reason = refused.reason()
	}
	info.Instances, info.Launches = len(s.instances), r.Launches
	info.RecentExits, info.RetryTime = slices.Clone(s.exits), r.Retry
	info.LastExit = nil
	if len(s.exits) > 0 {
		exit := s.exits[0].Exit
		info.LastExit = &exit
	}
}

// Instances returns a description of each instance for operators, the oldest first. It queries the
// operating system about the processes without holding the mutex.
func (s *Supervisor) Instances() []tool.InstanceInfo {
	s.mu.Lock()
	all := s.knownLocked()
	s.mu.Unlock()
	infos := make([]tool.InstanceInfo, len(all))
	for i, k := range all {
		infos[i] = k.in.info(&k.state)
	}
	return infos
}

// known is an instance with the state machine's data about it.
type known struct {
	in    *Instance
	state lifecycle.Instance
}

// knownLocked returns the instances, the oldest first.
func (s *Supervisor) knownLocked() (all []known) {
	for _, state := range s.machine.Instances() {
		if in := s.instances[state.ID]; in != nil {
			all = append(all, known{in, *state})
		}
	}
	return all
}

// info returns a description of the instance for operators.
func (in *Instance) info(state *lifecycle.Instance) tool.InstanceInfo {
	info := tool.InstanceInfo{
		ID: in.id, Plugin: in.plugin.Info.Name, Tenant: in.supervisor.tenant, State: state.State, Calls: state.Calls, TotalCalls: state.Total,
		StartTime: state.Created, Digest: state.Revision,
	}
	select {
	case <-in.ready:
	default:
		if info.State == tool.InstanceStarting {
			in.mu.Lock()
			info.State = in.detail
			in.mu.Unlock()
		}
		return info
	}
	info.PID, info.RSSBytes, info.Limits = in.proc.PID(), in.proc.RSS(), in.proc.Limits()
	info.Sandbox = new(in.proc.Sandbox())
	if info.State == tool.InstanceReady && !in.proc.Alive() {
		info.State = tool.InstanceStopping // it has ended, and the supervisor has not noticed yet
	}
	return info
}
