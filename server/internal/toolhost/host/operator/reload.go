package operator

import (
	"context"

	"github.com/toolhost/toolhost/tool"
)

// Configuration is the configuration file of a host, as operators use it. The methods must be safe
// for concurrent use.
type Configuration interface {
	// Reload applies the changes of the file. A file that toolhost would refuse at its start changes
	// nothing; the result then has a Problem. The result is nil if the file is unchanged. The second
	// result has the plugins that do not start with the changed configuration.
	Reload(ctx context.Context) (*tool.ConfigurationChange, []tool.ReloadFailure)
	// Diff returns what Reload would change, or nil.
	Diff() *tool.ConfigurationChange
}

// Reload applies the changes of the configuration file, and then scans the plugin folders. It takes
// new plugins into service, removes those whose files are gone, and upgrades those that have
// changed. It returns when all these changes have succeeded or failed. Every answer names each
// plugin that cannot be used.
func (o *Operator) Reload(ctx context.Context) (tool.Reloaded, error) {
	var change *tool.ConfigurationChange
	var failures []tool.ReloadFailure
	if o.cfg.Configuration != nil {
		change, failures = o.cfg.Configuration.Reload(ctx)
	}
	done, err := o.cfg.Upgrades.Reload(ctx)
	if err != nil {
		return done, err
	}
	done.Configuration, done.Failures = change, append(done.Failures, failures...)
	return done, nil
}

// ReloadPlugins is Reload without the configuration file.
func (o *Operator) ReloadPlugins(ctx context.Context) (tool.Reloaded, error) {
	return o.cfg.Upgrades.Reload(ctx)
}

// DiffConfiguration returns what Reload would change in the configuration.
func (o *Operator) DiffConfiguration(context.Context) (tool.ConfigurationChange, error) {
	if o.cfg.Configuration == nil {
		return tool.ConfigurationChange{}, nil
	}
	if change := o.cfg.Configuration.Diff(); change != nil {
		return *change, nil
	}
	return tool.ConfigurationChange{}, nil
}

// Upgrade brings the executable that is now in the folder of a plugin into service, also after a
// rollback. No call fails: the new instance takes calls once it is ready. Errors: not_found;
// unavailable if the new executable does not start, and then the old one stays. The history of the
// plugin keeps the reason and the principal of ctx.
func (o *Operator) Upgrade(ctx context.Context, plugin, reason string) (tool.Upgraded, error) {
	current, err := o.inService(plugin)
	if err != nil {
		return tool.Upgraded{}, err
	}
	return o.cfg.Upgrades.Upgrade(ctx, current, principalOf(ctx), reason)
}

// Rollback brings an earlier executable of a plugin back into service; revision 0: the previous
// one. Errors: as of Upgrade; not_found also if there is no such revision.
func (o *Operator) Rollback(ctx context.Context, plugin string, revision uint64, reason string) (tool.Upgraded, error) {
	current, err := o.inService(plugin)
	if err != nil {
		return tool.Upgraded{}, err
	}
	return o.cfg.Upgrades.Rollback(ctx, current, revision, principalOf(ctx), reason)
}
