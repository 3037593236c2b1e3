//go:build more

package console_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/testkit/shortdir"
	"github.com/toolhost/toolhost/internal/testkit/syncbuf"
	"github.com/toolhost/toolhost/server/internal/e2e/programs"
)

// site is a toolhost and an agentd with pages.
type site struct {
	t     *testing.T
	dir   string
	agent *client.AgentClient
	// rules are those of the operator. The first of them that fits counts.
	rules []rule
	// tasks are what the model does for the prompts "0;", "1;" and so on.
	tasks []task
}

type rule struct {
	Name   string `json:"name"`
	When   string `json:"when"`
	Then   string `json:"then"`
	Reason string `json:"reason"`
}

// task is one turn of the model, after which the run ends.
type task []call

type call struct {
	tool      string
	arguments map[string]any
}

// write writes a value into a file of the site as JSON, which is also YAML.
func (s *site) write(name string, value any) string {
	s.t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		s.t.Fatal(err)
	}
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

type object map[string]any

// script writes the model's answers. A template whose only part is a text in quotes is that text.
func (s *site) script() string {
	var tasks []object
	for i, task := range s.tasks {
		var calls []object
		for _, c := range task {
			data, err := json.Marshal(c.arguments)
			if err != nil {
				s.t.Fatal(err)
			}
			calls = append(calls, object{"tool": c.tool, "arguments_raw": "{{" + strconv.QuoteToASCII(string(data)) + "}}"})
		}
		tasks = append(tasks, object{"prompt": strconv.Itoa(i) + ";", "turns": []object{{"calls": calls}, {"text": "done"}}})
	}
	return s.write("script.yaml", object{"turns": []object{{"text": "nothing to do"}}, "tasks": tasks})
}

// newSite starts the servers. They end with the test.
func newSite(t *testing.T, rules []rule, tasks ...task) *site {
	t.Helper()
	s := &site{t: t, dir: shortdir.Make(t), rules: rules, tasks: tasks}
	workspace := filepath.Join(s.dir, "workspace")
	if err := os.Mkdir(workspace, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(workspace, "deploy.yaml"), []byte("image: shop\nreplicas: 2\nport: 80\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.start("toolhost", "--config", s.write("toolhost.yaml", object{"policy": object{"rules": rules}}), "--listen", s.socket("t"),
		"--plugins", filepath.Join(bin, "plugins"), "--state", filepath.Join(s.dir, "state"), "--workspace", workspace)
	s.start("agentd", "--config", s.write("agentd.yaml", object{"console": object{"listen": "127.0.0.1:0"}}), "--listen", s.socket("a"),
		"--toolhost", s.socket("t"), "--journal", filepath.Join(s.dir, "runs.db"), "--model", "scripted:"+s.script())
	a, err := client.DialAgent(s.socket("a"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	s.agent = a
	return s
}

func (s *site) socket(name string) string { return "unix://" + filepath.Join(s.dir, name+".sock") }

func (s *site) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(bin, name), args...)
	cmd.Dir, cmd.Env = filepath.Join(s.dir, "workspace"), []string{"HOME=" + s.dir, "PATH=/usr/bin:/bin", "TMPDIR=" + s.dir}
	return cmd
}

func (s *site) start(name string, args ...string) {
	s.t.Helper()
	cmd, log := s.command(name, append([]string{"serve"}, args...)...), &syncbuf.Buffer{}
	cmd.Stderr = log
	line, exited, err := programs.Start(cmd)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // fails if the process has exited
		<-exited
		if s.t.Failed() {
			s.t.Logf("%s's log:\n%s", name, log)
		}
	})
	if line == "" {
		s.t.Fatalf("%s does not start:\n%s", name, log)
	}
}

// run starts the run of a task, and returns its id when it waits for a person as often as the task
// has calls. words follow the number of the task in the prompt.
func (s *site) run(number int, words string) string {
	s.t.Helper()
	id, err := s.agent.StartRun(s.t.Context(), client.Task{Prompt: strconv.Itoa(number) + "; " + words, RunID: "run-" + strconv.Itoa(number), People: &client.People{Attended: true}})
	if err != nil {
		s.t.Fatal(err)
	}
	waits := len(s.tasks[number])
	for e, err := range s.agent.WatchRun(s.t.Context(), id, 0) {
		if err != nil {
			s.t.Fatal(err)
		}
		if e.Type == "decision_requested" {
			waits--
		}
		if waits == 0 {
			return id
		}
	}
	s.t.Fatalf("the run %s ended and asked nobody", id)
	return ""
}

// code returns the address of the pages and a code for the login.
func (s *site) code() (url, code string) {
	s.t.Helper()
	cmd, problem := s.command("agentd", "console", "--addr", s.socket("a"), "-o", "json"), &syncbuf.Buffer{}
	cmd.Stderr = problem
	out, err := cmd.Output()
	var printed struct{ URL, Code string }
	if err == nil {
		err = json.Unmarshal(out, &printed)
	}
	if err != nil {
		s.t.Fatal(err, problem)
	}
	return printed.URL, printed.Code
}

// outcome returns what a run did after the verdicts: the text of the first result of a tool.
func (s *site) verdict(name string) client.Verdict {
	s.t.Helper()
	d, err := s.agent.InboxDecision(s.t.Context(), name)
	if err != nil {
		s.t.Fatal(err)
	}
	if d.Waiting {
		return ""
	}
	return d.Made.Verdict
}
