package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/sdktest"
	"github.com/toolhost/toolhost/sdk/workspace"
	"github.com/toolhost/toolhost/sdk/workspace/commands"
)

// call runs the tool and returns the outcome and the blocks below it.
func call(t *testing.T, in map[string]any, options ...sdktest.Option) (outcome, []sdk.Content, *sdktest.Call) {
	t.Helper()
	if _, ok := in["timeout_seconds"]; !ok {
		in["timeout_seconds"] = 60
	}
	h := sdktest.New(t, plugin(commands.New()))
	got := h.Call("shell", in, append([]sdktest.Option{sdktest.WithWorkspace(t.TempDir())}, options...)...)
	return read(t, got)
}

func read(t *testing.T, got *sdktest.Call) (outcome, []sdk.Content, *sdktest.Call) {
	t.Helper()
	var o outcome
	if got.Err != nil {
		t.Fatal(got.Err)
	}
	if len(got.Content) == 0 || got.Content[0].Kind != "json" {
		t.Fatalf("the result does not begin with JSON: %q", got.Text())
	}
	if err := json.Unmarshal(got.Content[0].JSON, &o); err != nil {
		t.Fatal(err)
	}
	o.DurationMS = 0
	return o, got.Content[1:], got
}

func texts(blocks []sdk.Content) []string {
	var all []string
	for _, b := range blocks {
		all = append(all, b.Text)
	}
	return all
}

