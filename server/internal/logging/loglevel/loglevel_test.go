package loglevel_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
)

func TestLevels(t *testing.T) {
	file := loglevel.Settings{Least: "warn", By: map[string]string{"plugins": "error", "policy": "info"}}
	flag, err := loglevel.OfToolhost().ParseSettings("info, policy=debug,plugin.fs=warn")
	if err != nil {
		t.Fatal(err)
	}
	levels, err := flag.Over(file).Levels()
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		subsystem, plugin string
		want              slog.Level
	}{
		{"server", "", slog.LevelInfo}, // by the flag
		{"plugins", "py", slog.LevelError},
		{"plugins", "fs", slog.LevelWarn},
		{"lifecycle", "fs", slog.LevelInfo}, // plugin.fs is only about what the plugin writes
		{"policy", "", slog.LevelDebug},
	} {
		if got := levels.Of(tc.subsystem, tc.plugin); got != tc.want {
			t.Errorf("%s %s: %v, want %v", tc.subsystem, tc.plugin, got, tc.want)
		}
	}
	if got := (loglevel.Levels{}).Of("server", ""); got != slog.LevelInfo {
		t.Errorf("without settings the level is %v", got)
	}
	if file.By["policy"] != "info" {
		t.Error("Over changed its argument")
	}
}

// A wrong setting gets an error that names what is allowed.
func TestWrongSettings(t *testing.T) {
	for text, want := range map[string]string{
		"loud":            `there is no level "loud"; use debug, info, warn or error`,
		"policy=":         `there is no level ""`,
		"info,warn":       "two levels",
		"polcy=debug":     "did you mean policy?",
		"runs=debug":      "server, lifecycle, plugins, calls, policy, storage, telemetry, plugin.NAME",
		"plugin.a b=info": "name of a plugin",
		"policy=Debug":    "use debug",
	} {
		if _, err := loglevel.OfToolhost().ParseSettings(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if _, err := loglevel.OfAgentd().ParseSettings("plugin.fs=info"); err == nil {
		t.Error("agentd accepts a level of a plugin")
	}
	if _, err := (loglevel.Settings{By: map[string]string{"runs": "x"}}).Levels(); err == nil || !strings.Contains(err.Error(), "runs: there is no level") {
		t.Error(err)
	}
}
