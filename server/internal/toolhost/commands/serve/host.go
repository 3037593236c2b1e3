package serve

import (
	"log/slog"

	"github.com/toolhost/toolhost/server/internal/secrets"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/config"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/logbuffer"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/question"
	"github.com/toolhost/toolhost/server/internal/toolhost/launch"
	"github.com/toolhost/toolhost/tool"
)

// hostConfig returns the settings of the configuration for the host.
func hostConfig(options Options, known *catalog.Catalog, plugins *launch.Launcher, logger *slog.Logger, logs *logbuffer.Buffer) host.Config {
	return host.Config{
		Catalog:   known,
		Launch:    plugins.Launch,
		Workspace: options.sharedWorkspace(),

		Logger: logger,
		Logs:   logs,

		MaxLaunches:      options.Launch.Parallel,
		MaxLedgerEntries: options.Ledger.MaxEntries,
		MaxLedgerBytes:   int(options.Ledger.MemoryBytes),
		MaxEvents:        options.Events.Kept,
		MaxExits:         options.Logs.ExitsKept,
	}
}

// hostSettings returns the settings that the host can replace while it runs. The rules of a loaded
// configuration have no errors.
func hostSettings(options *Options, store *secrets.Store, known *catalog.Catalog) (host.Settings, error) {
	rules, err := options.Policy.Compile()
	if err != nil {
		return host.Settings{}, err
	}
	return host.Settings{
		WritableFolders: writableFolders(&options.Config),
		HiddenFolders:   options.hiddenFolders(),

		Policy:    rules,
		Filters:   hostFilters(options.Filters),
		Secrets:   store,
		Quotas:    options.Quotas.Limits(),
		Overrides: overrides(options.Tools),
		Lifecycle: func(plugin string) lifecycle.Config {
			return options.isolation(plugin, store, func(plugin string) bool { return personal(known, plugin) })
		},
		Disabled:  func(plugin string) bool { return options.Plugin(plugin).Disabled },
		Sandbox:   func(plugin string) tool.Sandbox { return options.granted(plugin) },
		Variables: func(plugin string) []string { return launch.Variables(options.Plugin(plugin)) },

		Approvals: host.ApprovalLimits{
			Off: !options.Approvals.Standing, Longest: options.Approvals.Longest, PerPrincipal: options.Approvals.PerPrincipal, PerTenant: options.Approvals.PerTenant,
		},
		Asks: asks(options),
		Questions: question.Limits{
			PerCall: options.Questions.PerCall, Bytes: int(options.Questions.MaxBytes), MaxWait: options.Questions.MaxWait,
		},

		DefaultTimeout:   options.Calls.DefaultTimeout,
		MaxTimeout:       options.Calls.MaxTimeout,
		YieldTimeout:     options.Calls.YieldTimeout,
		MaxArgumentBytes: int(options.Calls.MaxArgumentBytes),
		ArgumentsTimeout: options.Calls.ArgumentsTimeout,
		RefuseMisspelled: options.Calls.MisspelledArguments == "refuse",
		LaunchTimeout:    options.Launch.Timeout,
		MaxShown:         int(options.Results.ShownBytes),
		KeepBadOutput:    options.Calls.OutputSchemas == "warn",
	}, nil
}

// asks returns what the tools of each plugin may ask, or nil if no plugin may ask anything. Then
// calls do not look up their plugin.
func asks(options *Options) func(plugin string) []tool.QuestionKind {
	granted := len(options.Defaults.Ask) > 0
	for _, s := range options.ByPlugin {
		granted = granted || len(s.Ask) > 0
	}
	if !granted {
		return nil
	}
	all, byPlugin := options.Defaults.MayAsk(), make(map[string][]tool.QuestionKind, len(options.ByPlugin))
	for name, s := range options.ByPlugin {
		byPlugin[name] = s.MayAsk()
	}
	return func(plugin string) []tool.QuestionKind {
		if own, ok := byPlugin[plugin]; ok {
			return own
		}
		return all
	}
}

func newLogBuffer(cfg config.Logs, store *secrets.Store) *logbuffer.Buffer {
	return logbuffer.New(logbuffer.Config{
		LinesPerPlugin: cfg.LinesPerPlugin, LineBytes: int(cfg.LineBytes), LinesPerSecond: cfg.LinesPerSecond,
		MaxBytes: int(cfg.MaxBytes), Redact: store.Redactor().Record,
	})
}
