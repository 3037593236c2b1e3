package agentconfig_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/agentconfig"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
)

// everyKey is a file with every key, each with a value other than its default.
const everyKey = `
listen: unix:///run/a.sock
toolhost: 127.0.0.1:7000
state: state
journal: postgres://agentd@db.example/agentd
nodes: {listen: "10.0.0.6:7445", address: "{ip}:7445", tls: {certificate: node.pem, key: /node.key, ca: nodes-ca.pem, server_name: agents}}
engine: temporal
temporal: {address: "temporal.example:7233", namespace: prod, task_queue: team, tls: {ca: ca.pem, certificate: c.pem, key: k.pem, server_name: t.example}, api_key: {file: key}}
audit: {file: a.jsonl, max_bytes: 2MiB, keep_files: 3}
log: {level: debug, levels: {tools: info}, format: json}
http: {listen: "0.0.0.0:82", tls: {certificate: c.pem, key: /k.pem}}
telemetry: {listen: "127.0.0.1:9465", endpoint: "http://127.0.0.1:4317", traces: {sample_ratio: 0.5}}
model: big
models:
  big: {provider: anthropic, model: m, base_url: "https://a.example/v1", api_key_env: KEY, window: 2000, thinking: 4096, tools: text, price: {input: 3, output: 15, cache_read: 0.3, cache_write: 3.75}}
  demo: {provider: scripted, model: demo.yaml}
system_prompt: "be\nbrief"
memory: [AGENTS.md, "workspace:docs/AGENTS.md"]
memory_max_bytes: 3KiB
tool_statistics: tenant
explicit_completion: true
system_tools: [attempt_completion]
agent: research
agents:
  research:
    description: It looks things up.
    instructions: "Work for ${context.tenant}."
    memory: [/house.md]
    tool_statistics: all
    model: big
    fallbacks: ["scripted:b.yaml"]
    temperature: 0.5
    top_p: 0.9
    effort: high
    tools: {names: [a, b], categories: [c], tags: [t], plugins: [p], excluded: [x], dangerous: false, max_cost_per_use: 3, max_tools: 5}
    system_tools: [ask_user]
    limits: {max_turns: 1, max_calls: 2, max_response_tokens: 3, max_tokens: 4, max_wall_time: 6s, max_output: 7KiB, max_failures: 8, max_timeouts: 9, max_repeats: 11}
    delegates_to: [research, writing]
    sub_runs: 2
    explicit_completion: true
  writing: {instructions_file: w.md, limits: {max_cost: 0.5}}
limits:
  {max_turns: 1, max_calls: 2, max_response_tokens: 3, max_tokens: 4, max_cost: 0.5, max_wall_time: 6s, max_output: 7KiB, max_failures: 8, max_timeouts: 9, max_repeats: 11}
max_runs: 12
model_idle: 90s
sub_runs: none
compaction: {clear_at: 0.1, summarize_at: 0.2, keep: 4}
quotas:
  tenant: {runs: 20, starts_per_minute: 30, tokens_per_day: 1000000, cost_per_day: 50}
  principal: {runs: 4}
  tenants: {red: {runs: 40}}
  principals: {red/ada: {cost_per_day: 2.5}}
approvals: {headless: never, expiry: 2h, unknown_outcome: ask}
notify:
  targets:
    ops: {kind: webhook, url: "https://127.0.0.1/x", keys: [{file: k1}, {env: K2}], allow_private: true}
    chat: {kind: slack, secret_url: {file: chat.url}}
    phone: {kind: ntfy, url: "https://ntfy.example/t", token: {env: NTFY}}
    mail: {kind: command, command: [/usr/bin/tell, ops]}
  routes:
    - {on: [waiting, ending], tenants: [red], agents: [research], rules: [shell], to: [ops, chat], arguments: true, remind: 30m}
    - {on: [failed, finished, unknown, budget], to: [phone, mail]}
tools: {ask_user: {plugin: forms}, buy: {effects: [basket]}}
`

