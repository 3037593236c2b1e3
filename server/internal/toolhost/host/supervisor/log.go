package supervisor

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/internal/text/crashoutput"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
	"github.com/toolhost/toolhost/tool"
)

// logged is how an event of a plugin is logged.
type logged struct {
	level slog.Level
	words string
}

// loggedEvents has the events that logEvent logs, one record each. It leaves out the events that
// other code logs with more details: a ready instance, an exit, a crash, a launch or an upgrade
// that failed, and the changes that noteChanges finds.
var loggedEvents = map[lifecycle.EventType]logged{
	lifecycle.EventLaunching:     {slog.LevelDebug, "instance launched"},
	lifecycle.EventLaunchRefused: {slog.LevelWarn, "instance refused"},
	lifecycle.EventUnhealthy:     {slog.LevelWarn, "instance unhealthy"},
	lifecycle.EventDraining:      {slog.LevelInfo, "instance drains"},
	lifecycle.EventStopping:      {slog.LevelDebug, "instance stops"},
	lifecycle.EventBackingOff:    {slog.LevelWarn, "plugin backs off"},
	lifecycle.EventQuarantined:   {slog.LevelError, "plugin quarantined"},
	lifecycle.EventCallsRefused:  {slog.LevelWarn, "calls refused"},
	lifecycle.EventCallSettled:   {slog.LevelInfo, "call settled"},
	lifecycle.EventProbing:       {slog.LevelInfo, "plugin probed"},
	lifecycle.EventEnabled:       {slog.LevelInfo, "plugin enabled"},
	lifecycle.EventPaused:        {slog.LevelWarn, "plugin paused"},
	lifecycle.EventUpgrading:     {slog.LevelInfo, "upgrade started"},
	lifecycle.EventUpgraded:      {slog.LevelInfo, "upgrade finished"},
	lifecycle.EventRollingBack:   {slog.LevelInfo, "rollback started"},
	lifecycle.EventRolledBack:    {slog.LevelInfo, "rollback finished"},
	lifecycle.EventRestarting:    {slog.LevelInfo, "restart started"},
	lifecycle.EventRestarted:     {slog.LevelInfo, "restart finished"},
	lifecycle.EventRestartFailed: {slog.LevelError, "restart failed"},
}

// ofInstance are the events of single instances in normal operation.
var ofInstance = map[lifecycle.EventType]bool{lifecycle.EventDraining: true, lifecycle.EventStopping: true, lifecycle.EventLaunching: true}

