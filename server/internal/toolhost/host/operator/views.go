package operator

import (
	"context"
	"errors"
	"iter"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/supervisor"
	"github.com/toolhost/toolhost/tool"
)

// visibleEvent reports whether an operator of some tenants may see an event. Events of instances,
// of backoff and of quarantine concern one tenant, because each tenant has its own instances. Other
// events, such as an upgrade, concern the plugin and thereby all tenants. An instance without a
// tenant belongs to the default tenant: an earlier toolhost stored its event.
func visibleEvent(e *tool.PluginEvent, tenants tool.Tenants) bool {
	switch {
	case e.Tenant != "":
		return tenants.Contain(e.Tenant)
	case e.Instance != "":
		return tenants.Contain(identity.DefaultTenant)
	}
	return true
}

// TailLogs returns what plugins wrote: first the lines that the buffer has, the oldest first, then,
// if q.Follow is set, new ones until ctx ends or the host closes. Errors: not_found.
func (o *Operator) TailLogs(ctx context.Context, q tool.LogQuery) iter.Seq2[tool.LogLine, error] {
	return func(yield func(tool.LogLine, error) bool) {
		if err := o.checkPlugin(q.Plugin); err != nil {
			yield(tool.LogLine{}, err)
			return
		}
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(o.cfg.Context, func() { cancel(supervisor.ErrStopping) })()
		for line, err := range o.cfg.Logs.Tail(ctx, q) {
			switch {
			case errors.Is(err, supervisor.ErrStopping):
				return
			case err != nil:
				err = tool.AsError(err)
			}
			if !yield(line, err) {
				return
			}
		}
	}
}

// WatchEvents returns what happened to plugins and instances: first the events in the log, the
// oldest first, then, if q.Follow is set, new ones until ctx ends or the host closes. The log
// numbers events without gaps. If numbers are missing that q does not filter out, the log has
// discarded events. Each host begins again at 1. So a query after a number that this host has not
// reached begins at the oldest event.
func (o *Operator) WatchEvents(ctx context.Context, q tool.EventQuery) iter.Seq2[tool.PluginEvent, error] {
	return func(yield func(tool.PluginEvent, error) bool) {
		for after := q.After; ; {
			events, changed := o.cfg.Plugins.Events().After(after)
			for _, e := range events {
				after = e.Seq
				if (q.Plugin != "" && e.Plugin != q.Plugin) || e.Time.Before(q.Since) {
					continue
				}
				if visibleEvent(&e, q.Tenants) && !yield(e, nil) {
					return
				}
			}
			if !q.Follow {
				return
			}
			select {
			case <-changed:
			case <-o.cfg.Context.Done():
				return
			case <-ctx.Done():
				yield(tool.PluginEvent{}, tool.AsError(context.Cause(ctx)))
				return
			}
		}
	}
}

// Stats returns the statistics of tools, ordered by name. It leaves out tools that were not called.
// Errors: not_found; unavailable if the history cannot be read.
func (o *Operator) Stats(ctx context.Context, q tool.StatsQuery) ([]tool.Stats, error) {
	unknown := o.checkPlugin(q.Plugin)
	if q.Since.IsZero() || o.cfg.History == nil {
		if unknown != nil {
			return nil, unknown
		}
		return o.cfg.Statistics.List(q.Plugin, q.Tenants), nil
	}
	all, err := o.cfg.Statistics.Since(ctx, q)
	if err == nil && len(all) == 0 && unknown != nil { // the history may have plugins that are gone
		return nil, unknown
	}
	return all, err
}
