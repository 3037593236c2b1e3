package commands

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/trust"
)

const servedScript = `
turns:
  - calls: [{id: q, tool: ask_user, arguments: {question: Where to?}}]
  - text: 'You said {{result "q"}}'
  - text: 'Again: {{prompt}}'
`

// `agentd run` and `agentd chat` show runs of an `agentd serve`. The agents of runs are those in
// the server's configuration file.
func TestRunsOfAServer(t *testing.T) {
	w := newWorld(t).withToolhost()
	socket := "unix://" + filepath.Join(w.folder, "agentd.sock")
	config := filepath.Join(w.folder, "server.yaml")
	if err := os.WriteFile(config, []byte("agents: {echoes: {tools: {names: [echo]}}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	server, interrupt, wait := w.begin("serve", "--config", config, "--listen", socket, "--journal", filepath.Join(w.folder, "served.db"), "--model", w.script(servedScript))
	server.stdout.until(t, "agentd is ready")

	w.run("run", "--addr", socket, "--agent", "echoes", "go").want(t, 0, "There are: echo.")
	w.run("run", "--addr", socket, "--agent", "sewing", "go").want(t, 3, "there are echoes")
	w.run("run", "--addr", socket, "--model", "scripted:x", "go").want(t, 3, "there is no model \"scripted:x\"")
	w.run("run", "--addr", "unix://"+filepath.Join(w.folder, "nobody.sock"), "go").want(t, 4)
	w.env["AGENTD_ADDR"] = socket
	w.run("run", "--addr", "default", "go", "-o", "json").want(t, 0, `"type":"run_finished"`, `"text":"You said`)

	y, chat, left := w.chats("--addr", socket)
	y.sees("› ")
	y.types("hello")
	y.sees("Where to?")
	y.types("Rome")
	y.sees("You said Rome", "› ")
	y.types("and now?")
	y.sees("Again: and now?", "› ")
	y.types("/quit")
	if code := left(); code != 0 {
		t.Errorf("exit code %d\n%s\n%s", code, chat.stdout, chat.stderr)
	}

	a, err := client.DialAgent(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var prompts []string
	for run, err := range a.ListRuns(t.Context(), client.RunFilter{}) {
		if err != nil {
			t.Fatal(err)
		}
		prompts = append(prompts, run.Prompt)
		for e, err := range a.WatchRun(t.Context(), run.ID, 0) {
			if err != nil {
				t.Fatal(err)
			}
			if started, ok := e.Payload.(*client.RunStarted); ok && len(prompts) == 3 && started.Agent != "echoes" {
				t.Errorf("the first run is of the agent %q", started.Agent)
			}
		}
	}
	if len(prompts) != 3 {
		t.Errorf("the server has %q", prompts)
	}
	interrupt()
	if code := wait(); code != 0 {
		t.Errorf("exit code %d\n%s", code, server.stderr)
	}
}

// All commands about runs use the server of a flag, of the environment or of the target in use
// alike, and the journal of this user without any of them or with --journal.
func TestOneRuleForTargets(t *testing.T) {
	w := newWorld(t).withToolhost()
	socket := "unix://" + filepath.Join(w.folder, "agentd.sock")
	script := w.script("turns: [{text: whole}]")
	server, interrupt, wait := w.begin("serve", "--listen", socket, "--journal", filepath.Join(w.folder, "served.db"), "--model", script)
	server.stdout.until(t, "agentd is ready")
	w.run("run", "--model", script, "for this process").want(t, 0, "whole")
	w.run("target", "add", "prod", "--address", socket).want(t, 0)
	local := filepath.Join(trust.Dir(func(name string) string { return w.env[name] }), journalName)

	use := func(name string) { w.run("target", "use", name).want(t, 0) }
	for name, way := range map[string]struct {
		env   map[string]string
		args  []string
		inUse bool
	}{
		"--addr":        {args: []string{"--addr", socket}},
		"--target":      {args: []string{"--target", "prod"}},
		"AGENTD_ADDR":   {env: map[string]string{"AGENTD_ADDR": socket}},
		"AGENTD_TARGET": {env: map[string]string{"AGENTD_TARGET": "prod"}},
		"target use":    {inUse: true},
	} {
		t.Run(name, func(t *testing.T) {
			maps.Copy(w.env, way.env)
			if way.inUse {
				use("prod")
			}
			defer func() {
				for name := range way.env {
					delete(w.env, name)
				}
				use("local")
			}()
			do := func(args ...string) ended { return w.run(append(args, way.args...)...) }
			ran := do("run", "for "+name)
			ran.want(t, 0, "whole")
			if said := strings.Contains(ran.stderr.String(), socket); said == (name == "--addr") {
				t.Errorf("agentd names the server unless its address is a flag: %v\n%s", said, ran.stderr)
			}
			runs := do("runs")
			runs.want(t, 0, "for "+name)
			id := strings.Fields(runs.stdout.String())[7]
			do("show", id).want(t, 0, "› for "+name, "■ the run ended: end_turn")
			do("show", "--follow", "-o", "json", id).want(t, 0, `"type":"run_finished"`)
			y, chat, left := w.chats(append([]string{id}, way.args...)...)
			y.types("/quit")
			if code := left(); code != 0 {
				t.Errorf("chat: exit code %d\n%s\n%s", code, chat.stdout, chat.stderr)
			}
			do("respond", id, "--approve", "d1").want(t, 2, "the run waits for no decision")
			do("delete", id).want(t, 0, "deleted "+id)
			do("show", id).want(t, 3, "not_found")
			if len(way.args) == 0 {
				do("agents").want(t, 2, "no RPC lists them", socket)
				w.run("resume", id).want(t, 3, "not_found", "agentd show "+id+" --")
				do("runs", "--journal", local).want(t, 0, "for this process")
				do("run", "--journal", local, "--model", script, "for the journal").want(t, 0)
			} else {
				do("runs", "--journal", local).want(t, 2, "use one of them")
				do("show", id, "--journal", local).want(t, 2, "use one of them")
				do("chat", id, "--accept-lost-ledger", "x").want(t, 2, "--accept-lost-ledger is for runs of this process")
			}
		})
	}
	use("prod")
	w.env["AGENTD_TARGET"] = "local"
	w.run("runs").want(t, 0, "for this process", "for the journal")
	delete(w.env, "AGENTD_TARGET")
	use("local")
	w.run("runs").want(t, 0, "for this process", "for the journal")
	w.run("agents").want(t, 0, "there are no agents")
	interrupt()
	wait()
}

// `show` of a server's run that has not ended shows it up to now.
func TestShowOfAServerEnds(t *testing.T) {
	w := newWorld(t).withToolhost()
	socket := "unix://" + filepath.Join(w.folder, "agentd.sock")
	server, interrupt, wait := w.begin("serve", "--listen", socket, "--journal", filepath.Join(w.folder, "served.db"),
		"--model", w.script("turns: [{calls: [{id: a, tool: danger, arguments: {}}]}, {text: whole}]"))
	server.stdout.until(t, "agentd is ready")
	a, err := client.DialAgent(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	id, err := a.StartRun(t.Context(), client.Task{Prompt: "go", People: &client.People{Attended: true}})
	if err != nil {
		t.Fatal(err)
	}
	awaitDecisions(t, a, id, 1)
	w.run("show", "--addr", socket, id).want(t, 0, "› go", "waits for d1", "agentd respond "+id+" --addr "+socket+" --approve d1")
	w.run("show", "--addr", socket, "-o", "json", id).want(t, 0, `"type":"decision_requested"`)
	interrupt()
	wait()
}

// A person who opens the run of a server only to look cancels nothing with Ctrl-C, and a cancel
// names its principal. The test uses a separate process because of the signals.
func TestLookingCancelsNothing(t *testing.T) {
	w := newWorld(t).withToolhost()
	if err := os.Symlink(mustExecutable(t), filepath.Join(w.folder, program)); err != nil {
		t.Fatal(err)
	}
	socket := "unix://" + filepath.Join(w.folder, "agentd.sock")
	server, interrupt, wait := w.begin("serve", "--listen", socket, "--journal", filepath.Join(w.folder, "served.db"),
		"--model", w.script("turns: [{calls: [{id: a, tool: danger, arguments: {}}]}, {text: whole}]"))
	server.stdout.until(t, "agentd is ready")
	a, err := client.DialAgent(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	id, err := a.StartRun(t.Context(), client.Task{Prompt: "go", People: &client.People{Attended: true}})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(w.folder, program), "chat", "--addr", socket, id)
	cmd.Env = []string{"HOME=" + w.folder, raceEnv + "=" + atOnce}
	out := newOutput()
	cmd.Stdout, cmd.Stderr = out, t.Output()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	y := &typist{t: t, in: in, out: out}
	y.sees("danger needs approval", "allow it? ")
	y.types("/help")
	y.sees("Nothing is decided", "allow it? ")
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	y.sees("the conversation is kept")
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	run, err := a.GetRun(t.Context(), id)
	if err != nil || run.State != client.RunWaiting {
		t.Errorf("after Ctrl-C of a person who looked: %v, %v", run, err)
	}
	w.run("cancel", id, "--addr", socket, "--reason", "enough").want(t, 0)
	for e, err := range a.WatchRun(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := e.Payload.(*client.CancelRequested); ok && c.Reason != "enough (by "+ownPrincipal()+")" {
			t.Errorf("the reason is %q", c.Reason)
		}
		if e.Type == "run_finished" {
			break
		}
	}
	interrupt()
	wait()
}

// A command without a terminal lets its run wait for a person, who finds it in the inbox and
// decides in another process.
func TestARunWaitsForAPersonElsewhere(t *testing.T) {
	w := newWorld(t).withToolhost()
	socket := "unix://" + filepath.Join(w.folder, "agentd.sock")
	server, interrupt, wait := w.begin("serve", "--listen", socket, "--journal", filepath.Join(w.folder, "served.db"), "--model", w.script(servedScript))
	server.stdout.until(t, "agentd is ready")
	w.run("run", "--wait-for-approval", "go").want(t, 2, "--addr or --target")
	w.run("inbox", "--addr", socket).want(t, 0, "nothing waits")

	inbox, leave, left := w.begin("inbox", "-f", "--addr", socket)
	asJSON, leaveJSON, leftJSON := w.begin("inbox", "--follow", "-o", "json", "--addr", socket)
	w.run("inbox", "-f", "--addr", socket, "r/d1").want(t, 2, "-f follows the list")

	run, _, ended := w.begin("run", "--addr", socket, "--wait-for-approval", "go")
	run.stderr.until(t, "the run waits for a person: agentd inbox run-")
	inbox.stdout.until(t, "/d1  answer the model")
	asJSON.stdout.until(t, `"waiting":true`)
	listed := w.run("inbox", "--addr", socket)
	listed.want(t, 0, "answer the model", "Where to?", "see one, and decide: agentd inbox run-")
	name, _, _ := strings.Cut(strings.Split(listed.stdout.String(), "\n")[1], " ")
	w.run("inbox", "--addr", socket, name).want(t, 0, "? the model asks", "agentd inbox "+name+" --answer TEXT --etag ")
	w.run("inbox", "--addr", socket, name, "--answer", "Rome").want(t, 2, "--etag ETAG", "nothing was decided")
	w.run("inbox", "--addr", socket, name, "--answer", "Rome", "--etag", "old").want(t, 3, "is not what was shown")
	w.run("inbox", "--addr", socket, "--approve").want(t, 2, "name the decision")
	w.run("inbox", "--addr", socket, name, "--etag", "old").want(t, 2, "say what is decided")
	var seen struct{ Etag string }
	if err := json.Unmarshal([]byte(w.run("inbox", "--addr", socket, name, "-o", "json").stdout.String()), &seen); err != nil || seen.Etag == "" {
		t.Fatalf("the etag is %+v, %v", seen, err)
	}
	w.run("inbox", "--addr", socket, name, "--answer", "Oslo", "--etag", seen.Etag).want(t, 0, name+": answered")
	w.run("inbox", "--addr", socket, name, "--reject", "--etag", seen.Etag).want(t, 3, "was made before", `the text "Oslo"`)
	if code := ended(); code != 0 || !strings.Contains(run.stdout.String(), "You said Oslo") {
		t.Errorf("the run ended with %d\n%s\n%s", code, run.stdout, run.stderr)
	}
	w.run("inbox", "--addr", socket, name).want(t, 0, "answer, Oslo")
	w.run("inbox", "mine", "--addr", socket).want(t, 0, name, "answer the model", "answered", "the standing approvals are missing: this toolhost stores no standing approvals")
	w.run("inbox", "mine", "--addr", socket, "-o", "json").want(t, 0, `{"decision":{"name":"`+name+`"`, `"text":"Oslo"`)
	w.run("inbox", "mine", "--addr", socket, "--limit", "-1").want(t, 2, "0 is all")
	w.run("inbox", "revoke", "approval-1", "--addr", socket).want(t, 3, "this toolhost stores no standing approvals")
	inbox.stdout.until(t, "waits no more")
	asJSON.stdout.until(t, `"waiting":false`)
	leave()
	leaveJSON()
	if left() != 0 || leftJSON() != 0 || strings.Count(inbox.stdout.String(), name) != 2 {
		t.Errorf("the inbox was\n%s%s%s", inbox.stdout, inbox.stderr, asJSON.stderr)
	}
	w.run("inbox", "--addr", socket, "-o", "json").want(t, 0)
	interrupt()
	if code := wait(); code != 0 {
		t.Errorf("exit code %d\n%s", code, server.stderr)
	}
	w.run("inbox", "mine", "--journal", filepath.Join(w.folder, "served.db")).want(t, 0, name, "answered", "toolhost approvals list")
}
