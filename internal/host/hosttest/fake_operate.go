package hosttest

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/toolhost/toolhost/tool"
)

func checkPlugin(name string) error {
	if name != PluginName {
		return tool.Errorf(tool.KindNotFound, "there is no plugin %q", name)
	}
	return nil
}

// Plugins returns the plugin of the fake.
func (f *Fake) Plugins(context.Context) ([]tool.PluginInfo, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	plugin := tool.PluginInfo{
		Name: PluginName, Version: PluginVersion, Description: "the suite's tools", Path: "/plugins/" + PluginName,
		Digest: fakeDigest, State: tool.PluginEnabled, Launches: f.launches, Warnings: []string{"tool x was left out"},
	}
	if f.running {
		plugin.Instances = 1
	}
	if f.paused {
		plugin.State, plugin.Reason = tool.PluginPaused, "an operator paused it"
	}
	for _, t := range f.all() {
		plugin.Tools = append(plugin.Tools, t.Spec.Name)
	}
	plugin.RecentExits = slices.Clone(f.exits)
	if len(f.exits) > 0 {
		plugin.LastExit = &f.exits[0].Exit
	}
	return []tool.PluginInfo{plugin}, nil
}

// Instances returns the instance, if there is one.
func (f *Fake) Instances(_ context.Context, plugin string) ([]tool.InstanceInfo, error) {
	if plugin != "" {
		if err := checkPlugin(plugin); err != nil {
			return nil, err
		}
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if !f.running {
		return nil, nil
	}
	return []tool.InstanceInfo{{
		ID: f.instanceID(), Plugin: PluginName, State: tool.InstanceReady, PID: 4242, TotalCalls: uint64(len(f.opened)),
		StartTime: f.started, RSSBytes: 12 << 20, Digest: fakeDigest,
		Limits: []tool.EffectiveLimit{
			{Name: "memory", Value: "536870912", Mechanism: "cgroup2"},
			{Name: "processes", Value: "64", Mechanism: "none", Note: "root is not bounded by RLIMIT_NPROC"},
		},
		Sandbox: &tool.Sandbox{Mode: "on", Workspace: tool.AccessRead, Network: true, Write: []string{"/srv/data"}, Layers: []tool.SandboxLayer{
			{Name: "files", Effective: true, Mechanism: "mount namespace"},
			{Name: "landlock", Note: "this kernel has no Landlock"},
		}},
	}}, nil
}

const fakeDigest = "sha256:0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f"

// Restart replaces the instance. With force, it ends the calls of the old one.
func (f *Fake) Restart(_ context.Context, plugin string, force bool) (tool.Restarted, error) {
	if err := checkPlugin(plugin); err != nil {
		return tool.Restarted{}, err
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.note("restart_started", "", "")
	var done tool.Restarted
	if f.running {
		done.Stopped = []string{f.instanceID()}
		f.exit(tool.Exit{Code: -1, Signal: "SIGKILL", Reason: "an operator restarted it", LastStderr: []string{"last words"}})
	}
	if force {
		f.abort("an operator restarted it by force")
	}
	f.launch()
	f.note("restart_finished", f.instanceID(), "")
	done.Started = []string{f.instanceID()}
	return done, nil
}

// Drain ends the instance. It does not wait for calls: no test of the suite drains a plugin with a
// call.
func (f *Fake) Drain(_ context.Context, plugin string) error {
	return f.order(plugin, func() {
		if f.running {
			f.exit(tool.Exit{Reason: "an operator drained the plugin"})
		}
	})
}

// Pause makes the plugin take no calls.
func (f *Fake) Pause(_ context.Context, plugin string) error {
	return f.order(plugin, func() {
		f.paused = true
		f.note("plugin_paused", "", "an operator paused it")
	})
}

// Resume ends a pause.
func (f *Fake) Resume(_ context.Context, plugin string) error {
	return f.order(plugin, func() {
		f.paused = false
		f.note("plugin_enabled", "", "an operator resumed it")
	})
}

// ClearQuarantine only adds the event.
func (f *Fake) ClearQuarantine(_ context.Context, plugin string) error {
	return f.order(plugin, func() { f.note("plugin_enabled", "", "an operator cleared it") })
}

// Reload never finds a change.
func (f *Fake) Reload(context.Context) (tool.Reloaded, error) { return tool.Reloaded{}, nil }

// ReloadPlugins never finds a change.
func (f *Fake) ReloadPlugins(context.Context) (tool.Reloaded, error) { return tool.Reloaded{}, nil }

// DiffConfiguration never finds a change.
func (f *Fake) DiffConfiguration(context.Context) (tool.ConfigurationChange, error) {
	return tool.ConfigurationChange{}, nil
}

// LockFile returns a file that is not enforced.
func (f *Fake) LockFile(context.Context) (tool.LockFile, error) {
	return tool.LockFile{Path: "/absent/toolhost.lock"}, nil
}

// Upgrade never finds another revision.
func (f *Fake) Upgrade(_ context.Context, plugin, _ string) (tool.Upgraded, error) {
	return tool.Upgraded{Digest: fakeDigest, PreviousDigest: fakeDigest}, checkPlugin(plugin)
}

// Rollback never finds a previous revision.
func (f *Fake) Rollback(_ context.Context, plugin string, _ uint64, _ string) (tool.Upgraded, error) {
	if err := checkPlugin(plugin); err != nil {
		return tool.Upgraded{}, err
	}
	return tool.Upgraded{}, tool.Errorf(tool.KindNotFound, "the plugin %q has no executable before this one", plugin)
}

// Revisions returns the only revision.
func (f *Fake) Revisions(_ context.Context, plugin string) ([]tool.Revision, error) {
	return []tool.Revision{{Number: 1, Digest: fakeDigest, Time: f.started, Cause: tool.RevisionAdded, Current: true}}, checkPlugin(plugin)
}

func (f *Fake) order(plugin string, do func()) error {
	if err := checkPlugin(plugin); err != nil {
		return err
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	do()
	return nil
}

// launch starts an instance. The caller holds the mutex, as for the methods below.
func (f *Fake) launch() {
	f.instance++
	f.launches++
	f.started, f.running = time.Now(), true
	f.note("instance_launching", f.instanceID(), "")
	f.note("instance_ready", f.instanceID(), "")
}

func (f *Fake) instanceID() string { return fmt.Sprintf("%s-%d", PluginName, f.instance) }

// exit ends the instance.
func (f *Fake) exit(exit tool.Exit) {
	f.running = false
	f.exits = append([]tool.PluginExit{{Instance: f.instanceID(), Time: time.Now(), Exit: exit, Expected: true}}, f.exits...)
	f.note("instance_exited", f.instanceID(), exit.String())
}

// abort ends all calls as if their process had exited.
func (f *Fake) abort(reason string) {
	for _, e := range f.ledger {
		e.cancel(tool.Errorf(tool.KindOutcomeUnknown, "the plugin ended during the call: %s", reason))
	}
}

func (f *Fake) note(kind, instance, reason string) {
	f.events.add(func(seq uint64) tool.PluginEvent {
		return tool.PluginEvent{
			Seq: seq, Time: time.Now(), Type: kind, Plugin: PluginName, Instance: instance, Digest: fakeDigest, Reason: reason,
		}
	})
}

// WatchEvents returns the events of the plugin and its instances.
func (f *Fake) WatchEvents(ctx context.Context, q tool.EventQuery) iter.Seq2[tool.PluginEvent, error] {
	if given, _ := f.events.after(0); q.After > uint64(len(given)) {
		q.After = 0 // the number comes from another toolhost
	}
	return f.events.read(ctx, f.ctx, 0, q.Follow, func(e *tool.PluginEvent) bool {
		return e.Seq > q.After && (q.Plugin == "" || q.Plugin == e.Plugin)
	})
}

// Write adds a line to the log of the plugin, as if its process had written the line.
func (f *Fake) Write(line tool.LogLine) {
	f.lines.add(func(seq uint64) tool.LogLine {
		line.Seq, line.Plugin = seq, PluginName
		return line
	})
}

// TailLogs returns the log lines of the plugin.
func (f *Fake) TailLogs(ctx context.Context, q tool.LogQuery) iter.Seq2[tool.LogLine, error] {
	return func(yield func(tool.LogLine, error) bool) {
		if q.Plugin != "" {
			if err := checkPlugin(q.Plugin); err != nil {
				yield(tool.LogLine{}, err)
				return
			}
		}
		f.lines.read(ctx, f.ctx, q.Last, q.Follow, func(l *tool.LogLine) bool {
			return q.CallID == "" || q.CallID == l.CallID
		})(yield)
	}
}

// Stats returns the statistics of the tools that were called, ordered by name.
func (f *Fake) Stats(_ context.Context, q tool.StatsQuery) ([]tool.Stats, error) {
	plugin := q.Plugin
	if plugin != "" {
		if err := checkPlugin(plugin); err != nil {
			return nil, err
		}
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	var all []tool.Stats
	for _, name := range slices.Sorted(maps.Keys(f.stats)) {
		s := *f.stats[name]
		s.Failures = maps.Clone(s.Failures)
		all = append(all, s)
	}
	return all, nil
}

// count adds a call that has ended. Each call counts as one millisecond, so that printed statistics
// are always the same.
func (f *Fake) count(name string, outcome *tool.Outcome) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	s := f.stats[name]
	if s == nil {
		s = &tool.Stats{Tool: name, Plugin: PluginName, Failures: map[tool.Kind]uint64{}}
		f.stats[name] = s
	}
	s.Calls++
	switch {
	case outcome.Err != nil:
		s.Failures[outcome.Err.Kind]++
	case outcome.Result.IsError:
		s.ToolErrors++
	default:
		s.Succeeded++
	}
	s.TotalDuration += time.Millisecond
	s.MeanDuration, s.P50, s.P99 = time.Millisecond, time.Millisecond, time.Millisecond
}
