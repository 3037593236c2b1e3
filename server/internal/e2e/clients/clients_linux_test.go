//go:build clients

package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/testkit/syncbuf"
	"github.com/toolhost/toolhost/server/internal/e2e/programs"
)

// bin is the folder with toolhost and agentd.
var bin = os.Getenv(aloneVariable)

// build builds the programs into a new folder, bin.
func build() (err error) {
	if bin, err = os.MkdirTemp("", "clients-"); err != nil {
		return err
	}
	return programs.Build(context.Background(), bin, "./cmd/toolhost", "./cmd/agentd")
}

// patience limits the run of a client, so that a hang fails the test.
const patience = 5 * time.Minute

const (
	prompt     = "Watch the birds."        // the first message of each conversation
	conclusion = "I have seen 4411 birds." // the last one
	waits      = 20                        // how long each client waits for a result, in seconds
)

// client is an MCP client.
type client struct {
	dialect  dialect
	program  string   // a file in node_modules, as a pattern
	args     []string // in a run without a user
	env      []string // {model} is the address of the model
	files    map[string]string
	file     string // what mcp connect changed
	head     string // the beginning of the entry in it, to which timeout is added
	timeout  string
	declines bool // it answers a question for its user with a no
}

// clients are the clients by their names for `toolhost mcp connect`.
var clients = map[string]client{
	"claude": {
		dialect: anthropic, program: "@anthropic-ai/claude-code-linux-*/claude",
		args: []string{"-p", prompt, "--allowedTools", "mcp__toolhost"},
		env: []string{"ANTHROPIC_BASE_URL={model}", "ANTHROPIC_API_KEY=none", "ENABLE_TOOL_SEARCH=false", fmt.Sprintf("MCP_TOOL_TIMEOUT=%d000", waits),
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"},
	},
	"codex": {
		dialect: responses, program: "@openai/codex-linux-*/vendor/*/bin/codex",
		args: []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", prompt},
		env:  []string{"KEY=none"},
		files: map[string]string{".codex/config.toml": "model = \"fake\"\nmodel_provider = \"fake\"\n[model_providers.fake]\nname = \"fake\"\nbase_url = \"{model}/v1\"\n" +
			"env_key = \"KEY\"\nwire_api = \"responses\"\n"},
		file: ".codex/config.toml", head: "[mcp_servers.toolhost]\n", timeout: fmt.Sprintf("tool_timeout_sec = %d\n", waits),
		declines: true,
	},
	"gemini": {
		dialect: gemini, program: "@google/gemini-cli/bundle/gemini.js",
		args:  []string{"-m", "gemini-2.5-flash", "-p", prompt, "--yolo", "--skip-trust"},
		env:   []string{"GOOGLE_GEMINI_BASE_URL={model}", "GEMINI_API_KEY=none"},
		files: map[string]string{".gemini/settings.json": `{"security": {"auth": {"selectedType": "gemini-api-key"}}}`},
		file:  ".gemini/settings.json", head: `"toolhost": {`, timeout: fmt.Sprintf(`"timeout": %d000, `, waits),
	},
	"opencode": {
		dialect: chat, program: "opencode-linux-*/bin/opencode",
		args: []string{"run", prompt},
		env:  []string{"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1"},
		files: map[string]string{".config/opencode/opencode.json": `{"model": "fake/fake", "small_model": "fake/fake", "provider": {"fake": {"npm": "@ai-sdk/openai-compatible", ` +
			`"options": {"baseURL": "{model}/v1", "apiKey": "none"}, "models": {"fake": {"tool_call": true}}}}}`},
		file: ".config/opencode/opencode.json", head: `"toolhost": {`, timeout: fmt.Sprintf(`"timeout": %d000, `, waits),
	},
}

// step is a call in the conversation, and what the model must read of its result, without blanks.
type step struct {
	tool      string
	arguments object
	want      []string
	before    func(results []string) error // what happens before the call
}

var callName = regexp.MustCompile(`calls/[a-z0-9]+`)

// steps returns the conversation of a client.
func (h *host) steps(c client) []step {
	give := func(kind string, want ...string) step {
		return step{tool: "give", arguments: object{"kind": kind}, want: want}
	}
	all := []step{
		give("text", "apelicanand7319herons"),
		give("number", "6227020800"),
		give("object", `"bird":"ibis"`, `"legs":2`),
		give("list", `{"bird":"stork"},{"bird":"crane"}`),
		give("object and text", `{"exit_code":86}`, "stdout:thebitternbooms"),
		give("list and text", "[5040,40320]", "andtheegret"),
		{tool: "linger", arguments: object{}},
		{tool: "canceled", arguments: object{}, want: []string{"theheronleft"}},
	}
	if c.declines {
		return append(all, step{tool: "launch", arguments: object{"rocket": "kestrel"}, want: []string{"didnotapprove"}})
	}
	for _, by := range []struct {
		rocket  string
		approve func(name string) error
	}{{"kestrel", h.approve}, {"merlin", h.approveAtPage}} {
		rocket := object{"rocket": by.rocket}
		all = append(all,
			step{tool: "launch", arguments: rocket, want: []string{"toolhostapprovalsapprove"}},
			step{tool: "launch", arguments: rocket, want: []string{by.rocket + "fliesat27997"}, before: func(results []string) error {
				return by.approve(callName.FindString(results[len(results)-1]))
			}})
	}
	return all
}

func TestClients(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can keep the clients from the network")
	}
	for name, c := range clients {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.test(t, name)
		})
	}
}

