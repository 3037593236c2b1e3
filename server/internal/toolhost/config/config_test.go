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

	"github.com/toolhost/toolhost/server/internal/access/authconfig"
	"github.com/toolhost/toolhost/server/internal/telemetry/telemetryconfig"
	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
	"github.com/toolhost/toolhost/server/internal/toolhost/config"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/throttle"
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
		Network: authconfig.Network{
			Connections: 1000, ConnectionsPerAddress: 32, ConnectionsPerPrincipal: 100, Handshakes: 64, HandshakeTimeout: 10 * time.Second,
			AuthenticationTimeout: 30 * time.Second, RequestTimeout: time.Minute, Streams: 128, StreamsPerSecond: 10000, Headers: 16 << 10,
			IdleTimeout: 15 * time.Minute, MaxAge: time.Hour, FailuresPerMinute: 60,
		},
		LockFile: "toolhost.lock", NewPlugins: "ask", Workspace: config.Workspace{Backend: "local", Mode: "shared"},
		Log:       config.Log{Level: "info", Format: "text"},
		Launch:    config.Launch{Parallel: 4, Timeout: 30 * time.Second},
		Questions: config.Questions{PerCall: 16, MaxBytes: 256 << 10, MaxWait: time.Hour},
		Approvals: config.Approvals{Standing: true, Longest: 720 * time.Hour, PerPrincipal: 100, PerTenant: 1000},
		Calls: config.Calls{
			DefaultTimeout: 30 * time.Second, MaxTimeout: 10 * time.Minute, YieldTimeout: 5 * time.Second,
			ArgumentsTimeout: 2 * time.Minute, MaxArgumentBytes: 16 << 20, MisspelledArguments: "report", OutputSchemas: "refuse", MaxResultBytes: 64 << 20,
		},
		Audit:   config.Audit{Log: "decisions", MaxBytes: 100 << 20},
		Ledger:  config.Ledger{MaxEntries: 10_000, MemoryBytes: 64 << 20, MaxBytes: 256 << 20, KeepResults: 24 * time.Hour, KeepIDs: 7 * 24 * time.Hour, MaxIDs: 5_000_000},
		Results: config.Results{ShownBytes: 4 << 10}, Artifacts: config.Artifacts{MaxBytes: 1 << 30, MaxCount: 10_000, MaxAge: 7 * 24 * time.Hour},
		Events: config.Events{Kept: 10_000}, History: config.History{Keep: 720 * time.Hour},
		Logs:   config.Logs{LinesPerPlugin: 2000, LineBytes: 8 << 10, LinesPerSecond: 1000, MaxBytes: 64 << 20, ExitsKept: 10},
		Reload: config.Reload{Watch: true},
		Telemetry: telemetryconfig.Settings{
			Histograms: "classic",
			Traces:     telemetryconfig.Traces{Enabled: true, TrustCallers: "same_user"},
			Metrics:    telemetryconfig.Metrics{Enabled: true},
		},
		Defaults: config.PluginSettings{
			Isolation: lifecycle.Shared, Prewarmed: 1, MaxQueue: 1024, IdleTimeout: 5 * time.Minute, DrainTimeout: 30 * time.Second,
			Backoff:     config.Backoff{Initial: 200 * time.Millisecond, Max: 30 * time.Second},
			Quarantine:  config.Quarantine{Crashes: 5, Window: 10 * time.Minute, ProbeAfter: 5 * time.Minute},
			StableAfter: 10 * time.Second,
			Limits:      config.Limits{Memory: yamldoc.Auto, Processes: 1024, Enforcement: "best_effort"},
			Sandbox:     config.Sandbox{Mode: "auto", Workspace: "write"},
			HTTP:        config.HTTP{ConnectTimeout: 10 * time.Second, AnswerTimeout: 30 * time.Second, IdleTimeout: 5 * time.Minute, MaxConnections: 64},
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
records: postgres://toolhost@db.example/toolhost
nodes: {listen: "10.0.0.5:7444", address: "{hostname}.example:7444", tls: {certificate: node.pem, key: /node.key, ca: nodes-ca.pem, server_name: nodes}}
workspace: {mode: tenant, folder: ./w/../work, quota: 2GiB, keep: 48h, volume: common}
insecure: true
listeners:
  - {address: "0.0.0.0:8443", tls: {certificate: c.pem, key: /k.pem, client_ca: ca.pem, client_certificate: optional}, authentication: [certificate, jwt]}
  - {address: "127.0.0.1:80", admits: auditor}
network: {connections: 7, connections_per_address: 6, connections_per_principal: 5, handshakes: 4, handshake_timeout: 3s, authentication_timeout: 2s, request_timeout: 9s, streams: 8, streams_per_second: 10, headers: 5KiB, idle_timeout: 11s, max_age: 12s, failures_per_minute: 13}
mcp: {listeners: [{address: "127.0.0.1:81", admits: auditor}], hosts: [h.example], origins: ["https://o.example"], search: true}
http: {listen: "0.0.0.0:82", tls: {certificate: c.pem, key: /k.pem}}
new_plugins: allow
locked: true
lock_file: locks/a.lock
log: {level: debug, levels: {policy: info, plugin.fs: warn}, format: json}
launch: {parallel: 8, timeout: 1m}
calls: {default_timeout: 1s, max_timeout: 2s, yield_timeout: 3ms, arguments_timeout: 4s, max_argument_bytes: 2048, misspelled_arguments: refuse, output_schemas: warn, max_result_bytes: 1GiB}
questions: {per_call: 5, max_bytes: 3KiB, max_wait: 10m}
approvals: {standing: false, longest: 1h, per_principal: 2, per_tenant: 3}
memory: {in_flight: 100MiB, in_flight_per_principal: 17MiB}
auth:
  principals:
    - {uid: 0, name: root, tenant: ops, groups: [admins]}
    - {user: ada, name: ada}
    - {certificate: "uri:spiffe://acme/*", tenant: acme}
    - {issuer: https://issuer.example.org, claims: {repository: acme/*}, name: ci}
  issuers:
    - {issuer: https://issuer.example.org, audience: [toolhost], name_claim: email, tenant: red, groups_claim: groups, clock_skew: 1m, max_lifetime: 2h, ca: ca.pem}
    - {issuer: https://other.example.org, audience: [a, b], tenant_claim: org}
  bindings:
    - {role: caller, principals: [red/ada], groups: [dev], members_of: [blue], tools: ["fs_*"], tenants: [red]}
policy:
  rules:
    - {name: a, when: true, then: allow, reason: "it's \"so\": #1"}
    - name: b
      then: require_approval
      when: |
        tool.dangerous &&
          tool.name == "x"
audit: {file: logs/audit.jsonl, log: all, max_bytes: 2MiB, keep_files: 3}
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
history: {keep: 48h}
logs: {lines_per_plugin: 7, line_bytes: 512B, lines_per_second: 9, max_bytes: 2MiB, exits_kept: 8}
reload: {watch: false}
telemetry:
  listen: 0.0.0.0:9464
  public: true
  histograms: native
  pprof: pprof.sock
  endpoint: https://a.example
  protocol: http
  headers: {authorization: {env: TOKEN}, x-tenant: {file: tenant}}
  timeout: 3s
  traces: {enabled: false, endpoint: "http://b.example:1", sample_ratio: 0.25, trust_callers: none, content: true, queue: 77}
  metrics: {enabled: false, endpoint: "http://c.example:1", interval: 5s}
quotas:
  tenant: {concurrent_calls: 10, starts_per_minute: 20, launches_per_minute: 30, processes: 11, memory: 12GiB, call_ids: 40, artifact_bytes: 50MiB, result_bytes: 13MiB}
  principal: {concurrent_calls: 5, starts_per_minute: 6, processes: 14, memory: 15GiB, call_ids: 8, artifact_bytes: 9KiB}
  tenants: {red: {concurrent_calls: unlimited, call_ids: 41}}
  principals: {red/ada: {starts_per_minute: 7}}
defaults:
  disabled: true
  isolation: call
  min_instances: 1
  max_instances: 4
  max_total_instances: 16
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
  http: {addresses: [10.0.0.0/8], authorities: ca.pem, certificate: client.pem, key: client.key, connect_timeout: 1s, answer_timeout: 2s, idle_timeout: 3s, max_connections: 5}
  ask: [person, model]
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
    agent_rate_limit_per_minute: 6
    agents: {reviewer: {rate_limit_per_minute: 2}, free: {rate_limit_per_minute: unlimited}}
    max_concurrent: 3
    max_retries: 2
    cost_per_use: 0.25
  fs.write: {tags: [], rate_limit_per_minute: unlimited, max_retries: none, cost_per_use: 0}
  plain: {}
`

func TestEveryKey(t *testing.T) {
	got := parse(t, everyKey)
	want := config.Config{
		Auth: authconfig.Auth{
			Principals: []authconfig.Principal{
				{UID: new(int), Name: "root", Tenant: "ops", Groups: []string{"admins"}},
				{User: "ada", Name: "ada"},
				{Certificate: "uri:spiffe://acme/*", Tenant: "acme"},
				{Issuer: "https://issuer.example.org", Claims: map[string]string{"repository": "acme/*"}, Name: "ci"},
			},
			Issuers: []authconfig.Issuer{
				{Issuer: "https://issuer.example.org", Audience: []string{"toolhost"}, NameClaim: "email", Tenant: "red", GroupsClaim: "groups", ClockSkew: time.Minute, MaxLifetime: 2 * time.Hour, CA: "/etc/toolhost/ca.pem"},
				{Issuer: "https://other.example.org", Audience: []string{"a", "b"}, TenantClaim: "org", ClockSkew: 30 * time.Second, MaxLifetime: 24 * time.Hour},
			},
			Bindings: []authconfig.Binding{{
				Role: "caller", Principals: []string{"red/ada"}, Groups: []string{"dev"}, MembersOf: []string{"blue"}, Tools: []string{"fs_*"}, Tenants: []string{"red"},
			}}},
		Listen: "unix:///run/t.sock",
		Telemetry: telemetryconfig.Settings{
			Listen: "0.0.0.0:9464", Public: true, Histograms: "native", Pprof: "/etc/toolhost/pprof.sock", Endpoint: "https://a.example", Protocol: "http",
			Headers: map[string]telemetryconfig.Header{"authorization": {Env: "TOKEN"}, "x-tenant": {File: "/etc/toolhost/tenant"}}, Timeout: new(3 * time.Second),
			Traces:  telemetryconfig.Traces{Endpoint: "http://b.example:1", SampleRatio: new(.25), TrustCallers: "none", Content: true, Queue: new(77)},
			Metrics: telemetryconfig.Metrics{Endpoint: "http://c.example:1", Interval: new(5 * time.Second)},
		},
		Folders: []string{"/etc/toolhost/plugins", "/etc/shared", "/opt/plugins"},
		State:   "/etc/toolhost/state",
		Records: "postgres://toolhost@db.example/toolhost",
		Nodes: authconfig.Nodes{
			Listen: "10.0.0.5:7444", Address: "{hostname}.example:7444",
			TLS: authconfig.NodeTLS{Certificate: "/etc/toolhost/node.pem", Key: "/node.key", CA: "/etc/toolhost/nodes-ca.pem", ServerName: "nodes"},
		},
		Workspace: config.Workspace{Backend: "local", Mode: "tenant", Folder: "/etc/toolhost/work", Quota: 2 << 30, Keep: 48 * time.Hour, Volume: "common"},
		Insecure:  true,
		Listeners: []authconfig.Listener{
			{
				Address: "0.0.0.0:8443", Authentication: []string{"certificate", "jwt"},
				TLS: authconfig.TLS{Certificate: "/etc/toolhost/c.pem", Key: "/k.pem", ClientCA: "/etc/toolhost/ca.pem", ClientCertificate: "optional"},
			},
			{Address: "127.0.0.1:80", Admits: "auditor"},
		},
		Network: authconfig.Network{
			Connections: 7, ConnectionsPerAddress: 6, ConnectionsPerPrincipal: 5, Handshakes: 4, HandshakeTimeout: 3 * time.Second,
			AuthenticationTimeout: 2 * time.Second, RequestTimeout: 9 * time.Second, Streams: 8, StreamsPerSecond: 10, Headers: 5 << 10,
			IdleTimeout: 11 * time.Second, MaxAge: 12 * time.Second, FailuresPerMinute: 13,
		},
		MCP: config.MCP{
			Listeners: []authconfig.Listener{{Address: "127.0.0.1:81", Admits: "auditor"}},
			Hosts:     []string{"h.example"}, Origins: []string{"https://o.example"}, Search: true,
		},
		HTTP:       authconfig.HTTP{Listen: "0.0.0.0:82", TLS: authconfig.KeyPair{Certificate: "/etc/toolhost/c.pem", Key: "/k.pem"}},
		NewPlugins: "allow", Locked: true, LockFile: "/etc/toolhost/locks/a.lock",
		Log:       config.Log{Level: "debug", Levels: map[string]string{"policy": "info", "plugin.fs": "warn"}, Format: "json"},
		Launch:    config.Launch{Parallel: 8, Timeout: time.Minute},
		Questions: config.Questions{PerCall: 5, MaxBytes: 3 << 10, MaxWait: 10 * time.Minute},
		Approvals: config.Approvals{Longest: time.Hour, PerPrincipal: 2, PerTenant: 3},
		Calls: config.Calls{
			DefaultTimeout: time.Second, MaxTimeout: 2 * time.Second, YieldTimeout: 3 * time.Millisecond,
			ArgumentsTimeout: 4 * time.Second, MaxArgumentBytes: 2048, MisspelledArguments: "refuse", OutputSchemas: "warn", MaxResultBytes: 1 << 30,
		},
		Memory: config.Memory{InFlight: 100 << 20, InFlightPerPrincipal: 17 << 20},
		Quotas: config.Quotas{
			Tenant: config.TenantQuota{
				ConcurrentCalls: new(10), StartsPerMinute: new(20), LaunchesPerMinute: new(30), Processes: new(11), Memory: new(config.Size(12 << 30)),
				CallIDs: new(40), ArtifactBytes: new(config.Size(50 << 20)), ResultBytes: new(config.Size(13 << 20)),
			},
			Principal:  config.PrincipalQuota{ConcurrentCalls: new(5), StartsPerMinute: new(6), Processes: new(14), Memory: new(config.Size(15 << 30)), CallIDs: new(8), ArtifactBytes: new(config.Size(9 << 10))},
			Tenants:    map[string]config.TenantQuota{"red": {ConcurrentCalls: new(0), CallIDs: new(41)}},
			Principals: map[string]config.PrincipalQuota{"red/ada": {StartsPerMinute: new(7)}},
		},
		Policy: config.Policy{Rules: []config.Rule{
			{Name: "a", When: "true", Then: "allow", Reason: `it's "so": #1`},
			{Name: "b", When: "tool.dangerous &&\n  tool.name == \"x\"\n", Then: "require_approval"},
		}},
		Audit: config.Audit{File: "/etc/toolhost/logs/audit.jsonl", Log: "all", MaxBytes: 2 << 20, KeepFiles: 3},
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
		Events: config.Events{Kept: 6}, History: config.History{Keep: 48 * time.Hour},
		Logs: config.Logs{LinesPerPlugin: 7, LineBytes: 512, LinesPerSecond: 9, MaxBytes: 2 << 20, ExitsKept: 8},
		Defaults: config.PluginSettings{
			Disabled: true, Isolation: lifecycle.PerCall, MinInstances: 1, MaxInstances: 4, MaxTotalInstances: 16, MaxCallsPerInstance: 3, MaxQueue: 9,
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
			HTTP: config.HTTP{
				Addresses: []string{"10.0.0.0/8"}, Authorities: "/etc/toolhost/ca.pem", Certificate: "/etc/toolhost/client.pem", Key: "/etc/toolhost/client.key",
				ConnectTimeout: time.Second, AnswerTimeout: 2 * time.Second, IdleTimeout: 3 * time.Second, MaxConnections: 5,
			},
			Ask: []string{"person", "model"}, PassEnv: []string{"HTTPS_PROXY"},
			Env: map[string]string{"A": "text", "B": "1.0", "C": "true", "D": "", "E": "$HOME", "F": "null"},
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
			AgentRateLimitPerMinute: new(6), Agents: map[string]config.AgentLimits{"reviewer": {RateLimitPerMinute: new(2)}, "free": {RateLimitPerMinute: new(0)}},
			MaxRetries: new(2), CostPerUse: new(0.25),
		},
		"fs.write": {Tags: []string{}, RateLimitPerMinute: new(0), MaxRetries: new(0), CostPerUse: new(0.0)},
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

// remoteWorkspace has the keys that exclude others of everyKey.
const remoteWorkspace = `
workspace:
  backend: remote
  mode: tenant
  remote:
    address: workspaces.example:8443
    authorities: ca.pem
    server_name: inner.example
    certificate: client.pem
    key: client.key
    token_file: token
`

func TestRemoteWorkspace(t *testing.T) {
	want := config.Workspace{Backend: config.RemoteBackend, Mode: config.TenantWorkspace, Remote: config.RemoteWorkspace{
		Address: "workspaces.example:8443", Authorities: "/etc/toolhost/ca.pem", ServerName: "inner.example",
		Certificate: "/etc/toolhost/client.pem", Key: "/etc/toolhost/client.key", TokenFile: "/etc/toolhost/token",
	}}
	got := parse(t, remoteWorkspace)
	if diff := cmp.Diff(want, got.Workspace); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"/etc/toolhost/client.key", "/etc/toolhost/token"}, got.Workspace.Remote.Files()); diff != "" {
		t.Errorf("the files that plugins must not see (-want +got):\n%s", diff)
	}
}

