//go:build linux && (amd64 || arm64)

package escape_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/tool"
)

// testResources lets a plugin take more resources than its limits allow.
func (h *toolhost) testResources(t *testing.T) {
	for _, a := range []struct {
		plugin, limit, what string
		wants, most         int
	}{
		{"hog", "processes", "processes", 200, 40},
		{"hog", "open_files", "files", 500, 64},
		{"hog", "file_size", "$TMPDIR/large", 32, 8},
		{"hog", "file_size", h.path("work/large"), 32, 8},
		{"neighbour", "", "/tmp/large", 100, 64}, // memory as a file system of bounded size
		{"neighbour", "", "/dev/shm/large", 100, 64},
		{"hog", "memory", "memory", 512, 128},
	} {
		t.Run(a.limit+" "+filepath.Base(a.what), func(t *testing.T) { h.eat(t, a.plugin, a.limit, a.what, a.wants, a.most) })
	}
	t.Run("process that outlives", h.testLinger)
}

// eat makes a plugin use an amount of a resource, and checks that it gets no more than the
// parameter most.
func (h *toolhost) eat(t *testing.T, plugin, limit, what string, wants, most int) {
	t.Helper()
	environment, err := h.try(t, plugin, "environment")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(environment, "\nTMPDIR=")
	tmp, _, _ := strings.Cut(rest, "\n")
	held := "its own size"
	for _, l := range h.instance(t, plugin).Limits {
		if l.Name == limit {
			held = l.Mechanism
		}
	}
	outcome, err := h.call(t, plugin, map[string]any{"do": "eat", "with": []string{strings.Replace(what, "$TMPDIR", tmp, 1), n(wants)}})
	if failed, ok := errors.AsType[*tool.Error](err); ok && (failed.Kind == tool.KindCrashed || failed.Kind == tool.KindOutcomeUnknown) {
		t.Logf("bounded by %s: %s", held, clip(failed.Error()))
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	text := outcome.Result.Text()
	_, number, _ := strings.Cut(text, "got ")
	got, _ := strconv.Atoi(number[:max(strings.IndexAny(number, "\""), 0)])
	switch {
	case got <= most:
		t.Logf("bounded by %s: %s", held, clip(text))
	case held == "watchdog":
		t.Logf("the watchdog looks twice a second, and toolhost ps says so; meanwhile it got %d: %s", got, clip(text))
	case held == "none":
		t.Logf("this machine does not enforce the limit, and toolhost ps says so; it got %d", got)
	default:
		t.Errorf("the limit is %d, shown as held by %s, and it is %s", most, held, clip(text))
	}
}

// testLinger leaves an unmarked process in another session, and ends its plugin.
func (h *toolhost) testLinger(t *testing.T) {
	mark := "linger-" + filepath.Base(h.base)
	if answer, err := h.try(t, "hog", "linger", mark); err != nil {
		t.Fatal(answer, err)
	}
	if !running(t, mark) {
		t.Fatal("it did not begin")
	}
	if _, err := h.client.Admin().Restart(t.Context(), "hog", true); err != nil {
		t.Fatal(err)
	}
	eventually.Holds(t, "what a plugin left behind is ended with it", func() bool { return !running(t, mark) })
}

// running reports whether there is a process with a word in its command line.
func running(t *testing.T, word string) bool {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), word) {
			return true
		}
	}
	return false
}
