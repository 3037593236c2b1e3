package host

import (
	"context"
	"log/slog"
	"time"

	"github.com/toolhost/toolhost/internal/host/lifecycle"
)

// eventLevels are the levels of the events that are logged here, each in one line. Launches, exits, crashes and upgrades are
// logged where more is known of them. What happens in good order to single instances is not logged.
var eventLevels = map[lifecycle.EventType]slog.Level{
	lifecycle.EventUnhealthy:     slog.LevelWarn,
	lifecycle.EventBackingOff:    slog.LevelWarn,
	lifecycle.EventQuarantined:   slog.LevelError,
	lifecycle.EventProbing:       slog.LevelInfo,
	lifecycle.EventEnabled:       slog.LevelInfo,
	lifecycle.EventPaused:        slog.LevelWarn,
	lifecycle.EventDisabled:      slog.LevelWarn,
	lifecycle.EventRestarting:    slog.LevelInfo,
	lifecycle.EventRestarted:     slog.LevelInfo,
	lifecycle.EventRestartFailed: slog.LevelError,
}

// logEvent logs an event of the plugin.
func (s *supervisor) logEvent(e lifecycle.Event) {
	level, logged := eventLevels[e.Type]
	if !logged {
		return
	}
	attrs := []slog.Attr{slog.String("plugin", s.name)}
	for _, a := range [][2]string{{"instance", e.Instance}, {"digest", e.Revision}, {"reason", e.Reason}} {
		if a[1] != "" {
			attrs = append(attrs, slog.String(a[0], a[1]))
		}
	}
	if !e.Until.IsZero() {
		attrs = append(attrs, slog.String("until", e.Until.Format(time.RFC3339)))
	}
	s.host.cfg.Logger.LogAttrs(context.Background(), level, string(e.Type), attrs...)
}
