//go:build linux && (amd64 || arm64)

package escape_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/sandbox"
)

// testGuest makes attempts in a plugin that was granted the network and reading the workspace.
// These grants do not allow the attempts.
func (h *toolhost) testGuest(t *testing.T) {
	h.logLayers(t, "guest")
	if answer, err := h.try(t, "guest", "dial", "tcp", h.tcp); err != nil || !strings.Contains(answer, h.canary) {
		t.Errorf("the network was granted, and %q, %v came of it", answer, err)
	}
	h.excused = append(h.excused, h.tcp)
	h.tryAll(t, "guest", h.sockets())
	inside := h.path("work/inside")
	h.tryAll(t, "guest", []attempt{
		{name: "reading the workspace", do: "read", with: []string{inside + "/file.txt"}, harmless: "this may be read"},
		{name: "writing to a workspace that may be read", do: "write", with: []string{inside + "/file.txt"}, layers: byFiles},
		{name: "making a file in it", do: "write", with: []string{inside + "/new"}, layers: byFiles},
		{name: "removing a file of it", do: "remove", with: []string{inside + "/file.txt"}, layers: byFiles},
		{name: "changing modes in it", do: "run", with: []string{"/bin/chmod", "777", inside + "/file.txt"}, layers: byMounts},
		{name: "a tool of another plugin's secret", do: "run", with: []string{"/bin/sh", "-c", "env; cat /proc/*/environ"}, layers: []string{sandbox.PID}, harmless: "TOOLHOST_INSTANCE"},
	})
}

// ownPlugin is a part of the error that toolhost returns to its plugins.
const ownPlugin = "does not answer processes of its plugins"

// testFree tries to use toolhost's API from a plugin without a sandbox, which can see the socket.
func (h *toolhost) testFree(t *testing.T) {
	if shown := h.instanceOf(t, "free"); len(shown.Layers) != 0 || shown.Mode != "off" {
		t.Errorf("the sandbox that is off is shown as %+v", shown)
	}
	command := filepath.Join(bin, "toolhost") + " tools --addr unix://" + h.socket
	for name, line := range map[string]string{
		"itself":                        command,
		"child":                         "sh -c '" + command + "; true'",
		"child without its mark":        "env -i " + command,
		"grandchild of its own session": "setsid -f env -i sh -c '" + command + " >" + h.path("run/said") + " 2>&1; echo done >>" + h.path("run/said") + "'; until grep -q done " + h.path("run/said") + "; do sleep 0.05; done; cat " + h.path("run/said"),
	} {
		t.Run(name, func(t *testing.T) {
			answer, err := h.try(t, "free", "run", "/bin/sh", "-c", line)
			if !strings.Contains(answer, ownPlugin) || strings.Contains(answer, "escapeplugin") {
				t.Errorf("%s: it got %q, %v", line, answer, err)
			}
		})
	}
	if err := os.RemoveAll(h.path("run/said")); err != nil {
		t.Error(err)
	}
}
