// Package systemd tells systemd the state of a server that is one of its services: that it accepts
// calls, reloads, stops, and still answers. See sd_notify(3).
//
// It does not know the services of the server. Package listen takes over the sockets that systemd
// holds.
package systemd

import (
	"log/slog"
	"strings"

	"github.com/coreos/go-systemd/v22/daemon"
)

// Service is this process as a service of systemd. If systemd has not started it, its methods do
// nothing. They are safe for concurrent use, and do not wait for systemd.
type Service struct {
	Log *slog.Logger // gets what cannot be sent to systemd; required
}

// Ready says that the server accepts calls, or does so again after a reload. `systemctl status`
// shows the status.
func (s Service) Ready(status string) { s.send(daemon.SdNotifyReady, "STATUS="+oneLine(status)) }

// Reloading says that the server reads its configuration again. Ready ends it.
func (s Service) Reloading() {
	s.send(daemon.SdNotifyReloading, daemon.SdNotifyMonotonicUsec(), "STATUS=reloading")
}

// Stopping says that the server takes no new calls and will end.
func (s Service) Stopping(status string) {
	s.send(daemon.SdNotifyStopping, "STATUS="+oneLine(status))
}

func (s Service) send(assignments ...string) {
	if _, err := daemon.SdNotify(false, strings.Join(assignments, "\n")); err != nil {
		s.Log.Warn("systemd is not told the state of the server", "state", assignments[0], "error", err)
	}
}

// oneLine keeps a status from ending its line, because each line is an assignment.
func oneLine(text string) string { return strings.ReplaceAll(text, "\n", " ") }
