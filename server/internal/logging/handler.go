package logging

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
)

// handler is the slog.Handler of a Log. An attribute "subsystem" that a logger has by With replaces
// the subsystem of the logger.
type handler struct {
	log       *Log
	subsystem string
	plugin    string      // by With; empty: none
	attrs     []slog.Attr // resolved, and with the names of their groups
	group     string      // of later attributes, with a dot at the end; empty: none
}

// Enabled implements slog.Handler.
func (h *handler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= h.log.levels.Load().Of(h.subsystem, h.plugin)
}

// WithAttrs implements slog.Handler.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *h
	with.attrs = slices.Clip(h.attrs)
	for _, a := range attrs {
		switch {
		case h.group == "" && a.Key == loglevel.Key:
			with.subsystem = a.Value.String()
			continue
		case h.group == "" && a.Key == Plugin:
			with.plugin = a.Value.String()
		}
		with.attrs = appendFlat(with.attrs, h.group, a)
	}
	return &with
}

// WithGroup implements slog.Handler.
func (h *handler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	with := *h
	with.group += name + "."
	return &with
}

// Handle implements slog.Handler. It does not block, and returns no error.
func (h *handler) Handle(_ context.Context, r slog.Record) error {
	if r.Time.IsZero() {
		r.Time = time.Now()
	}
	e := entry{time: r.Time, level: r.Level, subsystem: h.subsystem, plugin: h.plugin, message: r.Message}
	e.fields = slices.Grow(slices.Clone(h.attrs), r.NumAttrs())
	r.Attrs(func(a slog.Attr) bool {
		if h.group == "" && a.Key == Plugin {
			e.plugin = a.Value.String()
		}
		e.fields = appendFlat(e.fields, h.group, a)
		return true
	})
	e.order()
	if h.limited(r.Level) {
		suppressed, admitted, late := h.log.repeats.admit(&e)
		for _, l := range late {
			h.log.emit(l)
		}
		if !admitted {
			return nil
		}
		if suppressed > 0 {
			e.fields = append(e.fields, slog.Int(Suppressed, suppressed))
		}
	}
	h.log.emit(e)
	return nil
}

// limited reports whether equal records are limited. What plugins write has limits in other places,
// and each record about a run is needed. An operator who sets the level debug wants every record.
func (h *handler) limited(level slog.Level) bool {
	return level > slog.LevelDebug && h.subsystem != loglevel.Plugins && h.subsystem != loglevel.Runs
}

// appendFlat appends an attribute, or the attributes of a group with the name of the group.
func appendFlat(to []slog.Attr, group string, a slog.Attr) []slog.Attr {
	a.Value = a.Value.Resolve()
	if a.Value.Kind() != slog.KindGroup {
		if a.Equal(slog.Attr{}) {
			return to
		}
		a.Key = group + a.Key
		return append(to, a)
	}
	if a.Key != "" {
		group += a.Key + "."
	}
	for _, inner := range a.Value.Group() {
		to = appendFlat(to, group, inner)
	}
	return to
}

// Field is a field of a record whose name and meaning are fixed.
type Field struct {
	Name, Meaning string
}

// The names of fields that the package itself uses.
const (
	Plugin      = "plugin"
	Suppressed  = "suppressed"
	errorField  = "error"
	digestField = "digest"
)

// Fields returns the fixed fields, in the order in which a record has them. A record has those that
// apply, then its other fields, and then the fields of LastFields.
func Fields() []Field {
	return []Field{
		{Plugin, "the name of the plugin"},
		{"instance", "the process of the plugin"},
		{"run", "the run of agentd"},
		{"tool", "the tool, or the filter"},
		{"call", "the id of the call"},
		{"session", "the session of the call or the run; absent for the default session"},
		{"principal", "the identity of the caller, such as `uid:1000`"},
		{"via", "the delegate that made the call for the principal"},
		{"tenant", "the tenant that the instance serves; absent for the default tenant"},
		{"trace", "the id of the trace, as in spans"},
	}
}

// LastFields returns the fixed fields at the end of a record.
func LastFields() []Field {
	return []Field{
		{errorField, "why something failed"},
		{Suppressed, "how many equal records were left out since the last one"},
	}
}

// rank returns the place of a field in a record.
func rank(name string) int {
	for i, f := range fixed {
		if f.Name == name {
			return i
		}
	}
	for i, f := range last {
		if f.Name == name {
			return len(fixed) + 1 + i
		}
	}
	return len(fixed)
}

var fixed, last = Fields(), LastFields()

// order sorts the fields. Of two fields with the same name, the later one stays.
func (e *entry) order() {
	for i := 0; i < len(e.fields); i++ {
		key := e.fields[i].Key
		if slices.ContainsFunc(e.fields[i+1:], func(a slog.Attr) bool { return a.Key == key }) {
			e.fields = slices.Delete(e.fields, i, i+1)
			i--
		}
	}
	e.fields = slices.DeleteFunc(e.fields, func(a slog.Attr) bool {
		return a.Value.Kind() == slog.KindString && a.Value.String() == "" && rank(a.Key) < len(fixed)
	})
	slices.SortStableFunc(e.fields, func(a, b slog.Attr) int { return rank(a.Key) - rank(b.Key) })
}
