//go:build linux && (amd64 || arm64)

package escape_test

import (
	"os"
	"testing"
)

// TestEscape is the list, in the sandbox as it is when nobody says anything.
func TestEscape(t *testing.T) {
	w := newWorld(t, os.Getuid())
	paths := w.paths(t)
	h := w.serve(t)
	h.tellWalls(t, "prisoner")
	h.settle(t)
	t.Run("plugin", func(t *testing.T) { h.tryList(t, "prisoner") })
	t.Run("shell", h.testShell)
	t.Run("fs", func(t *testing.T) { h.testFiles(t, paths) })
	t.Run("race", h.testRace)
	t.Run("network granted", h.testGuest)
	t.Run("sandbox switched off", h.testFree)
	t.Run("resources", h.testResources)
	h.unharmed(t)
}

// TestUnprivileged is a shorter list, for a toolhost of an ordinary user.
func TestUnprivileged(t *testing.T) {
	if os.Getuid() != 0 {
		t.Log("all tests are those of an ordinary user")
		return
	}
	h := newWorld(t, nobody).serve(t)
	h.tellWalls(t, "prisoner")
	h.settle(t)
	h.tryList(t, "prisoner")
	h.unharmed(t)
}

// TestConfined is the same for a toolhost that may make no namespaces, as in most containers.
func TestConfined(t *testing.T) {
	w := newWorld(t, nobodyOrSelf())
	h := w.serve(t, confined(t)...)
	h.tellWalls(t, "prisoner")
	h.settle(t)
	h.tryList(t, "prisoner")
	h.unharmed(t)
}

func nobodyOrSelf() int {
	if uid := os.Getuid(); uid != 0 {
		return uid
	}
	return nobody
}

// tryList makes all attempts of the list in a plugin.
func (h *toolhost) tryList(t *testing.T, plugin string) {
	t.Helper()
	for _, part := range []struct {
		name string
		all  []attempt
	}{
		{"files", h.files()}, {"processes", h.processes(t)}, {"kernel", kernel()}, {"network", h.network()}, {"sockets", h.sockets()},
	} {
		t.Run(part.name, func(t *testing.T) { h.tryAll(t, plugin, part.all) })
	}
}

// tellWalls lets a plugin's instance be started and tells which walls there are.
func (h *toolhost) tellWalls(t *testing.T, plugin string) {
	t.Helper()
	if _, err := h.try(t, plugin, "environment"); err != nil {
		t.Fatal(err)
	}
	for _, wall := range h.instance(t, plugin).Sandbox.Walls {
		if wall.Effective {
			t.Logf("%s: wall %q: %s; %s", plugin, wall.Name, wall.Mechanism, wall.Note)
		} else {
			t.Logf("%s: this machine does not give the wall %q: %s", plugin, wall.Name, wall.Note)
		}
	}
}
