package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/workspace"
)

// onDisk is a workspace and its folder.
type onDisk struct {
	workspace.Workspace
	dir string
}

// openDir opens a folder as a workspace until the end of the test.
func openDir(t *testing.T, dir string) onDisk {
	t.Helper()
	local, err := workspace.OpenLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { local.Close() })
	return onDisk{Workspace: local, dir: dir}
}

// newWorkspace returns a workspace /ws with a sibling /ws-secret, and their parent folder.
func newWorkspace(t *testing.T) (w onDisk, outside string) {
	t.Helper()
	outside = t.TempDir()
	put(t, filepath.Join(outside, "ws-secret", "secret.txt"), "a secret\n")
	put(t, filepath.Join(outside, "secret.txt"), "a secret\n")
	dir := filepath.Join(outside, "ws")
	put(t, filepath.Join(dir, "hello.txt"), "hello\n")
	put(t, filepath.Join(dir, "sub", "inner.txt"), "inner\n")
	return openDir(t, dir), outside
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

// read returns the text that the model reads of a file.
func read(t *testing.T, w workspace.Workspace, in readInput) (string, error) {
	t.Helper()
	result, err := readFile(t.Context(), w, in)
	return result.Text(), err
}

// holds fails the test unless err is not nil and its text has every part.
func holds(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("got no error, want one with %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("got %q, want %q in it", err, part)
		}
	}
}

func TestPluginIsWellDeclared(t *testing.T) {
	if err := plugin().Validate(); err != nil {
		t.Fatal(err)
	}
}

func TestSchemas(t *testing.T) {
	required := map[string]string{"read_file": "path", "write_file": "path content", "edit_file": "path edits", "list_dir": "", "glob": "pattern", "grep": "pattern"}
	readOnly := map[string]bool{"read_file": true, "list_dir": true, "glob": true, "grep": true}
	for _, tool := range plugin().Tools {
		spec := tool.Spec()
		var schema struct {
			Required   []string
			Properties map[string]struct{ Description string }
		}
		if err := json.Unmarshal(spec.InputSchema, &schema); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(schema.Required, " "); got != required[spec.Name] {
			t.Errorf("%s requires %q, want %q", spec.Name, got, required[spec.Name])
		}
		for name, property := range schema.Properties {
			if property.Description == "" {
				t.Errorf("%s does not describe %s", spec.Name, name)
			}
		}
		if spec.ReadOnly != readOnly[spec.Name] || spec.Idempotent == (spec.Name == "edit_file") {
			t.Errorf("%s: read_only is %v, idempotent is %v", spec.Name, spec.ReadOnly, spec.Idempotent)
		}
	}
}

func TestPathsStayInTheWorkspace(t *testing.T) {
	w, outside := newWorkspace(t)
	link(t, "../secret.txt", filepath.Join(w.dir, "file-out"))
	link(t, "..", filepath.Join(w.dir, "folder-out"))
	link(t, filepath.Join(outside, "secret.txt"), filepath.Join(w.dir, "absolute-out"))
	link(t, "sub/../../secret.txt", filepath.Join(w.dir, "winding-out"))
	link(t, "folder-out", filepath.Join(w.dir, "link-to-link"))
	tests := []struct{ path, problem string }{
		{"../secret.txt", "leads out of the workspace"},
		{"..", "leads out of the workspace"},
		{"sub/../../secret.txt", "leads out of the workspace"},
		{"../ws-secret/secret.txt", "leads out of the workspace"},
		{"./../ws/hello.txt", "leads out of the workspace"},
		{"/etc/passwd", "absolute and outside of the workspace"},
		{outside + "/ws-secret/secret.txt", "absolute and outside of the workspace"},
		{outside + "/ws/../secret.txt", "absolute and outside of the workspace"},
		{"", "the path is empty"},
		{"hello\x00.txt", "NUL"},
		{"file-out", ""},
		{"absolute-out", ""},
		{"winding-out", ""},
		{"folder-out/secret.txt", ""},
		{"folder-out/ws-secret/secret.txt", ""},
		{"link-to-link/secret.txt", ""},
		{"folder-out/new.txt", ""},
	}
	for _, test := range tests {
		t.Run(test.path, func(t *testing.T) {
			text, err := read(t, w, readInput{Path: test.path})
			holds(t, err, test.problem)
			if strings.Contains(text, "secret") {
				t.Error("the secret was read")
			}
			_, err = writeFile(t.Context(), newLanes(), w, writeInput{Path: test.path, Content: "overwritten"})
			holds(t, err, test.problem)
			if test.path != "" { // list_dir has a default
				_, err = listDir(t.Context(), w, listInput{Path: test.path})
				holds(t, err, test.problem)
			}
		})
	}
	unchanged(t, outside)
}

