//go:build linux && (amd64 || arm64)

package escape_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// fsAttempt is a call of a tool of fs that must not get out of the workspace.
type fsAttempt struct {
	name, tool string
	arguments  map[string]any
}

// paths lead out of the workspace in different ways. Links among them exist in the workspace.
func (w *world) paths(t *testing.T) map[string]string {
	t.Helper()
	for link, target := range map[string]string{
		"link": w.path("outside/secret.txt"), "relative": "../outside/secret.txt", "folder": w.path("outside"), "proc": "/proc/self/root",
	} {
		if err := os.Symlink(target, w.path("work", link)); err != nil {
			t.Fatal(err)
		}
	}
	return map[string]string{
		"absolute path":         w.path("outside/secret.txt"),
		"dots":                  "../outside/secret.txt",
		"dots in the middle":    "inside/../../outside/secret.txt",
		"dots of the workspace": w.path("work/../outside/secret.txt"),
		"sibling":               w.path("work-other/secret.txt"),
		"sibling by dots":       "../work-other/secret.txt",
		"NUL":                   "secret.txt\x00/../../outside/secret.txt",
		"very long path":        strings.Repeat("./", 3000) + "../outside/secret.txt",
		"link":                  "link",
		"relative link":         "relative",
		"link to a folder":      "folder/secret.txt",
		"link and dots":         "folder/../outside/secret.txt",
		"magic link":            "proc" + w.path("outside/secret.txt"),
		"folder of the process": "/proc/self/cwd/../outside/secret.txt",
	}
}

// testFiles lets each tool of fs try to get out of the workspace.
func (h *toolhost) testFiles(t *testing.T, paths map[string]string) {
	for name, path := range paths {
		for _, a := range []fsAttempt{
			{"read", "read_file", map[string]any{"path": path}},
			{"write", "write_file", map[string]any{"path": path, "content": "written by the escapeplugin\n"}},
			{"edit", "edit_file", map[string]any{"path": path, "edits": []map[string]any{{"old_text": "canary", "new_text": "escapeplugin"}}}},
			{"list", "list_dir", map[string]any{"path": strings.TrimSuffix(path, "/secret.txt")}},
			{"grep", "grep", map[string]any{"pattern": "canary", "path": strings.TrimSuffix(path, "/secret.txt")}},
			{"glob", "glob", map[string]any{"pattern": strings.TrimSuffix(path, "secret.txt") + "*"}},
		} {
			t.Run(name+"/"+a.name, func(t *testing.T) { h.tryTool(t, a) })
		}
	}
}

// tryTool makes a call whose result must not contain the canary or anything from outside.
func (h *toolhost) tryTool(t *testing.T, a fsAttempt) {
	t.Helper()
	outcome, err := h.call(t, a.tool, a.arguments)
	if err != nil {
		t.Fatalf("%s %v: %v", a.tool, a.arguments, err)
	}
	text := outcome.Result.Text()
	if leaks(text, h.canary) || strings.Contains(text, "id_ed25519") || strings.Contains(text, "service.sock") {
		t.Errorf("%s %v: it got out: %s", a.tool, a.arguments, clip(text))
		return
	}
	if !outcome.Result.IsError && a.tool != "glob" && a.tool != "grep" && a.tool != "list_dir" {
		t.Errorf("%s %v: it was not denied: %s", a.tool, a.arguments, clip(text))
		return
	}
	t.Logf("%s: denied: %s", a.tool, clip(text))
}

// testRace changes names between files of the workspace and links that lead out, while tools of fs
// and a command use them.
func (h *toolhost) testRace(t *testing.T) {
	for _, dir := range []string{"work/spot", "work/aside"} {
		if err := os.Mkdir(h.path(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	h.file(t, "work/spot/secret.txt", "this is inside\n")
	if err := os.Symlink(h.path("outside"), h.path("work/aside/link")); err != nil {
		t.Fatal(err)
	}
	const length = 1500 * time.Millisecond
	swapped := make(chan error, 1)
	go func() { // ends with the call, which has a timeout
		arguments, err := json.Marshal(map[string]any{"do": "swap", "with": []string{
			n(renameat2), fmt.Sprint(length.Milliseconds()), h.path("work/spot"), h.path("work/aside/link"),
		}})
		if err != nil {
			swapped <- err
			return
		}
		outcome, err := h.client.Call(t.Context(), tool.Call{Tool: "escapeplugin", Arguments: arguments})
		if err == nil && strings.Contains(outcome.Result.Text(), "error") {
			err = fmt.Errorf("%s", outcome.Result.Text())
		}
		swapped <- err
	}()
	inside, denied := h.race(t, swapped)
	if inside == 0 || denied == 0 {
		t.Errorf("%d calls were inside and %d denied, so the race showed nothing", inside, denied)
	}
	t.Logf("%d calls were inside, %d denied", inside, denied)
}

// race uses the changing name until the change ends, and counts the results.
func (h *toolhost) race(t *testing.T, over <-chan error) (inside, denied int) {
	t.Helper()
	calls := []fsAttempt{
		{"", "read_file", map[string]any{"path": "spot/secret.txt"}},
		{"", "write_file", map[string]any{"path": "spot/secret.txt", "content": "this is inside\n"}},
		{"", "write_file", map[string]any{"path": "spot/new/file.txt", "content": "x"}},
		{"", "list_dir", map[string]any{"path": "spot"}},
		{"", "grep", map[string]any{"pattern": "canary|inside", "path": "spot"}},
		{"", "read_file", map[string]any{"path": "spot/../spot/secret.txt"}},
		{"", "shell", map[string]any{"command": "cat secret.txt; pwd", "working_directory": "spot"}},
	}
	for i := 0; ; i++ {
		select {
		case err := <-over:
			if err != nil {
				t.Errorf("changing the name: %v", err)
			}
			return inside, denied
		default:
		}
		a := calls[i%len(calls)]
		outcome, err := h.call(t, a.tool, a.arguments)
		if err != nil {
			t.Fatal(err)
		}
		switch text := outcome.Result.Text(); {
		case leaks(text, h.canary), strings.Contains(text, "service.sock"):
			t.Errorf("%s %v: it got out: %s", a.tool, a.arguments, clip(text))
		case outcome.Result.IsError:
			denied++
		default:
			inside++
		}
	}
}
