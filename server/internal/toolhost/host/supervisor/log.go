package supervisor

import (
	"context"
	"log/slog"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
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

// shownTenant returns the tenant as logs show it: empty for the default tenant, so that the logs of
// a toolhost without tenants do not mention one.
func (r *reporter) shownTenant() string {
	if r.tenant == identity.DefaultTenant {
		return ""
	}
	return r.tenant
}

// reporter notes and logs the events of one supervisor. Its fields do not change.
type reporter struct {
	plugins *Plugins
	cfg     *Config
	name    string
	tenant  string
	first   bool // the supervisor is the first of its group, and reports the events of the plugin
}