func (c client) test(t *testing.T, name string) {
	found, err := filepath.Glob(filepath.Join("node_modules", c.program))
	if err != nil || len(found) == 0 {
		t.Fatalf("%s is not installed, or not made for this machine; run make clients", name)
	}
	program, err := filepath.Abs(found[0])
	if err != nil {
		t.Fatal(err)
	}
	h := serve(t)
	steps := h.steps(c)
	m := &model{dialect: c.dialect}
	m.next = func(r request) (*call, string) { return c.next(t, steps, r) }
	server := httptest.NewServer(m)
	defer server.Close()
	for file, text := range c.files {
		write(t, filepath.Join(h.home, file), strings.ReplaceAll(text, "{model}", server.URL))
	}
	if out, err := h.toolhost("mcp", "connect", name); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c.limit(t, h.home)

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, c.args...)
	if strings.HasSuffix(program, ".js") {
		cmd = exec.CommandContext(ctx, "node", append([]string{program}, c.args...)...)
	}
	cmd.Dir, cmd.WaitDelay = h.work, 10*time.Second
	cmd.Env = append(h.env(), strings.Split(strings.ReplaceAll(strings.Join(c.env, "\n"), "{model}", server.URL), "\n")...)
	out, err := cmd.CombinedOutput()
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil || !strings.Contains(string(out), conclusion) {
		t.Errorf("the client ended with %v and printed:\n%s", err, out)
	}
	if t.Failed() || testing.Verbose() {
		t.Logf("the model saw:\n%s\ntoolhost wrote:\n%s", strings.Join(m.seen, "\n"), h.log)
	}
}

// next checks the last result of a conversation, and returns the next call or the end.
func (c client) next(t *testing.T, steps []step, r request) (*call, string) {
	done := len(r.results)
	if done > 0 && done <= len(steps) {
		checkResult(t, steps[done-1], r.results[done-1])
	}
	if done >= len(steps) {
		return nil, conclusion
	}
	s := steps[done]
	i := slices.IndexFunc(r.tools, func(c call) bool { return strings.HasSuffix(c.name, s.tool) })
	if i < 0 {
		t.Errorf("the tool %s is not offered; these are: %+v", s.tool, r.tools)
		return nil, conclusion
	}
	if s.before != nil {
		if err := s.before(r.results); err != nil {
			t.Error(err)
		}
	}
	next := r.tools[i]
	next.id, next.arguments = fmt.Sprintf("call%d", done), s.arguments
	return &next, ""
}