// Toolhosts of one ledger have files of their own unless the operator or the backend says
// otherwise.
func TestWhoseFiles(t *testing.T) {
	for text, own := range map[string]bool{
		"": false, "workspace: work": false, "workspace: {folder: w, volume: own}": true, "workspace: {folder: w, mode: tenant}": true, "workspace: {folder: w, mode: session}": true,
		"workspace: {folder: w, mode: session, volume: common}": false, "workspace: {backend: memory}": false, remoteWorkspace: false,
	} {
		workspace := parse(t, text).Workspace
		if got := workspace.OfOne(); got != own {
			t.Errorf("%s: %v, want %v", text, got, own)
		}
	}
}

// everyKey and remoteWorkspace set every field to a value other than its default, so that their
// tests cover new keys.
func TestEveryKeyIsTested(t *testing.T) {
	var compare func(name string, got, other, untouched reflect.Value)
	compare = func(name string, got, other, untouched reflect.Value) {
		for i := range got.NumField() {
			field := name + "." + got.Type().Field(i).Name
			start := untouched.Field(i).Interface()
			if got.Field(i).Kind() == reflect.Struct {
				compare(field, got.Field(i), other.Field(i), untouched.Field(i))
			} else if reflect.DeepEqual(got.Field(i).Interface(), start) && reflect.DeepEqual(other.Field(i).Interface(), start) {
				t.Errorf("the field %s has its default", field)
			}
		}
	}
	compare("Config", reflect.ValueOf(parse(t, everyKey)), reflect.ValueOf(parse(t, remoteWorkspace)), reflect.ValueOf(config.Default()))
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
	// The defaults of toolhost.yaml are those of package lifecycle. docs/configuration.md shows the
	// former.
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

func TestParseMakesPathsAbsolute(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	path := filepath.Join("conf", "toolhost.yaml")
	c, err := config.Parse(path, []byte("plugins: [plugins, ../more]\n"))
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
	if _, err := config.Parse(path, []byte("a: b")); err == nil || err.Error()[:len(path)] != path {
		t.Errorf("the error %v does not name the file as it was given", err)
	}
}

// The quota of a single tenant or principal replaces the general one key by key.
func TestQuotas(t *testing.T) {
	if limits := new(config.Quotas).Limits(); limits != nil {
		t.Errorf("without quotas the limits are %+v", limits)
	}
	c := parse(t, `
quotas:
  tenant: {concurrent_calls: 10, artifact_bytes: 1MiB, memory: 1GiB, result_bytes: 2MiB}
  tenants: {red: {concurrent_calls: unlimited, call_ids: 5, processes: 4}}
  principals: {'uid:0': {starts_per_minute: 3, memory: 512MiB}}
`)
	limits := c.Quotas.Limits()
	for name, pair := range map[string][2]throttle.Quota{
		"a tenant":        {limits.OfTenant("blue"), {ConcurrentCalls: 10, ArtifactBytes: 1 << 20, MemoryBytes: 1 << 30, ResultBytes: 2 << 20}},
		"the tenant red":  {limits.OfTenant("red"), {CallIDs: 5, ArtifactBytes: 1 << 20, Processes: 4, MemoryBytes: 1 << 30, ResultBytes: 2 << 20}},
		"a principal":     {limits.OfPrincipal("red/ada"), {}},
		"the principal 0": {limits.OfPrincipal("uid:0"), {StartsPerMinute: 3, MemoryBytes: 512 << 20}},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s has %+v, want %+v", name, pair[0], pair[1])
		}
	}
	for key, want := range map[string]config.Size{"": 1 << 30, "uid:0": 512 << 20, "uid:1": 1 << 30} {
		if got := c.Quotas.MemoryOf("default", key); got != want {
			t.Errorf("a process of the principal %q may have %v, want %v", key, got, want)
		}
	}
	for _, text := range []string{
		"quotas: {principal: {result_bytes: 1MiB}}", "quotas: {tenant: {memory: 1KiB}}", "quotas: {tenant: {concurrent_calls: 0.5}}", "quotas: {tenants: {Red: {}}}", "quotas: {tenants: {all: {}}}",
		"quotas: {principals: {'a b': {}}}", "quotas: {principal: {launches_per_minute: 1}}", "quotas: {principals: {ada: {launches_per_minute: 1}}}",
	} {
		if _, err := config.Parse("/etc/toolhost.yaml", []byte(text)); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}
