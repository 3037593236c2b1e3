package operator

import (
	"context"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/supervisor"
	"github.com/toolhost/toolhost/tool"
)

// Restart replaces a plugin's instances: see supervisor.Group.Restart. Errors: not_found,
// unavailable.
func (o *Operator) Restart(ctx context.Context, plugin, reason string, force bool) (tool.Restarted, error) {
	g, err := o.groupOf(plugin)
	if err != nil {
		return tool.Restarted{}, err
	}
	return g.Restart(ctx, byWhom(ctx, reason), force)
}

// Drain lets all instances of a plugin finish their calls, stops them, and returns when they are
// gone. New calls start new instances, unless the plugin is paused. Errors: not_found.
func (o *Operator) Drain(ctx context.Context, plugin, reason string) error {
	g, err := o.groupOf(plugin)
	if err != nil {
		return err
	}
	return g.Drain(ctx, byWhom(ctx, reason))
}

// Pause makes a plugin take no new calls until Resume: calls that wait are rejected, calls that run
// finish. Errors: not_found.
func (o *Operator) Pause(ctx context.Context, plugin, reason string) error {
	return o.operate(plugin, byWhom(ctx, reason), (*supervisor.Group).Pause)
}

// Resume ends a pause. Errors: not_found.
func (o *Operator) Resume(ctx context.Context, plugin string) error {
	return o.operate(plugin, byWhom(ctx, ""), (*supervisor.Group).Resume)
}

// ClearQuarantine ends a quarantine or a backoff: the next call launches an instance. Errors:
// not_found.
func (o *Operator) ClearQuarantine(ctx context.Context, plugin string) error {
	return o.operate(plugin, byWhom(ctx, ""), (*supervisor.Group).ClearQuarantine)
}

func (o *Operator) operate(plugin string, by supervisor.By, command func(*supervisor.Group, supervisor.By)) error {
	g, err := o.groupOf(plugin)
	if err != nil {
		return err
	}
	command(g, by)
	return nil
}

// groupOf returns the supervisors of a plugin that an operator names.
func (o *Operator) groupOf(plugin string) (*supervisor.Group, error) {
	p, err := o.inService(plugin)
	if err != nil {
		return nil, err
	}
	if o.cfg.Settings().Disabled(plugin) {
		return nil, Disabled(plugin)
	}
	return o.cfg.Plugins.GroupOf(p), nil
}

// byWhom returns who gives a command, and why. The events of the plugin show it.
func byWhom(ctx context.Context, reason string) supervisor.By {
	return supervisor.By{Principal: principalOf(ctx), Reason: reason}
}

// principalOf returns the key of the principal of an operator's request; empty: there is none.
func principalOf(ctx context.Context) string {
	p, ok := identity.FromContext(ctx)
	if !ok {
		return ""
	}
	return p.Key()
}