// normalLevel is the level of instances that start and stop in normal operation. With isolation:
// call, each call starts one, so the operator has to ask for these records.
func (r *reporter) normalLevel() slog.Level {
	if r.cfg.Settings().Lifecycle(r.name).Isolation == lifecycle.PerCall {
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// logEvent logs an event of the plugin.
func (r *reporter) logEvent(e lifecycle.Event) {
	how, ok := loggedEvents[e.Type]
	if !ok {
		return
	}
	if ofInstance[e.Type] {
		how.level = min(how.level, r.normalLevel())
	}
	attrs := []slog.Attr{slog.String("plugin", r.name)}
	for _, a := range [][2]string{{"instance", e.Instance}, {"tenant", r.shownTenant()}, {"digest", e.Revision}, {"reason", e.Reason}} {
		if a[1] != "" {
			attrs = append(attrs, slog.String(a[0], a[1]))
		}
	}
	if !e.Until.IsZero() {
		attrs = append(attrs, slog.Time("until", e.Until))
	}
	r.cfg.Logger.LogAttrs(context.Background(), how.level, how.words, attrs...)
}

// logger returns a logger whose records name the instance.
func (in *Instance) logger() *slog.Logger {
	logger := in.supervisor.cfg.Logger.With("plugin", in.supervisor.name, "instance", in.id)
	if tenant := in.supervisor.reporter.shownTenant(); tenant != "" {
		logger = logger.With("tenant", tenant)
	}
	return logger
}

// shownTenant returns the tenant as logs show it: empty for the default tenant, so that the logs of
// a toolhost without tenants do not mention one.
func (r *reporter) shownTenant() string {
	if r.tenant == identity.DefaultTenant {
		return ""
	}
	return r.tenant
}

// logReady logs that the instance takes calls, and how long its launch took.
func (in *Instance) logReady() {
	in.logger().Log(context.Background(), in.supervisor.reporter.normalLevel(), "instance ready", "took", in.readyAt.Sub(in.created), "pid", in.proc.PID())
}

// logLaunchFailed logs that the instance did not start.
func (in *Instance) logLaunchFailed() {
	attrs := []any{"took", time.Since(in.created)}
	if in.err.Exit != nil {
		attrs = appendLast(attrs, in.err.Exit.LastStderr)
	}
	in.logger().Error("instance did not start", append(attrs, "error", in.err)...)
}

// logExit logs the end of an instance that has taken calls. `toolhost why` shows more of a crash.
func (in *Instance) logExit() {
	lived := time.Since(in.readyAt)
	if in.stopReason() != "" {
		in.logger().Log(context.Background(), in.supervisor.reporter.normalLevel(), "instance exited", "lived", lived, "exit", in.exit.String())
		return
	}
	attrs := []any{"lived", lived, "exit", in.exit.String()}
	if calls := exitCalls(in.victims); len(calls) > 0 {
		attrs = append(attrs, "calls", len(calls), "executing", executingText(calls))
	}
	in.logger().Error("instance crashed", appendLast(attrs, in.exit.LastStderr)...)
}

// executingText names calls and their callers.
func executingText(calls []tool.ExitCall) string {
	var named []string
	for _, c := range calls {
		text := c.Tool + " (call " + c.CallID
		if c.Principal != "" {
			text += " of " + c.Principal
		}
		named = append(named, text+")")
	}
	return strings.Join(named, ", ")
}

// appendLast appends the line of a process's output that says why the process ended, if there is
// one.
func appendLast(attrs []any, lines []string) []any {
	if last := crashoutput.Reason(lines); last != "" {
		attrs = append(attrs, "last_stderr", last)
	}
	return attrs
}

// logFound logs what the catalog has when the host starts: plugins that cannot be used, with the
// reason.
func (u *Upgrades) logFound(found *catalog.Snapshot) {
	for _, p := range found.Plugins() {
		switch {
		case p.Problem != "":
			u.logUnusable(p)
		case p.Refusal != (catalog.Refusal{}):
			u.logRefusal(p)
		default:
			u.cfg.Logger.Debug("plugin in service", "plugin", p.Info.Name, "version", p.Info.Version, "digest", p.Digest, "tools", len(p.Tools), "source", p.Source)
		}
	}
}

// logUnusable logs why a plugin is not in service.
func (u *Upgrades) logUnusable(p *catalog.Plugin) {
	words := "plugin cannot be used"
	switch {
	case p.Pending(): // package catalog logs how long the answer took
		return
	case p.Untrusted:
		words = "plugin waits for trust"
	}
	u.cfg.Logger.Warn(words, "plugin", p.Info.Name, "digest", p.Digest, "source", p.Source, "reason", p.Problem)
}

// notStarted begins the reason of a refusal that followed from a takeover. bringIn has logged it.
const notStarted = "the new executable did not start: "

// logRefusal logs why the file of a plugin does not replace the revision in service.
func (u *Upgrades) logRefusal(p *catalog.Plugin) {
	if !strings.HasPrefix(p.Refusal.Reason, notStarted) {
		u.cfg.Logger.Warn("upgrade refused", "plugin", p.Info.Name, "digest", p.Refusal.Digest, "source", p.Source, "reason", p.Refusal.Reason)
	}
}

// logAdded logs a plugin that came into service.
func (u *Upgrades) logAdded(p *catalog.Plugin) {
	u.cfg.Logger.Info("plugin added", "plugin", p.Info.Name, "version", p.Info.Version, "digest", p.Digest, "tools", len(p.Tools), "source", p.Source)
}

// logWarnings logs each warning of a plugin in now that the plugin did not have in before, such as
// the reason why toolhost omits one of its tools. A nil before is an empty snapshot. It leaves out
// the warning about a changed file, because an upgrade and a refusal have records.
func (u *Upgrades) logWarnings(before, now *catalog.Snapshot) {
	for _, p := range now.Plugins() {
		known := []string{p.FileWarning}
		if before != nil {
			if old := before.Plugin(p.Info.Name); old != nil {
				known = append(known, old.Warnings...)
			}
		}
		for _, warning := range p.Warnings {
			if !slices.Contains(known, warning) {
				u.cfg.Logger.Warn("plugin warning", "plugin", p.Info.Name, "source", p.Source, "warning", warning)
			}
		}
	}
}
