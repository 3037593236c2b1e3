package host

import (
	"github.com/toolhost/toolhost/internal/host/history"
	"github.com/toolhost/toolhost/internal/host/lifecycle"
	"github.com/toolhost/toolhost/tool"
)

// fleeting are the events of everyday, which are not kept for after a restart.
var fleeting = map[lifecycle.EventType]bool{
	lifecycle.EventLaunching: true,
	lifecycle.EventReady:     true,
	lifecycle.EventDraining:  true,
	lifecycle.EventStopping:  true,
	lifecycle.EventExited:    true,
	lifecycle.EventAdded:     true,
}

// note keeps an event of a plugin.
func (h *Host) note(plugin string, e lifecycle.Event) {
	event := h.journal.append(plugin, e)
	if !fleeting[e.Type] {
		h.cfg.History.Append(history.Entry{Event: &event})
	}
}

// recall makes what happened before this host was made a part of its journal and of what is known of plugins.
func (h *Host) recall() {
	h.exits = map[string][]tool.PluginExit{}
	for _, e := range h.cfg.History.Past() {
		switch {
		case e.Event != nil:
			h.journal.add(*e.Event)
		case e.Exit != nil:
			of := h.exits[e.Exit.Plugin]
			h.exits[e.Exit.Plugin] = append([]tool.PluginExit{e.Exit.PluginExit}, of[:min(len(of), h.cfg.MaxExits-1)]...)
		}
	}
}
