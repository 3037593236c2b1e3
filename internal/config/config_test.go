package config_test

import (
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/config"
	"github.com/toolhost/toolhost/internal/host/lifecycle"
	"github.com/toolhost/toolhost/internal/yamldoc"
)

func parse(t *testing.T, text string) config.Config {
	t.Helper()
	c, err := config.Parse("/etc/toolhost/toolhost.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDefaults(t *testing.T) {
	want := config.Config{
		LockFile: "toolhost.lock", NewPlugins: "ask",
		Log:    config.Log{Level: "info", Format: "text"},
		Launch: config.Launch{Parallel: 4, Timeout: 30 * time.Second, Waiting: 8},
		Calls: config.Calls{
			DefaultTimeout: 30 * time.Second, MaxTimeout: 10 * time.Minute, YieldTimeout: 5 * time.Second,
			ArgumentsTimeout: 2 * time.Minute, MaxArgumentBytes: 16 << 20, MisspelledArguments: "report", OutputSchemas: "refuse", MaxResultBytes: 64 << 20,
		},
		Audit:   config.Audit{Log: "decisions"},
		Ledger:  config.Ledger{MaxEntries: 10_000, MemoryBytes: 64 << 20, MaxBytes: 256 << 20, KeepResults: 24 * time.Hour, KeepIDs: 7 * 24 * time.Hour, MaxIDs: 1_000_000},
		Results: config.Results{ShownBytes: 4 << 10}, Artifacts: config.Artifacts{MaxBytes: 1 << 30, MaxCount: 10_000, MaxAge: 7 * 24 * time.Hour},
		Events: config.Events{Kept: 10_000},
		Logs:   config.Logs{LinesPerPlugin: 2000, LineBytes: 8 << 10, LinesPerSecond: 1000, MaxBytes: 64 << 20, ExitsKept: 10},
		Reload: config.Reload{Watch: true},
		Defaults: config.PluginSettings{
			Isolation: lifecycle.Shared, Prewarmed: 1, MaxQueue: 1024, IdleTimeout: 5 * time.Minute, DrainTimeout: 30 * time.Second,
			Backoff:     config.Backoff{Initial: 200 * time.Millisecond, Max: 30 * time.Second},
			Quarantine:  config.Quarantine{Crashes: 5, Window: 10 * time.Minute, ProbeAfter: 5 * time.Minute},
			StableAfter: 10 * time.Second,
			Limits:      config.Limits{Memory: yamldoc.Auto, Processes: 1024, Enforcement: "best_effort"},
			Sandbox:     config.Sandbox{Mode: "auto", Workspace: "write"},
		},
	}
	if diff := cmp.Diff(want, config.Default()); diff != "" {
		t.Errorf("without a file (-want +got):\n%s", diff)
	}
	want.LockFile = "/etc/toolhost/toolhost.lock"
	for _, text := range []string{"", "# nothing\n", "---\n", "null\n", "log:\nlaunch:\ndefaults:\n  env:\n  backoff:\nplugin:\n", "{}"} {
		if diff := cmp.Diff(want, parse(t, text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

// everyKey is a file with every key, each with a value other than its default.
const everyKey = `
listen: unix:///run/t.sock
plugins: [plugins, ../shared, /opt/plugins/]
state: state
workspace: ./w/../work
insecure: true
new_plugins: allow
locked: true
lock_file: locks/a.lock
log: {level: debug, format: json}
launch: {parallel: 8, timeout: 1m, waiting: 3}
calls: {default_timeout: 1s, max_timeout: 2s, yield_timeout: 3ms, arguments_timeout: 4s, max_argument_bytes: 2048, misspelled_arguments: refuse, output_schemas: warn, max_result_bytes: 1GiB}
memory: {in_flight: 100MiB, in_flight_per_principal: 17MiB}
policy:
  rules:
    - {name: a, when: true, then: allow, reason: "it's \"so\": #1"}
    - name: b
      then: require_approval
      when: |
        tool.dangerous &&
          tool.name == "x"
audit: {file: logs/audit.jsonl, log: all}
filters:
  - {filter: f, tools: [a, "b_*"], tags: [c], when_it_fails: skip, timeout: 1s}
  - filter: g
secrets:
  TOKEN: {env: MY_TOKEN, plugins: [a, b]}
  key: {file: keys/k, plugins: []}
results: {shown_bytes: 3KiB}
artifacts: {max_bytes: 2MiB, max_count: 23, max_age: 4h}
ledger: {max_entries: 5, memory_bytes: 3MiB, max_bytes: "2GiB", keep_results: 2h, keep_ids: 3h, max_ids: 17}
events: {kept: 6}
logs: {lines_per_plugin: 7, line_bytes: 512B, lines_per_second: 9, max_bytes: 2MiB, exits_kept: 8}
reload: {watch: false}
defaults:
  disabled: true
  isolation: call
  min_instances: 1
  max_instances: 4
  prewarmed: 0
  max_calls_per_instance: 3
  max_queue: 9
  idle_timeout: never
  recycle_after_calls: 100
  recycle_after_age: 24h
  drain_timeout: 4s
  backoff: {initial: 1s, max: 2s}
  quarantine: {crashes: never, window: 1h, probe_after: never}
  stable_after: 11s
  limits: {memory: 512MiB, cpus: .5, processes: 64, open_files: 256, file_size: 1TiB, enforcement: required}
  sandbox: {mode: required, network: true, workspace: read, read: [/opt/data, ../models], write: [out]}
  pass_env: [HTTPS_PROXY]
  env: {A: text, B: 1.0, C: true, D: "", E: $HOME, F: "null"}
plugin:
  fs: {env: {A: other}, max_queue: 1}
  plain: {}
tools:
  read:
    disabled: true
    plugin: fs
    rename: fs_read
    description: "Reads: a file."
    category: files
    tags: [a, b]
    dangerous: true
    strict: false
    timeout: 5s
    rate_limit_per_minute: 7
    max_concurrent: 3
    cost_per_use: 0.25
  fs.write: {tags: [], rate_limit_per_minute: unlimited, cost_per_use: 0}
  plain: {}
`

func TestEveryKey(t *testing.T) {
	got := parse(t, everyKey)
	want := config.Config{
		Listen:     "unix:///run/t.sock",
		Folders:    []string{"/etc/toolhost/plugins", "/etc/shared", "/opt/plugins"},
		State:      "/etc/toolhost/state",
		Workspace:  "/etc/toolhost/work",
		Insecure:   true,
		NewPlugins: "allow", Locked: true, LockFile: "/etc/toolhost/locks/a.lock",
		Log:    config.Log{Level: "debug", Format: "json"},
		Launch: config.Launch{Parallel: 8, Timeout: time.Minute, Waiting: 3},
		Calls: config.Calls{
			DefaultTimeout: time.Second, MaxTimeout: 2 * time.Second, YieldTimeout: 3 * time.Millisecond,
			ArgumentsTimeout: 4 * time.Second, MaxArgumentBytes: 2048, MisspelledArguments: "refuse", OutputSchemas: "warn", MaxResultBytes: 1 << 30,
		},
		Memory: config.Memory{InFlight: 100 << 20, InFlightPerPrincipal: 17 << 20},
		Policy: config.Policy{Rules: []config.Rule{
			{Name: "a", When: "true", Then: "allow", Reason: `it's "so": #1`},
			{Name: "b", When: "tool.dangerous &&\n  tool.name == \"x\"\n", Then: "require_approval"},
		}},
		Audit: config.Audit{File: "/etc/toolhost/logs/audit.jsonl", Log: "all"},
		Filters: []config.Filter{
			{Filter: "f", Tools: []string{"a", "b_*"}, Tags: []string{"c"}, WhenItFails: "skip", Timeout: time.Second},
			{Filter: "g", WhenItFails: "fail", Timeout: 5 * time.Second},
		},
		Secrets: map[string]config.Secret{
			"TOKEN": {Env: "MY_TOKEN", Plugins: []string{"a", "b"}},
			"key":   {File: "/etc/toolhost/keys/k"},
		},
		Results: config.Results{ShownBytes: 3 << 10}, Artifacts: config.Artifacts{MaxBytes: 2 << 20, MaxCount: 23, MaxAge: 4 * time.Hour},
		Ledger: config.Ledger{MaxEntries: 5, MemoryBytes: 3 << 20, MaxBytes: 2 << 30, KeepResults: 2 * time.Hour, KeepIDs: 3 * time.Hour, MaxIDs: 17},
		Events: config.Events{Kept: 6},
		Logs:   config.Logs{LinesPerPlugin: 7, LineBytes: 512, LinesPerSecond: 9, MaxBytes: 2 << 20, ExitsKept: 8},
		Defaults: config.PluginSettings{
			Disabled: true, Isolation: lifecycle.PerCall, MinInstances: 1, MaxInstances: 4, MaxCallsPerInstance: 3, MaxQueue: 9,
			RecycleAfterCalls: 100, RecycleAfterAge: 24 * time.Hour, DrainTimeout: 4 * time.Second,
			Backoff:     config.Backoff{Initial: time.Second, Max: 2 * time.Second},
			Quarantine:  config.Quarantine{Window: time.Hour},
			StableAfter: 11 * time.Second,
			Limits: config.Limits{
				Memory: 512 << 20, CPUs: .5, Processes: 64, OpenFiles: 256, FileSize: 1 << 40, Enforcement: "required",
			},
			Sandbox: config.Sandbox{
				Mode: "required", Network: true, Workspace: "read", Read: []string{"/opt/data", "/etc/models"}, Write: []string{"/etc/toolhost/out"},
			},
			PassEnv: []string{"HTTPS_PROXY"},
			Env:     map[string]string{"A": "text", "B": "1.0", "C": "true", "D": "", "E": "$HOME", "F": "null"},
		},
	}
	fs := want.Defaults
	fs.MaxQueue, fs.Env = 1, maps.Clone(fs.Env)
	fs.Env["A"] = "other"
	want.ByPlugin = map[string]config.PluginSettings{"fs": fs, "plain": want.Defaults}
	want.Tools = map[string]config.ToolSettings{
		"read": {
			Disabled: new(true), Plugin: "fs", Rename: "fs_read", Description: "Reads: a file.", Category: "files", Tags: []string{"a", "b"},
			Dangerous: new(true), Strict: new(false), Timeout: new(5 * time.Second), RateLimitPerMinute: new(7), MaxConcurrent: new(3),
			CostPerUse: new(0.25),
		},
		"fs.write": {Tags: []string{}, RateLimitPerMinute: new(0), CostPerUse: new(0.0)},
		"plain":    {},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	again, err := config.Parse("/elsewhere/toolhost.yaml", got.YAML())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, again); diff != "" {
		t.Errorf("what is shown (-want +got):\n%s\n%s", diff, got.YAML())
	}
	if !strings.Contains(string(got.YAML()), "  \"fs\":\n    max_queue: 1\n    env:\n      \"A\": \"other\"\n  \"plain\":\n") {
		t.Errorf("of a plugin more is shown than differs:\n%s", got.YAML())
	}
}

// everyKey sets every field to a value other than its default, so that the test above covers new
// keys.
func TestEveryKeyIsTested(t *testing.T) {
	var compare func(name string, got, untouched reflect.Value)
	compare = func(name string, got, untouched reflect.Value) {
		for i := range got.NumField() {
			field := name + "." + got.Type().Field(i).Name
			if got.Field(i).Kind() == reflect.Struct {
				compare(field, got.Field(i), untouched.Field(i))
			} else if reflect.DeepEqual(got.Field(i).Interface(), untouched.Field(i).Interface()) {
				t.Errorf("the field %s has its default", field)
			}
		}
	}
	compare("Config", reflect.ValueOf(parse(t, everyKey)), reflect.ValueOf(config.Default()))
}

func TestAPluginReplacesTheDefaultsKeyByKey(t *testing.T) {
	// The order in the file does not matter.
	c := parse(t, `
plugin:
  fs:
    min_instances: 0
    idle_timeout: never
    backoff: {max: 1m}
    limits: {memory: unlimited}
    env: {A: of fs, C: "3"}
  other:
defaults:
  min_instances: 2
  max_instances: 4
  backoff: {initial: 1s}
  limits: {memory: 1GiB, cpus: 2}
  env: {A: "1", B: "2"}
`)
	want := c.Defaults
	want.MinInstances, want.IdleTimeout, want.Backoff.Max, want.Limits.Memory = 0, 0, time.Minute, 0
	want.Env = map[string]string{"A": "of fs", "B": "2", "C": "3"}
	if diff := cmp.Diff(want, c.Plugin("fs")); diff != "" {
		t.Errorf("fs (-want +got):\n%s", diff)
	}
	if want.Backoff.Initial != time.Second || want.Limits.CPUs != 2 {
		t.Errorf("the defaults are %+v", c.Defaults)
	}
	for _, name := range []string{"other", "unmentioned"} {
		got := c.Plugin(name)
		if diff := cmp.Diff(c.Defaults, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		got.Env["A"] = "changed"
	}
	if c.Defaults.Env["A"] != "1" || c.Plugin("other").Env["A"] != "1" {
		t.Error("who changes what Plugin returns changes the configuration")
	}
}

func TestLifecycle(t *testing.T) {
	// The defaults of toolhost.yaml are those of package lifecycle, so that docs/configuration.md
	// is right.
	defaults := lifecycle.Config{
		Isolation: lifecycle.Shared, Prewarmed: 1, MaxQueue: 1024, IdleTimeout: 5 * time.Minute, DrainTimeout: 30 * time.Second,
		InitialBackoff: 200 * time.Millisecond, MaxBackoff: 30 * time.Second, MaxCrashes: 5, CrashWindow: 10 * time.Minute,
		ProbeAfter: 5 * time.Minute, StableAfter: 10 * time.Second,
	}
	c := config.Default()
	if diff := cmp.Diff(defaults, c.Plugin("any").Lifecycle()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	c = parse(t, `
defaults:
  isolation: session
  min_instances: 2
  max_instances: 3
  prewarmed: 0
  max_calls_per_instance: 4
  max_queue: 5
  idle_timeout: never
  recycle_after_calls: 6
  recycle_after_age: 7h
  drain_timeout: 8s
  backoff: {initial: 9s, max: 10s}
  quarantine: {crashes: never, window: 11s, probe_after: never}
  stable_after: 12s
`)
	want := lifecycle.Config{
		Isolation: lifecycle.PerSession, MinInstances: 2, MaxInstances: 3, Prewarmed: -1, MaxCallsPerInstance: 4, MaxQueue: 5,
		IdleTimeout: -1, RecycleAfterCalls: 6, RecycleAfterAge: 7 * time.Hour, DrainTimeout: 8 * time.Second,
		InitialBackoff: 9 * time.Second, MaxBackoff: 10 * time.Second, MaxCrashes: math.MaxInt, CrashWindow: 11 * time.Second,
		ProbeAfter: -1, StableAfter: 12 * time.Second,
	}
	if diff := cmp.Diff(want, c.Defaults.Lifecycle()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLoadMakesPathsAbsolute(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.Mkdir("conf", 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("conf", "toolhost.yaml")
	if err := os.WriteFile(path, []byte("plugins: [plugins, ../more]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if dir, err = os.Getwd(); err != nil { // the path of the temporary folder may contain a link
		t.Fatal(err)
	}
	want := []string{filepath.Join(dir, "conf", "plugins"), filepath.Join(dir, "more")}
	if diff := cmp.Diff(want, c.Folders); diff != "" || c.LockFile != filepath.Join(dir, "conf", "toolhost.lock") {
		t.Errorf("the lock file is %s; the folders (-want +got):\n%s", c.LockFile, diff)
	}
	if err := os.WriteFile(path, []byte("a: b"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Load(path); err == nil || err.Error()[:len(path)] != path {
		t.Errorf("the error %v does not name the file as it was given", err)
	}
}