// unchanged fails the test if something outside of the workspace has changed.
func unchanged(t *testing.T, outside string) {
	t.Helper()
	for path, want := range map[string]string{".": "secret.txt ws ws-secret", "ws-secret": "secret.txt"} {
		entries, err := os.ReadDir(filepath.Join(outside, path))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, entry := range entries {
			names = append(names, entry.Name())
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("outside of the workspace there is %q now, want %q", got, want)
		}
	}
	for _, path := range []string{"secret.txt", "ws-secret/secret.txt"} {
		if content, err := os.ReadFile(filepath.Join(outside, path)); err != nil || string(content) != "a secret\n" {
			t.Errorf("%s is %q now, %v", path, content, err)
		}
	}
}

func TestEscapeIsExplained(t *testing.T) {
	w, _ := newWorkspace(t)
	link(t, "../secret.txt", filepath.Join(w.dir, "out"))
	_, err := read(t, w, readInput{Path: "out"})
	holds(t, err, `"out" leads out of the workspace by a symbolic link`)
}

func TestLinksInsideTheWorkspaceWork(t *testing.T) {
	w, _ := newWorkspace(t)
	link(t, "sub/inner.txt", filepath.Join(w.dir, "link.txt"))
	link(t, "sub", filepath.Join(w.dir, "folder"))
	link(t, "../hello.txt", filepath.Join(w.dir, "sub", "up.txt"))
	link(t, "sub/new.txt", filepath.Join(w.dir, "dangling.txt"))
	for path, want := range map[string]string{"link.txt": "inner\n", "folder/inner.txt": "inner\n", "folder/up.txt": "hello\n", "folder/../hello.txt": "hello\n"} {
		if got, err := read(t, w, readInput{Path: path}); err != nil || got != want {
			t.Errorf("%s: got %q, %v; want %q", path, got, err, want)
		}
	}
	for path, target := range map[string]string{"link.txt": "sub/inner.txt", "folder/up.txt": "hello.txt", "dangling.txt": "sub/new.txt", "folder/more/x.txt": "sub/more/x.txt"} {
		if _, err := writeFile(t.Context(), newLanes(), w, writeInput{Path: path, Content: "by " + path}); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(w.dir, target)); err != nil || string(got) != "by "+path {
			t.Errorf("%s holds %q, %v; want what was written to %s", target, got, err, path)
		}
	}
	if info, err := os.Lstat(filepath.Join(w.dir, "link.txt")); err != nil || info.Mode().Type() != os.ModeSymlink {
		t.Errorf("a write through a link replaced the link: %v, %v", info, err)
	}
}

func TestLinkLoopsEnd(t *testing.T) {
	w, _ := newWorkspace(t)
	link(t, "b", filepath.Join(w.dir, "a"))
	link(t, "a", filepath.Join(w.dir, "b"))
	if _, err := read(t, w, readInput{Path: "a"}); err == nil {
		t.Error("reading through a loop of links succeeded")
	}
	_, err := writeFile(t.Context(), newLanes(), w, writeInput{Path: "a"})
	holds(t, err, "more than 40 links")
}

func TestWorkspaceMustBeThere(t *testing.T) {
	// A context outside of a call has no workspace.
	_, err := inWorkspace(readFile)(t.Context(), readInput{Path: "x"})
	if e, ok := errors.AsType[*sdk.Error](err); !ok || e.Kind != "unavailable" || !strings.Contains(e.Message, "--workspace") {
		t.Errorf("got %v, want kind unavailable and what to do", err)
	}
}

func TestCancelledCallsStop(t *testing.T) {
	w, _ := newWorkspace(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, readErr := readFile(ctx, w, readInput{Path: "hello.txt"})
	_, writeErr := writeFile(ctx, newLanes(), w, writeInput{Path: "hello.txt", Content: "changed"})
	_, listErr := listDir(ctx, w, listInput{})
	for _, err := range []error{readErr, writeErr, listErr} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want that of the context", err)
		}
	}
	if got, err := read(t, w, readInput{Path: "hello.txt"}); err != nil || got != "hello\n" {
		t.Errorf("a cancelled write left %q, %v", got, err)
	}
}