func TestOutcomes(t *testing.T) {
	tests := map[string]struct {
		in    map[string]any
		want  outcome
		texts []string
	}{
		"both outputs apart": {
			map[string]any{"command": "echo out; echo err >&2; exit 3"},
			outcome{ExitCode: 3, StdoutBytes: 4, StderrBytes: 4}, []string{"stdout:", "out\n", "stderr:", "err\n"},
		},
		"no output":         {map[string]any{"command": "true"}, outcome{}, nil},
		"no such program":   {map[string]any{"command": "no-such-program 2>/dev/null"}, outcome{ExitCode: 127}, nil},
		"ended by a signal": {map[string]any{"command": "kill -USR1 $$"}, outcome{ExitCode: 138, Signal: "SIGUSR1"}, nil},
		"standard input":    {map[string]any{"command": "cat", "stdin": "a 'b'\n$c"}, outcome{StdoutBytes: 8}, []string{"stdout:", "a 'b'\n$c"}},
		"input nobody reads": {map[string]any{"command": "exec 0<&-; echo done", "stdin": strings.Repeat("x", 1<<20)},
			outcome{StdoutBytes: 5}, []string{"stdout:", "done\n"}},
		"no input":         {map[string]any{"command": "cat"}, outcome{}, nil},
		"no terminal":      {map[string]any{"command": "(exec 3</dev/tty) 2>/dev/null || echo none"}, outcome{StdoutBytes: 5}, []string{"stdout:", "none\n"}},
		"environment":      {map[string]any{"command": `echo "$A_1"`, "env": map[string]any{"A_1": "x y"}}, outcome{StdoutBytes: 4}, []string{"stdout:", "x y\n"}},
		"several lines":    {map[string]any{"command": "cd /\npwd\n"}, outcome{StdoutBytes: 2}, []string{"stdout:", "/\n"}},
		"out of time":      {map[string]any{"command": "echo begun; sleep 1000", "timeout_seconds": 3}, outcome{ExitCode: 143, Signal: "SIGTERM", TimedOut: true, StdoutBytes: 6}, []string{"stdout:", "begun\n", "[The command was ended because it was not done after 3s. Give it more with timeout_seconds, or let it do less at a time.]"}},
		"heeds no SIGTERM": {map[string]any{"command": "trap '' TERM; while :; do sleep 0.01; done", "timeout_seconds": 3}, outcome{ExitCode: 137, Signal: "SIGKILL", TimedOut: true}, []string{"[The command was ended because it was not done after 3s. Give it more with timeout_seconds, or let it do less at a time.]"}},
		"cleans up when told": {map[string]any{"command": "trap 'echo clean; exit 9' TERM; sleep 1000 & wait", "timeout_seconds": 3},
			outcome{ExitCode: 9, TimedOut: true, StdoutBytes: 6}, []string{"stdout:", "clean\n", "[The command was ended because it was not done after 3s. Give it more with timeout_seconds, or let it do less at a time.]"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // some tests wait for a timeout
			got, blocks, result := call(t, test.in)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.texts, texts(blocks)); diff != "" {
				t.Error(diff)
			}
			if failed := got.ExitCode != 0 || got.TimedOut; result.IsError != failed {
				t.Errorf("is_error is %v", result.IsError)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	h := sdktest.New(t, plugin(commands.New()))
	dir := t.TempDir()
	workspace := filepath.Join(dir, "workspace")
	for _, err := range []error{
		os.Mkdir(workspace, 0o777),
		os.WriteFile(filepath.Join(workspace, "file"), nil, 0o666),
		os.Symlink(dir, filepath.Join(workspace, "out")),
		os.Symlink("..", filepath.Join(workspace, "up")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for arguments, want := range map[string]string{
		`{"command":"pwd","working_directory":".."}`:           "leads out of the workspace",
		`{"command":"pwd","working_directory":"/"}`:            "outside of the workspace",
		`{"command":"pwd","working_directory":"a/../../b"}`:    "leads out of the workspace",
		`{"command":"pwd","working_directory":"out"}`:          "leads out of the workspace",
		`{"command":"pwd","working_directory":"up"}`:           "leads out of the workspace",
		`{"command":"pwd","working_directory":"file"}`:         "is a file",
		`{"command":"pwd","working_directory":"none"}`:         "there is no \"none\"",
		`{"command":"pwd","env":{"a b":"c"}}`:                  "no name of an environment variable",
		`{"command":"pwd","env":{"TOOLHOST_INSTANCE":"c"}}`:    "toolhost's own",
		`{"command":"pwd","env":{"PLUGIN_CLIENT_CERT":"c"}}`:   "toolhost's own",
		`{"command":"pwd","stdin":"a","stdin_artifact":"b"}`:   "both given",
		`{"command":"pwd","stdin_artifact":"artifact-nobody"}`: "no artifact",
		`{"command":"pwd","timeout_seconds":100000}`:           "timeout_seconds",
		`{"command":"a\u0000b"}`:                               "NUL",
		`{"command":""}`:                                       "command",
		`{}`:                                                   "command",
	} {
		got := h.Call("shell", arguments, sdktest.WithWorkspace(workspace))
		if got.Err != nil || !got.IsError || !strings.Contains(got.Text(), want) {
			t.Errorf("%s: got %q, error %v; want %q", arguments, got.Text(), got.Err, want)
		}
	}
	if got := h.Call("shell", `{"command":"pwd"}`); got.Err == nil || got.Err.Kind != "unavailable" {
		t.Errorf("without a workspace: %+v", got)
	}
	// Values that are too long for the system have more than 128 KiB here, so the schema cannot
	// refuse them.
	got := h.Call("shell", map[string]any{"command": "true", "env": map[string]any{"A": strings.Repeat("a", 3<<20)}}, sdktest.WithWorkspace(workspace))
	if got.Err == nil && !got.IsError {
		t.Errorf("an environment that is too long: %+v", got)
	}
}

func TestWorkingDirectory(t *testing.T) {
	workspace := t.TempDir()
	if err := os.MkdirAll(filepath.Join(workspace, "a", "b"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a", filepath.Join(workspace, "link")); err != nil {
		t.Fatal(err)
	}
	real, err := filepath.EvalSymlinks(workspace)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{".": "", "a": "/a", "a/b/": "/a/b", "link/b": "/a/b", "a/../a": "/a"} {
		_, blocks, _ := call(t, map[string]any{"command": "pwd -P", "working_directory": path}, sdktest.WithWorkspace(workspace))
		if diff := cmp.Diff([]string{"stdout:", real + want + "\n"}, texts(blocks)); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
}

func TestStdinFromArtifact(t *testing.T) {
	_, blocks, _ := call(t, map[string]any{"command": "wc -l", "stdin_artifact": "artifact-1"},
		sdktest.WithArtifact("artifact-1", sdk.Text(strings.Repeat("line\n", 100_000))))
	if len(blocks) != 2 || strings.TrimSpace(blocks[1].Text) != "100000" {
		t.Errorf("got %q", texts(blocks))
	}
}

func TestBinaryOutput(t *testing.T) {
	for command, want := range map[string]sdk.Content{
		`printf 'a\000b'`:                      sdk.File("stdout.bin", "application/octet-stream", []byte("a\x00b")),
		`printf '\211PNG\r\n\032\n\000\000'`:   sdk.Image("image/png", []byte("\x89PNG\r\n\x1a\n\x00\x00")),
		`printf 'caf\351'`:                     sdk.Text("caf\uFFFD"),
		`printf '\033[31mred\033[0m'`:          sdk.Text("\x1b[31mred\x1b[0m"),
		`head -c 9000 /dev/zero | tr '\0' 'a'`: sdk.Text(strings.Repeat("a", 9000)),
	} {
		_, blocks, _ := call(t, map[string]any{"command": command})
		if len(blocks) != 2 {
			t.Fatalf("%s: %q", command, texts(blocks))
		}
		if diff := cmp.Diff(want, blocks[1]); diff != "" {
			t.Errorf("%s: %s", command, diff)
		}
	}
}

// A workspace in memory has no commands, and the tool says so.
func TestMemoryHasNoCommands(t *testing.T) {
	ctx := workspace.NewContext(t.Context(), workspace.NewMemory(nil))
	got := sdktest.New(t, plugin(commands.New())).Call("shell", `{"command":"pwd"}`, sdktest.WithContext(ctx))
	if got.Err != nil || !got.IsError || !strings.Contains(got.Text(), "runs no commands") {
		t.Errorf("got %q, %v", got.Text(), got.Err)
	}
}

// The command ends before the call's deadline, so that its output is not lost.
func TestTheCallsTimeCounts(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), margin+3*time.Second)
	defer cancel()
	got, blocks, _ := call(t, map[string]any{"command": "echo begun; sleep 1000", "timeout_seconds": 500}, sdktest.WithContext(ctx))
	if !got.TimedOut || len(blocks) != 3 || blocks[1].Text != "begun\n" {
		t.Errorf("got %+v, %q", got, texts(blocks))
	}
}

func TestPeopleSeeTheLastLine(t *testing.T) {
	h := sdktest.New(t, plugin(commands.New()))
	workspace := t.TempDir()
	s := h.Stream("shell", sdktest.WithWorkspace(workspace))
	s.Complete(`{"command":"echo one; printf '\\033[1mtwo\\033[0m of 3\\n'; while [ ! -e go ]; do sleep 0.01; done; echo three"}`)
	s.WaitStatus(func(status sdk.Status) bool { return status.Message == "two of 3" && status.Progress.Done == 21 })
	if err := os.WriteFile(filepath.Join(workspace, "go"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if got := s.Wait(); got.Err != nil || !strings.HasPrefix(got.Statuses[0].Message, "$ echo one;") || got.Statuses[len(got.Statuses)-1].State != sdk.StatusSuccess {
		t.Errorf("got %+v", got)
	}
}

// MCP clients show their model nothing of a result but what a schema promises.
func TestNoSchemaHidesTheOutput(t *testing.T) {
	if schema := shellTool(nil).Spec().OutputSchema; schema != nil {
		t.Errorf("the tool promises %s", schema)
	}
}
