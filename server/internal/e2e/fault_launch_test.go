package e2e_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/tool"
)

// Each plugin that cannot be launched is reported with the reason. None of them delays or hides the
// good plugin.
func TestPluginsThatCannotBeLaunched(t *testing.T) {
	t.Parallel()
	plugins := map[string]struct{ args, want string }{
		"exits":         {"-exit=3", "exit code 3"},
		"panics":        {"'-panic=no license' -when=line", "panic: no license"},
		"half":          {"-exit=3 -when=half", "it printed"},
		"noisy":         {"-stdout=loading", `its first line on standard output was "loading"`},
		"old":           {"'-first=1|77|unix|{dir}/s|grpc'", `speaks version "77" of toolhost's contract`},
		"tcp":           {"'-first=1|1|tcp|127.0.0.1:1|grpc'", "the network must be unix"},
		"elsewhere":     {"'-first=1|1|unix|/tmp/s|grpc'", "the socket must be in the folder"},
		"certificate":   {"-certificate=unsolicited", "it brings a certificate"},
		"padded":        {"-certificate=padded", "it brings a certificate"},
		"tls":           {"-tls=silent", "expects TLS"},
		"impostor":      {"-impostor", "which is not of its process"},
		"never-ready":   {"-health=bad", "NOT_SERVING"},
		"stopped":       {"-stop", "did not answer"},
		"silent":        {"-hang -spawn=session -ignore-term", "did not answer"},
		"never-answers": {"'-listen={dir}'", "did not answer"},
	}
	h := prepare(t)
	for name, p := range plugins {
		write(t, filepath.Join(h.plugins, name), fmt.Sprintf("#!/bin/sh\nexec %s %s\n", filepath.Join(bin, "faultplugin"), p.args), 0o755)
	}
	install(t, h, "fault", "faultplugin", "")
	h.serve(t)
	h.echo(t, h.dial(t), "fault", "") // while other plugins have not failed yet
	var known []tool.PluginInfo
	find := func(name string) *tool.PluginInfo {
		i := slices.IndexFunc(known, func(p tool.PluginInfo) bool { return filepath.Base(p.Path) == name })
		if i < 0 {
			return nil
		}
		return &known[i]
	}
	eventually.Holds(t, "all are reported", func() bool {
		known = h.known(t)
		for name := range plugins {
			if p := find(name); p == nil || p.State != tool.PluginUnusable || strings.Contains(p.Reason, "is being asked") {
				return false
			}
		}
		return true
	})
	for name, p := range plugins {
		if reason := find(name).Reason; !strings.Contains(reason, p.want) {
			t.Errorf("%s is reported with %q, want %q in it", name, reason, p.want)
		}
	}
	h.echo(t, h.dial(t), "fault", "")
	h.endsClean(t)
}
