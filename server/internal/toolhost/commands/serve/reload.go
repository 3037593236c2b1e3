package serve

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/secrets"
	"github.com/toolhost/toolhost/server/internal/terminal/access"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/terminal/configfile"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/config"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/launch"
	"github.com/toolhost/toolhost/server/internal/trust"
	"github.com/toolhost/toolhost/tool"
)

// reloader applies a changed configuration file to a running toolhost. It implements
// operator.Configuration.
//
// A reload uses a file only under the rules of a start: the file must be valid, and the operator
// must have trusted it if a tool could have written it, under the configuration in force as well as
// under the new one. Everything that can fail happens before the first change, so a file with a
// fault changes nothing. Settings that need a restart keep the values that they have.
type reloader struct {
	host      *host.Host
	known     *catalog.Catalog
	plugins   *launch.Launcher
	redactor  *secrets.Redactor // of all secrets, in whichever configuration they are
	exported  exports
	logger    *slog.Logger
	decisions *audit.Log
	followers []follower

	mu      sync.Mutex // held while a reload reads and applies the file
	inForce Options
}

// follower is a part of toolhost that follows the configuration without a restart, such as the
// levels of the log. It prepares what the next configuration needs. If that fails, the reload fails
// and changes nothing. Otherwise the reloader calls apply, which cannot fail. If something else
// fails, it calls cancel. Both may be nil.
type follower func(before, next *Options) (apply, cancel func(), err error)

// Reload implements operator.Configuration.
func (r *reloader) Reload(ctx context.Context) (*tool.ConfigurationChange, []tool.ReloadFailure) {
	change, await := r.reload(ctx)
	failures := await(ctx)
	for _, f := range failures {
		r.logger.Error("a plugin does not start with the changed configuration, and takes no calls", "plugin", f.Plugin, "error", errors.New(f.Reason))
	}
	return change, failures
}

// Diff implements operator.Configuration.
func (r *reloader) Diff() *tool.ConfigurationChange {
	r.mu.Lock()
	defer r.mu.Unlock()
	change, _ := r.read()
	return change
}

// reload applies the file. The function that it returns waits for the plugins.
func (r *reloader) reload(ctx context.Context) (change *tool.ConfigurationChange, await func(context.Context) []tool.ReloadFailure) {
	await = func(context.Context) []tool.ReloadFailure { return nil }
	r.mu.Lock()
	defer r.mu.Unlock()
	change, next := r.read()
	if change != nil && change.Problem == "" {
		err := access.NoteReload(ctx, r.decisions, change)
		if err == nil {
			await, err = r.apply(next, change)
		}
		if err != nil {
			change = refusal(change.File, err)
		}
	}
	configfile.LogChange(r.logger, cli.Toolhost, "the changed configuration is in force", change)
	return change, await
}

// read reads the file and compares it with the configuration in force. The change is nil if nothing
// differs. If the file is not trusted, the change has nothing of its content. next is the
// configuration after a reload; it is valid if the change has no problem.
func (r *reloader) read() (change *tool.ConfigurationChange, next Options) {
	o := &r.inForce
	if o.again == nil {
		return nil, next
	}
	if o.file != "" && !isRegular(o.file) {
		return refusal(o.file, errNoFile), next
	}
	if err := o.checkAgain(); err != nil {
		return refusal(o.file, err), next
	}
	found, err := o.again()
	if err != nil {
		return refusal(o.file, err), next
	}
	differences := config.Diff(&o.Config, &found.Config)
	if len(differences) == 0 {
		return nil, next
	}
	next = *o
	next.Config, next.logLevels = config.Applicable(&o.Config, &found.Config), found.logLevels
	if err := placesOf(next).Check(&next.Config); err != nil {
		return refusal(o.file, err), next
	}
	change = &tool.ConfigurationChange{File: o.file}
	for _, d := range differences {
		change.Changes = append(change.Changes, tool.SettingChange(d))
		top, _, _ := strings.Cut(d.Key, ".")
		top, _, _ = strings.Cut(top, "[")
		change.Keys = append(change.Keys, top)
	}
	slices.Sort(change.Keys)
	change.Keys = slices.Compact(change.Keys)
	return change, next
}

var errNoFile = errors.New("it is gone, or is not a regular file any more; put it back")

// refusal returns the change by a file that toolhost does not use.
func refusal(file string, err error) *tool.ConfigurationChange {
	return &tool.ConfigurationChange{File: file, Changes: []tool.SettingChange{}, Problem: err.Error()}
}

// apply puts the next configuration in force.
func (r *reloader) apply(next Options, change *tool.ConfigurationChange) (await func(context.Context) []tool.ReloadFailure, err error) {
	await = func(context.Context) []tool.ReloadFailure { return nil }
	if !needsNoRestart(change) {
		return await, nil
	}
	store := openSecrets(next.Secrets, next.getenv, r.redactor)
	settings, err := hostSettings(&next, store, r.known)
	if err != nil {
		return await, err
	}
	r.exported.observe(&settings)
	var applies []func()
	var cancels []func()
	for _, f := range r.followers {
		apply, cancel, err := f(&r.inForce, &next)
		if err != nil {
			for _, cancel := range cancels {
				cancel()
			}
			return await, err
		}
		if cancel != nil {
			cancels = append(cancels, cancel)
		}
		if apply != nil {
			applies = append(applies, apply)
		}
	}
	recordWritable(&next, r.logger) // before a plugin can write there
	warnOfSecrets(store, r.logger)
	for _, apply := range applies {
		apply()
	}
	await = r.host.Reconfigure(settings, r.plugins.Configure(launch.Settings{Config: &next.Config, Places: placesOf(next), Secrets: store}))
	r.inForce = next
	warnOfUnknownTools(r.known.Snapshot(), r.logger)
	if err := warnOfReferences(&next.Config, r.known.Snapshot(), r.logger); err != nil {
		// The same reload may bring the plugin that has the filter.
		r.logger.Warn("the configuration names what is not there", "reference", err.Error())
	}
	return await, nil
}

// needsNoRestart reports whether a reload applies at least one of the changes.
func needsNoRestart(change *tool.ConfigurationChange) bool {
	for _, c := range change.Changes {
		if !c.Restart {
			return true
		}
	}
	return false
}

// checkAgain returns an error if the configuration in force no longer allows the use of the file.
// It runs before the file is parsed, because errors of the parser quote the file.
func (o *Options) checkAgain() error {
	if o.file == "" {
		return nil
	}
	file, err := trust.Read(o.file, true)
	if err != nil {
		return err
	}
	return configfile.CheckTrust(o.getenv, file, writableFolders(&o.Config))
}

// recordWritable records the folders that plugins may write. Files that plugins write there outlive
// this process. So configuration files in these folders need trust from now on.
func recordWritable(options *Options, logger *slog.Logger) {
	if err := trust.NewUserStore(options.getenv).AddWritable(writableFolders(&options.Config)...); err != nil {
		logger.Warn("which folders plugins may write is not recorded; name no configuration file in them with --config", "error", err)
	}
}

// isRegular reports whether a path leads to a regular file.
func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