// checkResult checks that the model reads in a result what the tool returned. A client may have put
// it into JSON as a text.
func checkResult(t *testing.T, s step, result string) {
	t.Helper()
	read := strings.NewReplacer(" ", "", `\n`, "", `\`, "").Replace(result)
	for _, want := range s.want {
		if !strings.Contains(read, want) {
			t.Errorf("the result of %s %v is %s, want %s in it", s.tool, s.arguments, result, want)
		}
	}
}

// limit sets the time after which a client gives up a call.
func (c client) limit(t *testing.T, home string) {
	t.Helper()
	if c.file == "" {
		return // a variable says it
	}
	path := filepath.Join(home, c.file)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), c.head) {
		t.Fatalf("no entry in %s", data)
	}
	write(t, path, strings.Replace(string(data), c.head, c.head+c.timeout, 1))
}

// host is a running toolhost, an agentd with pages in front of it, and the home folder of their
// user and of the client.
type host struct {
	home, work, addr string
	log              *syncbuf.Buffer
}

// serve starts a toolhost with the plugin of the tests, and an agentd, until the test ends.
func serve(t *testing.T) *host {
	t.Helper()
	home, err := os.MkdirTemp("/tmp", "client-") // the path of a socket has to be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	h := &host{home: home, work: filepath.Join(home, "work"), addr: "unix://" + home + "/t.sock", log: &syncbuf.Buffer{}}
	self, err := os.ReadFile("/proc/self/exe")
	plugin := filepath.Join(home, "plugins", pluginName)
	write(t, plugin, string(self))
	write(t, filepath.Join(h.work, "empty"), "")
	if err := errors.Join(err, os.Chmod(plugin, 0o700)); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(home, "toolhost.yaml"), fmt.Sprintf("listen: %[2]s\nplugins: [%[1]s/plugins]\nstate: %[1]s/state\nworkspace: %[1]s/work\nnew_plugins: allow\n", home, h.addr))
	write(t, filepath.Join(home, "script.yaml"), "turns: [{text: nothing to do}]\n")
	write(t, filepath.Join(home, "agentd.yaml"), fmt.Sprintf("listen: unix://%[1]s/a.sock\ntoolhost: %[2]s\njournal: %[1]s/runs.db\nmodel: scripted:%[1]s/script.yaml\n"+
		"console: {listen: 127.0.0.1:0}\n", home, h.addr))
	for _, name := range []string{"toolhost", "agentd"} {
		cmd := exec.Command(filepath.Join(bin, name), "serve", "--config", filepath.Join(home, name+".yaml"))
		cmd.Env, cmd.Dir, cmd.Stderr = h.env(), home, h.log
		line, exited, err := programs.Start(cmd)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Signal(os.Interrupt)
			<-exited
		})
		if line == "" {
			t.Fatalf("%s does not start:\n%s", name, h.log)
		}
	}
	return h
}

// env returns the environment of the programs of a test.
func (h *host) env() []string {
	return []string{"HOME=" + h.home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + h.home, "TOOLHOST_ADDR=" + h.addr}
}

// toolhost runs a command of toolhost.
func (h *host) toolhost(args ...string) ([]byte, error) { return h.run("toolhost", args...) }

// run runs a command of a program.
func (h *host) run(name string, args ...string) ([]byte, error) {
	cmd := exec.Command(filepath.Join(bin, name), args...)
	cmd.Env = h.env()
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, errs.String())
	}
	return out, err
}

// approve approves a call that waits, as a person does who has seen it.
func (h *host) approve(name string) error {
	out, err := h.toolhost("approvals", "pending", name, "-o", "json")
	if err != nil {
		return err
	}
	var shown struct{ Etag string }
	if err := json.Unmarshal(out, &shown); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	_, err = h.toolhost("approvals", "approve", name, "--etag", shown.Etag)
	return err
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
