package supervisor

import (
	"strconv"
	"strings"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/host/history"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
	"github.com/toolhost/toolhost/tool"
)

// transient are the events of normal operation. The history on disk leaves them out.
var transient = map[lifecycle.EventType]bool{
	lifecycle.EventLaunching:     true,
	lifecycle.EventLaunchRefused: true,
	lifecycle.EventReady:         true,
	lifecycle.EventDraining:      true,
	lifecycle.EventStopping:      true,
	lifecycle.EventExited:        true,
	lifecycle.EventAdded:         true,
}

// ofPlugin are the events that concern all tenants of a plugin.
var ofPlugin = map[lifecycle.EventType]bool{
	lifecycle.EventPaused:         true,
	lifecycle.EventDisabled:       true,
	lifecycle.EventUpgrading:      true,
	lifecycle.EventUpgraded:       true,
	lifecycle.EventUpgradeFailed:  true,
	lifecycle.EventRollingBack:    true,
	lifecycle.EventRolledBack:     true,
	lifecycle.EventRollbackFailed: true,
}

// report notes and logs an event of the state machine. by is the operator whose command caused it;
// zero: nobody's. All machines of a plugin report that it was paused or disabled, so only the event
// of the first one is noted.
func (r *reporter) report(e lifecycle.Event, by By) {
	if strings.HasPrefix(e.Reason, lifecycle.ByOperator) {
		e.Reason += by.text()
	}
	tenant := r.tenant
	if ofPlugin[e.Type] {
		if !r.first && (e.Type == lifecycle.EventPaused || e.Type == lifecycle.EventDisabled) {
			return
		}
		tenant = ""
	}
	r.plugins.note(r.name, tenant, e)
	r.logEvent(e)
}

// Settled reports that the tool of a call with an unknown outcome was asked what became of it.
// instance is empty if no instance could be asked.
func (s *Supervisor) Settled(instance, reason string) {
	s.reporter.report(lifecycle.Event{Time: time.Now(), Type: lifecycle.EventCallSettled, Instance: instance, Reason: reason}, By{})
}

// note adds an event of a plugin to the event log. tenant is empty if the event concerns all. It
// also adds the event to the history if operators need it after a restart.
func (p *Plugins) note(plugin, tenant string, e lifecycle.Event) {
	event := p.events.Append(tool.PluginEvent{
		Time: e.Time, Type: string(e.Type), Plugin: plugin, Tenant: tenant,
		Instance: e.Instance, Digest: e.Revision, Reason: e.Reason, Until: e.Until,
	})
	if observer := p.cfg.Settings().Observer; observer != nil {
		observer.PluginEvent(event)
	}
	if !transient[e.Type] {
		p.cfg.History.Append(history.Entry{Event: &event})
	}
}

// recall adds the history of earlier toolhost processes to the event log and to the known exits.
// The numbers of new instances follow those in the history, so that one name is one process there.
func (p *Plugins) recall() {
	for _, e := range p.cfg.History.TakePast() {
		switch {
		case e.Event != nil:
			p.recallNumber(e.Event.Plugin, e.Event.Instance)
			p.events.Append(*e.Event)
		case e.Exit != nil:
			p.recallNumber(e.Exit.Plugin, e.Exit.Instance)
			exits := p.pastExits[e.Exit.Plugin]
			p.pastExits[e.Exit.Plugin] = append([]tool.PluginExit{e.Exit.PluginExit}, exits[:min(len(exits), p.cfg.MaxExits-1)]...)
		}
	}
}

func (p *Plugins) recallNumber(plugin, instance string) {
	number, err := strconv.ParseInt(strings.TrimPrefix(instance, plugin+"-"), 10, 32)
	if err == nil { // an event of the plugin names no instance
		p.pastNumbers[plugin] = max(p.pastNumbers[plugin], number)
	}
}
