package supervisor

import (
	"context"
	"log/slog"
	"time"

	"github.com/toolhost/toolhost/internal/host/history"
	"github.com/toolhost/toolhost/internal/host/lifecycle"
	"github.com/toolhost/toolhost/tool"
)

// transient are the events of normal operation. The history on disk leaves them out.
var transient = map[lifecycle.EventType]bool{
	lifecycle.EventLaunching: true,
	lifecycle.EventReady:     true,
	lifecycle.EventDraining:  true,
	lifecycle.EventStopping:  true,
	lifecycle.EventExited:    true,
	lifecycle.EventAdded:     true,
}

// eventLevels has the log levels of the events that logEvent logs, one line each. It leaves out
// launches, exits, crashes and upgrades, because other code logs them with more details. It also
// leaves out events of single instances in normal operation.
var eventLevels = map[lifecycle.EventType]slog.Level{
	lifecycle.EventUnhealthy:     slog.LevelWarn,
	lifecycle.EventBackingOff:    slog.LevelWarn,
	lifecycle.EventQuarantined:   slog.LevelError,
	lifecycle.EventProbing:       slog.LevelInfo,
	lifecycle.EventEnabled:       slog.LevelInfo,
	lifecycle.EventPaused:        slog.LevelWarn,
	lifecycle.EventDisabled:      slog.LevelWarn,
	lifecycle.EventRestarting:    slog.LevelInfo,
	lifecycle.EventRestarted:     slog.LevelInfo,
	lifecycle.EventRestartFailed: slog.LevelError,
}

// note adds an event of a plugin to the event log, and to the history if it matters after a
// restart.
func (p *Plugins) note(plugin string, e lifecycle.Event) {
	event := p.events.Append(tool.PluginEvent{
		Time: e.Time, Type: string(e.Type), Plugin: plugin,
		Instance: e.Instance, Digest: e.Revision, Reason: e.Reason, Until: e.Until,
	})
	if !transient[e.Type] {
		p.cfg.History.Append(history.Entry{Event: &event})
	}
}

// recall adds the history of earlier toolhost processes to the event log and to the known exits.
func (p *Plugins) recall() {
	for _, e := range p.cfg.History.Past() {
		switch {
		case e.Event != nil:
			p.events.Append(*e.Event)
		case e.Exit != nil:
			exits := p.pastExits[e.Exit.Plugin]
			p.pastExits[e.Exit.Plugin] = append([]tool.PluginExit{e.Exit.PluginExit}, exits[:min(len(exits), p.cfg.MaxExits-1)]...)
		}
	}
}

// logEvent logs an event of the plugin.
func (s *Supervisor) logEvent(e lifecycle.Event) {
	level, logged := eventLevels[e.Type]
	if !logged {
		return
	}
	attrs := []slog.Attr{slog.String("plugin", s.name)}
	for _, a := range [][2]string{{"instance", e.Instance}, {"digest", e.Revision}, {"reason", e.Reason}} {
		if a[1] != "" {
			attrs = append(attrs, slog.String(a[0], a[1]))
		}
	}
	if !e.Until.IsZero() {
		attrs = append(attrs, slog.String("until", e.Until.Format(time.RFC3339)))
	}
	s.cfg.Logger.LogAttrs(context.Background(), level, string(e.Type), attrs...)
}
