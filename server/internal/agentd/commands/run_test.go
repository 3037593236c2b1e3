package commands

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/tool"
)

const twoTurns = `
turns:
  - text: I echo, and fail.
    chunks: 2
    calls:
      - {id: a, tool: echo, arguments: {text: "{{prompt}} there"}}
      - {id: b, tool: fail, arguments: {message: "no\nway"}}
      - {id: c, tool: teleport, arguments: {}}
  - text: 'It said {{result "a"}}.'
`

func TestRunForPeople(t *testing.T) {
	w := newWorld(t).withToolhost()
	got := w.run("run", "--model", w.script(twoTurns), "hi")
	got.want(t, 0)
	out := regexp.MustCompile(`\(\d+(\.\d+)?m?s\)`).ReplaceAllString(got.stdout.String(), "(time)")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	want := []string{
		"I echo, and fail.",
		`→ echo {"text":"hi there"}`,
		`→ fail {"message":"no\nway"}`,
		`✗ teleport (not made) [not_found] There is no tool "teleport". There are: ask, break, count, danger, echo, fail, inspect,…`,
		"✓ echo (time) hi there",
		"✗ fail (time) no…",
		"It said hi there.",
	}
	if len(lines) == len(want) {
		slices.Sort(lines[4:6]) // the calls end in any order
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRunForPrograms(t *testing.T) {
	w := newWorld(t).withToolhost()
	got := w.run("run", "--model", w.script(twoTurns), "-o", "json", "hi")
	got.want(t, 0)
	counts, text := make(map[string]int), ""
	seq := 0.0
	for line := range strings.Lines(got.stdout.String()) {
		var e map[string]any
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		kind, _ := e["type"].(string)
		counts[kind]++
		if s, _ := e["seq"].(float64); e["index"] == nil && s != seq+1 || e["index"] != nil && s != seq+1 {
			t.Errorf("seq %v after %v", e["seq"], seq)
		} else if e["index"] == nil {
			seq = s
		}
		switch kind {
		case "run_started":
			if e["run_id"] == "" || e["prompt"] != "hi" {
				t.Errorf("%s", line)
			}
		case "text_delta":
			text += e["text"].(string)
		case "call_result":
			if id, _ := e["call_id"].(string); id == "" || e["is_error"] == (e["tool"] == "echo") || e["tool"] == "echo" && e["plugin"] != "fixture" {
				t.Errorf("%s", line)
			}
		case "run_finished":
			if e["stop_reason"] != "end_turn" || e["text"] != "It said hi there." || e["turns"] != 2.0 {
				t.Errorf("%s", line)
			}
		}
	}
	if text != "I echo, and fail.It said hi there." {
		t.Errorf("the deltas say %q", text)
	}
	delete(counts, "text_delta")
	delete(counts, "argument_delta")
	want := map[string]int{"run_started": 1, "assistant_message": 2, "call_started": 2, "call_result": 3, "run_finished": 1}
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(w.folder, ".local/state/toolhost/runs.db")); err != nil {
		t.Errorf("the default journal: %v", err)
	}
}

func TestExitCodes(t *testing.T) {
	w := newWorld(t).withToolhost()
	ok := w.script("turns: [{text: fine}]")
	broken := filepath.Join(w.folder, "broken.yaml")
	if err := os.WriteFile(broken, []byte("turns: [{error: {status: 401}}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		args  []string
		code  int
		words string
	}{
		"well":              {[]string{"run", "--model", ok, "hi"}, 0, "fine"},
		"model fails":       {[]string{"run", "--model", "scripted:" + broken, "hi"}, 1, "model_error"},
		"no prompt":         {[]string{"run", "--model", ok}, 2, "in quotes"},
		"two prompts":       {[]string{"run", "--model", ok, "a", "b"}, 2, "in quotes"},
		"blank prompt":      {[]string{"run", "--model", ok, " "}, 2, "in quotes"},
		"bad flag":          {[]string{"run", "--modell", ok, "a"}, 2, "--model"},
		"bad format":        {[]string{"run", "-o", "xml", "a"}, 2, "text or json"},
		"no model":          {[]string{"run", "a"}, 2, "ANTHROPIC_API_KEY"},
		"no such script":    {[]string{"run", "--model", "scripted:nowhere.yaml", "a"}, 2, "nowhere.yaml"},
		"bad address":       {[]string{"run", "--model", ok, "--toolhost", "example.com:0", "a"}, 2, "unix:///PATH"},
		"nobody there":      {[]string{"run", "--model", ok, "--toolhost", "unix://" + w.folder + "/none", "a"}, 4, "start one with `toolhost serve`"},
		"journal no file":   {[]string{"run", "--model", ok, "--journal", w.folder, "a"}, 3, "--journal"},
		"unknown command":   {[]string{"fly"}, 2, "fly"},
		"serve bad listen":  {[]string{"serve", "--model", ok, "--listen", "example.com:0"}, 2, "--listen"},
		"serve bad level":   {[]string{"serve", "--model", ok, "--log-level", "loud"}, 2, "debug"},
		"serve nobody":      {[]string{"serve", "--model", ok, "--toolhost", "unix://" + w.folder + "/none"}, 4, "toolhost serve"},
		"serve no model":    {[]string{"serve"}, 2, "OPENAI_API_KEY"},
		"serve busy socket": {[]string{"serve", "--model", ok, "--listen", w.toolhost.String()}, 3, "--listen"},
	} {
		t.Run(name, func(t *testing.T) { w.run(test.args...).want(t, test.code, test.words) })
	}
}

// Ctrl-C cancels the run and its call. The display shows the result of the call and the end of the
// run.
func TestInterrupt(t *testing.T) {
	w := newWorld(t).withToolhost()
	e, interrupt, wait := w.begin("run", "--model", w.script("turns: [{calls: [{id: a, tool: wait, arguments: {key: k}}]}]"), "-o", "json", "hi")
	e.stdout.until(t, `"call_started"`)
	interrupt()
	e.code = wait()
	e.want(t, 1, `"type":"cancel_requested"`, `"type":"call_result"`, `"stop_reason":"cancelled"`, "the run ended: cancelled: interrupted")
}

// A call continues in toolhost while the connection is lost, and the run attaches to the call
// again.
func TestLostConnection(t *testing.T) {
	w := newWorld(t).withToolhost()
	script := w.script("turns: [{calls: [{id: a, tool: wait, arguments: {key: k}}]}, {text: 'it was {{result \"a\"}}'}]")
	e, _, wait := w.begin("run", "--model", script, "hi")
	e.stdout.until(t, "→ wait")
	call := func(name string) string {
		// a new connection, because the old one may not have noticed that it is cut
		tools, err := client.Dial(w.toolhost.String())
		if err != nil {
			t.Fatal(err)
		}
		defer tools.Close()
		outcome, err := tools.Call(t.Context(), tool.Call{Tool: name, Arguments: []byte(`{"key":"k"}`)})
		if err != nil {
			t.Fatal(err)
		}
		return outcome.Result.Text()
	}
	for call("waiting") == "0" {
		runtime.Gosched()
	}
	w.cut()
	e.stderr.until(t, "call sent again")
	w.withToolhost()
	call("release")
	e.code = wait()
	e.want(t, 0, "it was released")
	for _, record := range []string{"toolhost is lost; runs wait for it", "toolhost answers again"} {
		want := 0
		if strings.HasPrefix(record, "toolhost is lost") { // a foreground run has the level warn
			want = 1
		}
		if n := strings.Count(e.stderr.String(), record); n != want {
			t.Errorf("%d records say %q, want %d:\n%s", n, record, want, e.stderr)
		}
	}
}

func TestPrivateToolhost(t *testing.T) {
	w := newWorld(t)
	note := filepath.Join(w.folder, "note")
	t.Setenv(noteEnv, note)
	t.Setenv("ANTHROPIC_API_KEY", "secret")
	t.Setenv("TMPDIR", w.folder)
	w.run("run", "--model", w.script(twoTurns), "hi").want(t, 0, "It said hi there.")
	got, err := os.ReadFile(note)
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"serve --shipped --listen unix://" + w.folder, "--workspace " + here, "key \"\"", "stopped"} {
		if !strings.Contains(string(got), want) {
			t.Errorf("want %q in how toolhost ran:\n%s", want, got)
		}
	}
	if left, err := filepath.Glob(filepath.Join(w.folder, "agentd-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}

	t.Setenv(dieEnv, "the plugins are on fire")
	w.run("run", "--model", w.script(twoTurns), "hi").want(t, 4, "the plugins are on fire", "exit status 3")
}