func parse(t *testing.T, text string) agentconfig.Config {
	t.Helper()
	c, err := agentconfig.Parse("/etc/agentd.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestEveryKeyMeansSomething(t *testing.T) {
	c := parse(t, everyKey)
	choice, err := c.Choose("")
	read, write := 0.3, 3.75
	want := agentconfig.Choice{
		Name: "anthropic:m", BaseURL: "https://a.example/v1", APIKeyEnv: "KEY", Window: 2000, Thinking: 4096, TextTools: true,
		Price: &model.Price{Input: 3, Output: 15, CacheRead: &read, CacheWrite: &write},
	}
	if diff := cmp.Diff(want, choice); err != nil || diff != "" {
		t.Errorf("the model: %v (-want +got):\n%s", err, diff)
	}
	if choice, err = c.Choose("demo"); err != nil || choice.Name != "scripted:/etc/demo.yaml" || choice.Price != nil || choice.TextTools {
		t.Errorf("a script: %+v, %v", choice, err)
	}
	if choice, err = c.Choose("openai:gpt"); err != nil || choice.Name != "openai:gpt" {
		t.Errorf("a provider's name: %+v, %v", choice, err)
	}
	if _, err := c.Choose("huge"); err == nil || !strings.Contains(err.Error(), "big, demo") {
		t.Errorf("an unknown name: %v", err)
	}
	limits := loop.Limits{
		MaxTurns: 1, MaxCalls: 2, MaxResponseTokens: 3, MaxTokens: 4, MaxCost: 0.5, MaxWallTime: 6 * time.Second, MaxOutput: 7 << 10,
		MaxFailures: 8, MaxTimeouts: 9, MaxRepeats: 11,
	}
	if diff := cmp.Diff(limits, c.Limits.Agent()); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
	if got := c.Approvals.People(false); got != (loop.People{Attended: true, Expiry: 2 * time.Hour, AskOutcome: true}) {
		t.Errorf("people: %+v", got)
	}
	if got := c.Compaction.Window(want.Window); got != (loop.Window{Tokens: 2000, ClearAt: 0.1, SummarizeAt: 0.2, Keep: 4}) || c.SubRunLevels() >= 0 {
		t.Errorf("compaction: %+v", got)
	}
	no, three := false, 3.0
	a := c.Agents[c.Agent]
	named, err := a.Named("")
	if err != nil || named.Instructions == nil || !slices.Equal(named.Instructions.Keys(), []string{"tenant"}) {
		t.Errorf("the instructions: %+v, %v", named.Instructions, err)
	}
	limits.MaxCost, named.Instructions = 0, nil
	wanted := agent.NamedAgent{
		Description: "It looks things up.", Models: []string{"big", "scripted:/etc/b.yaml"}, Sampling: model.Sampling{Temperature: new(0.5), TopP: new(0.9), Effort: "high"},
		Tools: loop.ToolChoice{
			Names: []string{"a", "b"}, Categories: []string{"c"}, Tags: []string{"t"}, Plugins: []string{"p"}, Excluded: []string{"x"},
			Dangerous: &no, MaxCostPerUse: &three, MaxTools: 5,
		},
		SystemTools: []string{"ask_user"}, ToolStatistics: agent.StatisticsAll, Limits: limits, SubRuns: 2, Delegates: []string{"research", "writing"}, ExplicitCompletion: new(true),
	}
	if diff := cmp.Diff(wanted, named); diff != "" {
		t.Errorf("the agent (-want +got):\n%s", diff)
	}
	if w := c.Agents["writing"]; w.InstructionsFile != "/etc/w.md" || w.Limits.MaxCost != 0.5 {
		t.Errorf("the other agent: %+v", w)
	}
	memory := [][]string{c.Memory, a.Memory}
	if diff := cmp.Diff([][]string{{"/etc/AGENTS.md", "workspace:docs/AGENTS.md"}, {"/house.md"}}, memory); diff != "" || c.MemoryMaxBytes != 3<<10 {
		t.Errorf("the memory files, of %d bytes (-want +got):\n%s", c.MemoryMaxBytes, diff)
	}
	if diff := cmp.Diff([]string{"big", "demo", "scripted:/etc/b.yaml"}, c.NamedModels()); diff != "" {
		t.Errorf("the models (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"ask_user": "forms"}, c.SystemToolPlugins()); diff != "" {
		t.Errorf("plugins of system tools (-want +got):\n%s", diff)
	}
	if err := c.NoAgent("cooking"); !strings.Contains(err.Error(), "research") {
		t.Errorf("an unknown agent: %v", err)
	}
	if c.Listen != "unix:///run/a.sock" || c.State != "/etc/state" || c.Journal != "postgres://agentd@db.example/agentd" || c.Engine != agentconfig.EngineTemporal || c.MaxRuns != 12 || c.ModelIdle != 90*time.Second || !c.ExplicitCompletion {
		t.Errorf("got %+v", c)
	}
}

func TestWithoutAFile(t *testing.T) {
	c := agentconfig.Default()
	if choice, err := c.Choose(""); err != nil || choice != (agentconfig.Choice{}) {
		t.Errorf("the model: %+v, %v", choice, err)
	}
	for _, present := range []bool{false, true} {
		if got := c.Approvals.People(present); got != (loop.People{Attended: present, Expiry: 24 * time.Hour}) {
			t.Errorf("people: %+v", got)
		}
	}
	if diff := cmp.Diff([]string{loop.SystemAskUser, loop.SystemNewTask, loop.SystemCompact}, c.OfferedSystemTools()); diff != "" {
		t.Errorf("system tools: %s", diff)
	}
	c.SystemTools = []string{}
	if len(c.OfferedSystemTools()) != 0 {
		t.Error("none is one")
	}
}

func TestJournalInAFile(t *testing.T) {
	if c := parse(t, "journal: runs/a.db"); c.Journal != "/etc/runs/a.db" || c.Engine != "local" {
		t.Errorf("the journal %s, the engine %s", c.Journal, c.Engine)
	}
}

// The files of Temporal are relative to the file that names them, and are checked by their keys.
func TestTemporal(t *testing.T) {
	c := parse(t, everyKey)
	want := map[string]string{"temporal.tls.ca": "/etc/ca.pem", "temporal.tls.certificate": "/etc/c.pem", "temporal.tls.key": "/etc/k.pem", "temporal.api_key.file": "/etc/key"}
	if diff := cmp.Diff(want, c.Temporal.Files()); diff != "" || !c.Temporal.Secure() {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, text := range []string{`{address: "127.0.0.1:7233"}`, `{address: "localhost:7233", tls: {server_name: t}}`, `{address: "temporal:7233", plaintext: true}`, `{address: "t.example:7233", api_key: {env: KEY}}`} {
		parse(t, "engine: temporal\njournal: postgres://a@db.example/runs\ntemporal: "+text)
	}
}

func TestWhatIsShownMeansTheSame(t *testing.T) {
	for _, text := range []string{"", everyKey, "system_tools: []"} {
		c := parse(t, text)
		again := parse(t, string(c.YAML()))
		if diff := cmp.Diff(c, again); diff != "" {
			t.Errorf("(-was +is):\n%s\n%s", diff, c.YAML())
		}
	}
}

// In each file of testdata/errors, comments after the YAML list the errors of the file. Run the
// test with -update to rewrite them.
func TestErrors(t *testing.T) {
	files, err := filepath.Glob("testdata/errors/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text, _, _ := strings.Cut(string(want), "#!")
			_, err = agentconfig.Parse("agentd.yaml", []byte(text))
			found, ok := errors.AsType[yamldoc.Errors](err)
			if !ok {
				t.Fatalf("got the error %v, want what is wrong with the file", err)
			}
			got := text
			for _, e := range found {
				got += "#! " + e.Error() + "\n"
			}
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("(-golden +now):\n%s", diff)
			}
		})
	}
}
