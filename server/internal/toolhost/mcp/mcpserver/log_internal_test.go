package mcpserver

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// TestClientErrors checks that a client cannot write errors into the log of the operator.
func TestClientErrors(t *testing.T) {
	for level, want := range map[slog.Level]string{slog.LevelInfo: "", slog.LevelDebug: "level=DEBUG msg=mistake"} {
		var log bytes.Buffer
		logger := slog.New(clientErrors{slog.NewTextHandler(&log, &slog.HandlerOptions{Level: level})})
		logger.Info("a session")
		logger.With("a", 1).WithGroup("g").Error("mistake")
		if got := log.String(); strings.Contains(got, "session") || !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("at level %s, the log is %q", level, got)
		}
	}
}
