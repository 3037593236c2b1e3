package toolhost_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/toolhost/toolhost"

// Libraries that only some packages may import.
const (
	grpc       = "google.golang.org/grpc"
	protobuf   = "google.golang.org/protobuf"
	goPlugin   = "github.com/hashicorp/go-plugin"
	hclog      = "github.com/hashicorp/go-hclog"
	cobra      = "github.com/spf13/cobra"
	pflag      = "github.com/spf13/pflag"
	unix       = "golang.org/x/sys/unix"
	xterm      = "golang.org/x/term"
	errgroup   = "golang.org/x/sync/errgroup"
	semaphores = "golang.org/x/sync/semaphore"
	rates      = "golang.org/x/time/rate"
	schema     = "github.com/google/jsonschema-go/jsonschema"
	celGo      = "cel.dev/cel-go"
	mcpSDK     = "github.com/modelcontextprotocol/go-sdk"
	otel       = "go.opentelemetry.io"
	prometheus = "github.com/prometheus/client_golang"
	cmp        = "github.com/google/go-cmp/cmp"
	toolV1     = "gen/go/toolhost/tool/v1"
	pluginV1   = "gen/go/toolhost/plugin/v1"
	hostV1     = "gen/go/toolhost/v1"
	agentV1    = "gen/go/agentd/v1"
	placeV1    = "gen/go/toolhost/workspace/v1"
)

// allowedImports says for each package which packages it may import beside the standard library.
// Packages of this module are named by their path in it. A name that ends in "/..." includes the
// packages below it. The table has the order in which data flows. Test files may import more.
// ARCHITECTURE.md says what each package owns.
//
// To add a package, add a line here and in ARCHITECTURE.md. Before you add an import to a line, ask
// whether the code belongs in another package.
var allowedImports = map[string][]string{
	".": {}, // the sources of the SDKs

	// The contracts and the words.
	agentV1:                {toolV1, grpc + "/...", protobuf + "/..."},
	hostV1:                 {toolV1, "internal/wire/wirecode", grpc + "/...", protobuf + "/..."},
	pluginV1:               {toolV1, "internal/wire/wirecode", grpc + "/...", protobuf + "/..."},
	toolV1:                 {"internal/wire/wirecode", protobuf + "/..."},
	placeV1:                {grpc + "/...", protobuf + "/..."},
	"tool":                 {},
	"internal/version":     {"tool"},
	"internal/wire/toolpb": {"internal/text/crashoutput", "tool", toolV1, grpc + "/codes", grpc + "/status", protobuf + "/..."},
	"internal/wire/hostpb": {"internal/text/crashoutput", "internal/identity", "tool", "internal/wire/toolpb", toolV1, hostV1, protobuf + "/..."},

	// The requests and answers of filters, for the host and for authors.
	"internal/wire/filterjson": {"tool", "internal/wire/toolpb", toolV1, protobuf + "/encoding/protojson"},

	// Packages that several layers use. None of them knows a contract.
	"internal/store/ownership":      {},
	"internal/address":              {"internal/store/ownership", "internal/store/filelock", unix},
	"internal/access/listen":        {"internal/address", "internal/processors", "github.com/coreos/go-systemd/v22/activation", rates},
	"internal/systemd":              {"github.com/coreos/go-systemd/v22/daemon", grpc + "/..."},
	"internal/identity":             {},
	"internal/access/authz":         {"internal/identity"},
	"internal/access/tokenstore":    {"internal/access/authn", "internal/access/authz", "internal/identity", "internal/store/atomicfile", "internal/store/filelock", unix},
	"internal/access/oidc":          {"internal/access/authn", "internal/identity", "github.com/coreos/go-oidc/v3/oidc", "github.com/go-jose/go-jose/v4/...", rates},
	"internal/fairness/budget":      {},
	"internal/fairness/pace":        {},
	"internal/processors":           {},
	"internal/testkit/eventually":   {},
	"internal/testkit/shortdir":     {},
	"internal/text/jsontext":        {"golang.org/x/text/..."},
	"internal/text/arguments":       {"internal/text/jsontext", "internal/text/nearest", "internal/text/pattern", "github.com/santhosh-tekuri/jsonschema/v6/...", "golang.org/x/text/..."},
	"internal/wire/flow":            {},
	"internal/wire/trace":           {},
	"internal/text/crashoutput":     {},
	"internal/text/nearest":         {},
	"internal/logging/loglevel":     {"internal/text/nearest", "tool"},
	"internal/text/partialjson":     {},
	"internal/text/pattern":         {},
	"internal/store/rmtree":         {unix},
	"internal/toolhost/contentlink": {},
	"internal/toolhost/sparse":      {},
	"internal/trust":                {"tool", "internal/store/ownership", "internal/store/atomicfile", "internal/store/filelock", unix},
	"internal/store/sqlitefile":     {"modernc.org/sqlite/..."},
	"internal/store/atomicfile":     {},
	"internal/store/filelock":       {},
	"internal/store/postgres":       {"github.com/jackc/pgx/v5/..."},
	"internal/store/backup":         {"internal/store/atomicfile", "internal/store/filelock", unix},
	"internal/wire/wirecode":        {grpc + "/encoding/...", grpc + "/mem", protobuf + "/..."},
	"internal/text/yamldoc":         {"tool", "internal/address", "internal/text/nearest", "github.com/goccy/go-yaml/..."},

	// The plugin's side.
	"internal/wire/pluginwire": {"tool", "internal/wire/flow", "internal/wire/toolpb", "internal/wire/wirecode", "internal/wire/trace", pluginV1, toolV1, grpc + "/...", goPlugin},
	"sdk":                      {"tool", "internal/version", "internal/wire/filterjson", "internal/wire/flow", "internal/text/partialjson", "internal/processors", "internal/wire/pluginwire", "sdk/internal/fit", "sdk/internal/spans", "sdk/internal/transport", "sdk/workspace", "sdk/workspace/remote", pluginV1, grpc + "/...", goPlugin, hclog, schema},
	"sdk/internal/fit":         {},
	"sdk/internal/spans":       {"internal/wire/trace", otel + "/..."},
	"sdk/internal/transport":   {"tool", "internal/wire/trace", "sdk/internal/fit", "internal/wire/pluginwire"},
	"sdk/sdktest":              {"tool", "internal/text/arguments", "internal/wire/filterjson", "internal/wire/pluginwire", "sdk", "sdk/internal/fit", "sdk/internal/transport", grpc + "/..."},

	// The addresses that a tool may reach.
	"sdk/egress": {},

	// Where tools work.
	"sdk/workspace":                               {unix},
	"sdk/workspace/commands":                      {"sdk/workspace", unix},
	"sdk/workspace/workspacetest":                 {"sdk/workspace", cmp + "/..."},
	"sdk/workspace/remote":                        {"sdk/workspace", "internal/wire/workspacepb", placeV1, grpc + "/..."},
	"internal/wire/workspacepb":                   {"sdk/workspace", placeV1, grpc + "/..."},
	"internal/toolhost/workspace/workspaceserver": {"sdk/workspace", "internal/wire/workspacepb", placeV1, grpc + "/..."},
	"internal/toolhost/workspace/workspaceproxy":  {"sdk/workspace", "sdk/workspace/remote", "internal/address", "internal/wire/credential", "internal/wire/workspacepb", "internal/toolhost/workspace/workspaceserver", placeV1, grpc + "/..."},

	// The host's side.
	"internal/toolhost/reaper":                    {"internal/toolhost/proc", "internal/toolhost/limits", "internal/store/rmtree", "internal/store/filelock"},
	"internal/toolhost/proc":                      {unix},
	"internal/toolhost/limits":                    {"tool", "internal/toolhost/proc", "internal/store/filelock", unix},
	"internal/toolhost/subreaper":                 {"internal/toolhost/proc", unix},
	"internal/toolhost/sandbox":                   {"tool", "internal/toolhost/sandbox/entry", "golang.org/x/net/bpf", unix},
	"internal/toolhost/sandbox/entry":             {unix},
	"internal/toolhost/namewatch":                 {unix},
	"internal/toolhost/process":                   {"internal/fairness/pace", "internal/text/crashoutput", "tool", "internal/logging/loglevel", "internal/toolhost/reaper", "internal/toolhost/proc", "internal/toolhost/limits", "internal/toolhost/namewatch", "internal/wire/pluginwire", "internal/toolhost/process/pidns", "internal/store/rmtree", "internal/toolhost/sandbox", grpc + "/...", protobuf + "/...", goPlugin + "/...", hclog, unix, rates},
	"internal/toolhost/process/pidns":             {unix},
	"internal/toolhost/process/fault":             {"tool", "internal/wire/pluginwire", grpc + "/...", goPlugin + "/...", hclog},
	"internal/toolhost/process/fault/faultplugin": {"internal/toolhost/process/fault"},
	"internal/toolhost/host/lifecycle":            {"tool"},
	"internal/toolhost/manifest":                  {"tool", "internal/store/atomicfile", "internal/text/yamldoc"},
	"internal/audit":                              {"internal/identity", "internal/store/filelock", "tool"},
	"internal/toolhost/policy":                    {"tool", "internal/identity", "internal/text/pattern", "internal/text/yamldoc", celGo + "/..."},
	"internal/text/yamldoc/yamldoctest":           {"internal/text/yamldoc", cmp + "/..."},
	"internal/telemetry/telemetryconfig":          {"internal/text/yamldoc"},
	"internal/toolhost/config":                    {"sdk/egress", "internal/toolhost/host/throttle", "internal/identity", "tool", "internal/access/authconfig", "internal/logging/loglevel", "internal/telemetry/telemetryconfig", "internal/trust", "internal/toolhost/proc", "internal/toolhost/host/lifecycle", "internal/toolhost/policy", "internal/text/yamldoc"},
	"internal/toolhost/catalog":                   {"tool", "internal/text/arguments", "internal/toolhost/contentlink", "internal/toolhost/manifest", "internal/store/rmtree", "internal/toolhost/sparse", "internal/store/atomicfile", "internal/store/filelock", "internal/trust", errgroup},
	"internal/toolhost/host/logbuffer":            {"internal/identity", "tool", "internal/logging/loglevel"},
	"internal/toolhost/conformance":               {"internal/text/crashoutput", "internal/toolhost/pluginconn", "tool", "internal/text/arguments", "internal/text/render", "internal/wire/pluginwire", "internal/toolhost/process", "internal/wire/toolpb", "internal/toolhost/toolsearch", pluginV1, toolV1, grpc + "/...", protobuf + "/..."},
	"internal/toolhost/conformance/badplugin":     {"internal/wire/pluginwire", pluginV1, toolV1, grpc + "/...", protobuf + "/..."},
	"internal/toolhost/workspace/workspaces":      {"internal/store/rmtree", "internal/store/atomicfile", "internal/store/filelock"},
	"internal/secrets":                            {"internal/identity", "tool", "internal/wire/trace"},
	"internal/text/render":                        {"tool", "internal/text/arguments"},
	"internal/toolhost/toolsearch":                {"tool", "golang.org/x/text/..."},
	"internal/toolhost/artifact":                  {"internal/identity", "internal/store/filelock", "tool"},
	"internal/toolhost/callstore":                 {"internal/fairness/shares", "internal/identity", "tool", "internal/store/sqlitefile", "internal/wire/toolpb", "internal/store/atomicfile", "internal/store/filelock", toolV1, protobuf + "/proto", "modernc.org/sqlite/..."},
	"internal/toolhost/callstore/memory":          {"internal/toolhost/callstore", "internal/identity", "internal/fairness/shares", "tool"},
	"internal/toolhost/callstore/storetest":       {"internal/toolhost/callstore", "internal/toolhost/callstore/memory", "internal/testkit/eventually", "tool", cmp + "/..."},
	"internal/toolhost/standing":                  {"internal/text/arguments", "internal/identity", "internal/store/sqlitefile", "tool", "modernc.org/sqlite/..."},
	"internal/toolhost/host/history":              {"internal/text/crashoutput", "tool", "internal/store/sqlitefile", "modernc.org/sqlite/..."},
	"internal/toolhost/host/eventlog":             {"internal/identity", "internal/fairness/shares", "tool"},
	"internal/toolhost/host/deadline":             {},
	"internal/toolhost/host/throttle":             {"internal/identity", "tool"},
	"internal/fairness/shares":                    {},
	"internal/toolhost/host/frozen":               {"internal/text/arguments"},
	"internal/toolhost/host/result":               {"tool", "internal/text/arguments", "internal/toolhost/artifact", "internal/toolhost/catalog"},
	"internal/toolhost/host/ledger":               {"internal/identity", "internal/fairness/shares", "tool", "internal/text/arguments", "internal/toolhost/callstore"},
	"internal/toolhost/host/supervisor":           {"internal/toolhost/host/throttle", "internal/identity", "internal/text/crashoutput", "tool", "internal/toolhost/host/eventlog", "internal/toolhost/host/history", "internal/toolhost/host/lifecycle", "internal/toolhost/pluginconn", "internal/toolhost/catalog", "internal/secrets"},
	"internal/toolhost/host":                      {"internal/fairness/shares", "internal/access/authz", "internal/identity", "tool", "internal/logging/loglevel", "internal/toolhost/host/deadline", "internal/toolhost/host/eventlog", "internal/toolhost/host/frozen", "internal/toolhost/host/history", "internal/toolhost/host/ledger", "internal/toolhost/host/lifecycle", "internal/toolhost/host/logbuffer", "internal/toolhost/pluginconn", "internal/toolhost/host/result", "internal/toolhost/host/supervisor", "internal/toolhost/host/throttle", "internal/text/arguments", "internal/toolhost/artifact", "internal/audit", "internal/fairness/budget", "internal/toolhost/callstore", "internal/text/nearest", "internal/toolhost/catalog", "internal/toolhost/policy", "internal/text/render", "internal/wire/filterjson", "internal/wire/flow", "internal/secrets", "internal/toolhost/standing", "internal/toolhost/toolsearch", "internal/wire/trace", "github.com/yosida95/uritemplate/v3"},
	"internal/toolhost/pluginconn":                {"tool", "internal/wire/trace"},
	"internal/toolhost/pluginclient":              {"tool", "internal/toolhost/pluginconn", "internal/wire/pluginwire"},
	"internal/toolhost/mcp/mcpclient/urlserver":   {},
	"internal/toolhost/remote":                    {"internal/toolhost/pluginconn", "tool", rates},
	"internal/toolhost/mcp/mcpclient":             {"sdk/egress", "tool", "internal/toolhost/pluginconn", "internal/version", mcpSDK + "/...", rates},
	"internal/toolhost/launch":                    {"internal/toolhost/config", "sdk/egress", "internal/toolhost/host", "internal/toolhost/pluginconn", "internal/identity", "internal/fairness/pace", "internal/toolhost/catalog", "internal/toolhost/limits", "internal/toolhost/manifest", "internal/toolhost/namewatch", "internal/toolhost/process", "internal/toolhost/reaper", "internal/toolhost/remote", "internal/toolhost/sandbox", "internal/toolhost/mcp/mcpclient", "internal/toolhost/pluginclient", "internal/wire/pluginwire", "internal/toolhost/workspace/workspaceproxy", "internal/secrets", "internal/toolhost/workspace/workspaces", "internal/text/yamldoc", "tool"},
	"internal/toolhost/hosttest":                  {"tool", "internal/toolhost/artifact", "internal/toolhost/host", "internal/toolhost/pluginconn", "internal/toolhost/catalog", "internal/toolhost/pluginclient", "internal/wire/pluginwire", cmp + "/...", grpc + "/..."},
	"internal/wire/grpcserver":                    {grpc + "/...", protobuf + "/..."},
	"internal/access/authn":                       {"internal/identity"},
	"internal/access/authconfig":                  {"internal/access/authn", "internal/access/oidc", "internal/access/authz", "internal/text/yamldoc", "internal/address", "internal/access/listen"},
	"internal/access/credentials":                 {"internal/access/authn", "internal/access/authconfig", "internal/access/oidc", "internal/access/tokenstore"},
	"internal/access/rpcright":                    {"internal/access/authz", toolV1, protobuf + "/..."},
	"internal/access/gate":                        {"internal/audit", "internal/access/authn", "internal/access/authz", "internal/identity", "internal/access/rpcright", "internal/wire/toolpb", "tool", grpc + "/..."},
	"internal/access/peercred":                    {"internal/address", "internal/access/authn", grpc + "/...", "internal/access/listen"},
	"internal/access/clientlimit":                 {"tool", "internal/access/authn", "internal/access/listen", "internal/access/gate", "internal/wire/grpcserver", grpc + "/..."},
	"internal/toolhost/hostserver":                {"internal/access/authn", "internal/access/authz", "tool", "internal/version", "internal/address", "internal/fairness/budget", "internal/identity", "internal/wire/flow", "internal/access/gate", "internal/access/rpcright", "internal/wire/grpcserver", "internal/wire/hostpb", "internal/access/intake", "internal/access/peercred", "internal/wire/toolpb", "internal/wire/wirecode", hostV1, toolV1, grpc + "/...", protobuf + "/..."},

	"internal/access/intake":                 {"internal/access/authn", "internal/fairness/budget", "internal/access/listen", "internal/fairness/pace", "internal/access/peercred"},
	"internal/toolhost/mcp/mcphttp":          {"internal/address", "internal/access/authz", "internal/fairness/budget", "internal/identity", "internal/access/listen", "internal/access/gate", "internal/toolhost/mcp/mcpserver", "internal/access/peercred", "internal/access/rpcright", "tool", grpc + "/..."},
	"internal/toolhost/mcp/mcpauth":          {"internal/store/atomicfile", "tool", mcpSDK + "/oauthex", "github.com/go-jose/go-jose/v4", "golang.org/x/oauth2/...", unix},
	"internal/toolhost/mcp/mcpauth/authtest": {},
	"internal/toolhost/mcp/mcpserver":        {"internal/text/render", "internal/version", "tool", mcpSDK + "/..."},

	// The telemetry packages. Of the code that ships, only they and sdk/internal/spans import
	// OpenTelemetry.
	"internal/telemetry":               {"internal/address", "internal/store/ownership", "internal/telemetry/telemetryconfig", "internal/wire/trace", grpc + "/...", otel + "/...", prometheus + "/..."},
	"internal/agentd/agenttelemetry":   {"internal/agentd/agent", "internal/agentd/loop", "internal/telemetry", "internal/wire/trace", otel + "/..."},
	"internal/telemetry/telemetrytest": {otel + "/...", grpc},
	"internal/toolhost/hosttelemetry":  {"tool", "internal/audit", "internal/toolhost/host", "internal/toolhost/host/lifecycle", "internal/telemetry", "internal/wire/trace", otel + "/..."},

	// The callers' side.
	"internal/testkit/testca":              {},
	"internal/store/postgres/postgrestest": {"github.com/jackc/pgx/v5/..."},
	"internal/wire/credential":             {"internal/address", grpc + "/..."},
	"internal/wire/link":                   {"tool", "internal/address", "internal/wire/credential", "internal/wire/toolpb", "internal/wire/wirecode", grpc + "/..."},
	"internal/wire/agentclient":            {"tool", "internal/address", "internal/wire/credential", "internal/wire/link", "internal/wire/toolpb", agentV1, grpc + "/...", protobuf + "/proto"},
	"client":                               {"tool", "internal/address", "internal/wire/agentclient", "internal/wire/credential", "internal/wire/link", "internal/wire/flow", "internal/wire/hostpb", "internal/wire/toolpb", hostV1, agentV1, toolV1, grpc + "/..."},

	// The agent.
	"internal/agentd/model":                  {"tool"},
	"internal/agentd/model/anthropic":        {"tool", "internal/agentd/model", "internal/text/render", "github.com/anthropics/anthropic-sdk-go/..."},
	"internal/agentd/model/openai":           {"tool", "internal/agentd/model", "internal/agentd/model/openai/wire", "internal/text/render", "github.com/openai/openai-go/v3/..."},
	"internal/agentd/model/openai/responses": {"tool", "internal/agentd/model", "internal/agentd/model/openai/wire", "internal/text/render", "github.com/openai/openai-go/v3/..."},
	"internal/agentd/model/openai/wire":      {"tool", "internal/agentd/model", "github.com/openai/openai-go/v3/..."},
	"internal/agentd/model/gemini":           {"tool", "internal/agentd/model", "internal/text/render", "google.golang.org/genai"},
	"internal/agentd/model/scripted":         {"tool", "internal/agentd/model", "internal/text/yamldoc"},
	"internal/agentd/model/markup":           {},
	"internal/agentd/model/textform":         {"tool", "internal/agentd/model", "internal/agentd/model/markup", "internal/text/render"},
	"internal/agentd/model/wiretest":         {"tool", "internal/agentd/model", cmp + "/...", "github.com/rogpeppe/go-internal/..."},
	"internal/agentd/model/provider":         {"internal/agentd/model", "internal/agentd/model/anthropic", "internal/agentd/model/gemini", "internal/agentd/model/openai", "internal/agentd/model/openai/responses", "internal/agentd/model/scripted", "internal/agentd/model/textform"},
	"internal/agentd/runstore":               {},
	"internal/agentd/runstore/memory":        {"internal/agentd/runstore"},
	"internal/agentd/runstore/postgres":      {"internal/agentd/runstore", "internal/store/postgres", "github.com/jackc/pgx/v5/..."},
	"internal/agentd/runstore/sqlite":        {"internal/agentd/runstore", "internal/store/sqlitefile", "modernc.org/sqlite/...", unix},
	"internal/agentd/runstore/storetest":     {"internal/agentd/runstore", cmp + "/..."},
	"internal/agentd/loop":                   {"tool", "internal/agentd/model", "internal/agentd/model/markup"},
	"internal/agentd/loop/looptest":          {"tool", "internal/agentd/loop", "internal/agentd/model"},
	"internal/agentd/snapshot":               {"internal/agentd/loop", "internal/agentd/runstore", "internal/agentd/model", "tool"},
	"internal/agentd/attachment":             {"tool"},
	"internal/agentd/memoryfile":             {unix},
	"internal/agentd/agent":                  {"tool", "internal/agentd/attachment", "internal/agentd/memoryfile", "internal/identity", "internal/logging/loglevel", "internal/agentd/model", "internal/agentd/model/markup", "internal/agentd/loop", "internal/agentd/runstore", "internal/agentd/snapshot", "internal/text/arguments", "internal/text/partialjson", "internal/wire/trace", semaphores},
	"internal/agentd/agentconfig":            {"internal/agentd/agent", "internal/agentd/loop", "internal/agentd/memoryfile", "internal/logging/loglevel", "internal/access/authconfig", "internal/agentd/model", "internal/telemetry/telemetryconfig", "internal/text/yamldoc", "internal/store/postgres"},
	"internal/agentd/agentserver":            {"internal/access/authn", "internal/access/authz", "internal/fairness/budget", "internal/identity", "tool", "internal/version", "internal/agentd/agent", "internal/agentd/loop", "internal/agentd/model", "internal/access/gate", "internal/access/rpcright", "internal/wire/grpcserver", "internal/access/intake", "internal/access/peercred", "internal/wire/toolpb", agentV1, grpc + "/...", protobuf + "/..."},

	// The commands and what ships.
	"internal/toolhost/devloop":               {},
	"internal/toolhost/sdkarchive":            {},
	"internal/toolhost/scaffold":              {"tool", "internal/toolhost/sdkarchive", "internal/version", "golang.org/x/mod/..."},
	"internal/toolhost/serverpackage":         {"internal/toolhost/process", "internal/toolhost/sandbox", unix},
	"internal/toolhost/pluginfolder":          {"internal/toolhost/contentlink", "internal/store/rmtree", "internal/toolhost/sparse", unix},
	"internal/terminal/cli":                   {cobra, pflag, "client", "internal/address", "internal/text/crashoutput", "internal/text/nearest", "internal/version", "tool", unix, "golang.org/x/text/width"},
	"internal/agentd/markdown":                {"internal/terminal/cli", "github.com/yuin/goldmark/..."},
	"internal/logging":                        {"internal/terminal/cli", "internal/logging/loglevel"},
	"internal/terminal/form":                  {},
	"internal/terminal":                       {"internal/terminal/cli", "charm.land/bubbletea/v2", "charm.land/bubbles/v2/...", unix, xterm},
	"internal/terminal/configfile":            {cobra, pflag, "internal/terminal/cli", "internal/trust", "internal/text/yamldoc", "tool"},
	"internal/terminal/target":                {cobra, pflag, "client", "internal/address", "internal/terminal/cli", "internal/terminal/configfile", "internal/text/nearest", "internal/store/ownership", "internal/wire/credential", "internal/store/atomicfile", "internal/store/filelock", "internal/trust", unix},
	"internal/terminal/access":                {cobra, pflag, "tool", "internal/audit", "internal/access/authn", "internal/access/authconfig", "internal/access/tokenstore", "internal/access/authz", "internal/terminal/cli", "internal/identity", "internal/access/gate", "internal/access/rpcright"},
	"internal/toolhost/commands/fleet":        {"client", "internal/terminal/cli", "internal/terminal/target", "tool"},
	"internal/toolhost/commands/operate":      {cobra, pflag, "client", "internal/terminal/cli", "internal/toolhost/commands/fleet", "internal/terminal/form", "internal/terminal/target", "internal/terminal", "internal/terminal/configfile", "internal/text/crashoutput", "internal/store/atomicfile", "tool"},
	"internal/toolhost/commands/serve":        {"internal/fairness/pace", "internal/terminal/access", "internal/store/atomicfile", "internal/toolhost/workspace/workspaces", "internal/access/credentials", "internal/identity", "internal/logging/loglevel", "internal/logging", cobra, pflag, "internal/address", "internal/toolhost/artifact", "internal/audit", "internal/store/backup", "internal/fairness/budget", "internal/toolhost/callstore", "internal/terminal/cli", "internal/terminal/configfile", "internal/toolhost/config", "internal/toolhost/host", "internal/toolhost/host/history", "internal/toolhost/host/lifecycle", "internal/toolhost/host/logbuffer", "internal/toolhost/catalog", "internal/toolhost/limits", "internal/toolhost/manifest", "internal/toolhost/namewatch", "internal/toolhost/process", "internal/toolhost/reaper", "internal/store/rmtree", "internal/toolhost/sandbox", "internal/toolhost/subreaper", "internal/toolhost/policy", "internal/access/gate", "internal/toolhost/hostserver", "internal/toolhost/mcp/mcpauth", "internal/toolhost/mcp/mcphttp", "internal/secrets", "internal/toolhost/standing", "internal/systemd", "internal/telemetry", "internal/toolhost/hosttelemetry", "internal/trust", "internal/version", "internal/text/yamldoc", "tool", "internal/access/listen", "internal/text/nearest", "internal/access/clientlimit", "internal/access/authconfig", "internal/wire/credential", "internal/toolhost/workspace/workspaceproxy", "internal/toolhost/launch"},
	"internal/toolhost/commands/author":       {cobra, module, "client", "internal/address", "internal/terminal/cli", "internal/toolhost/commands/operate", "internal/toolhost/commands/serve", "internal/toolhost/config", "internal/toolhost/conformance", "internal/toolhost/devloop", "internal/toolhost/host/lifecycle", "internal/toolhost/catalog", "internal/toolhost/hostserver", "internal/toolhost/scaffold", "tool"},
	"internal/toolhost/commands/install":      {"github.com/rogpeppe/go-internal/diff", cobra, pflag, "client", "internal/terminal/cli", "internal/toolhost/commands/operate", "internal/toolhost/commands/serve", "internal/toolhost/host", "internal/toolhost/catalog", "internal/toolhost/launch", "internal/toolhost/manifest", "internal/toolhost/pluginfolder", "internal/trust", "tool"},
	"internal/agentd/commands":                {"internal/audit", "internal/terminal/access", "internal/access/credentials", "internal/access/authn", "internal/identity", "internal/logging/loglevel", "internal/logging", "github.com/rogpeppe/go-internal/diff", cobra, pflag, "client", agentV1, "internal/address", "internal/agentd/agent", "internal/agentd/agentconfig", "internal/agentd/attachment", "internal/agentd/loop", "internal/agentd/memoryfile", "internal/agentd/runstore", "internal/agentd/runstore/memory", "internal/agentd/runstore/sqlite", "internal/store/backup", "internal/toolhost/callstore", "internal/terminal/cli", "internal/terminal/child", "internal/terminal/configfile", "internal/terminal/form", "internal/agentd/markdown", "internal/terminal/target", "internal/terminal", "internal/agentd/model", "internal/agentd/model/provider", "internal/toolhost/limits", "internal/store/rmtree", "internal/wire/agentclient", "internal/agentd/agentserver", "internal/access/gate", "internal/secrets", "internal/store/sqlitefile", "internal/store/atomicfile", "internal/store/filelock", "internal/systemd", "internal/telemetry", "internal/agentd/agenttelemetry", "internal/trust", "internal/version", "tool", "internal/access/listen", "internal/access/clientlimit", "internal/access/authconfig", "internal/agentd/runstore/postgres", "internal/store/postgres"},
	"internal/toolhost/commands/auditlog":     {cobra, "client", "internal/audit", "internal/terminal/cli", "internal/toolhost/commands/operate", "internal/toolhost/commands/serve", "tool"},
	"internal/toolhost/commands/mcp":          {"github.com/tailscale/hujson", "internal/logging", "internal/logging/loglevel", cobra, pflag, "client", "internal/terminal/cli", "internal/toolhost/commands/install", "internal/toolhost/commands/operate", "internal/toolhost/commands/serve", "internal/toolhost/config", "internal/toolhost/manifest", "internal/toolhost/pluginfolder", "internal/toolhost/serverpackage", "internal/toolhost/mcp/mcpserver", "internal/store/atomicfile", "internal/trust", "tool"},
	"internal/toolhost/commands/maintain":     {cobra, "internal/store/backup", "internal/toolhost/callstore", "internal/terminal/cli", "internal/terminal/configfile", "internal/toolhost/commands/serve", "internal/toolhost/host/history", "internal/toolhost/catalog", "internal/store/sqlitefile", "internal/store/atomicfile", "internal/trust", "internal/version"},
	"internal/toolhost/commands":              {"internal/terminal/access", "internal/toolhost/commands/auditlog", cobra, "internal/terminal/cli", "internal/toolhost/commands/author", "internal/toolhost/commands/install", "internal/toolhost/commands/maintain", "internal/toolhost/commands/mcp", "internal/toolhost/commands/operate", "internal/toolhost/commands/prove", "internal/toolhost/commands/serve", "internal/terminal/target", "internal/toolhost/commands/workspace"},
	"internal/terminal/child":                 {},
	"internal/toolhost/commands/prove":        {cobra, "client", "internal/terminal/cli", "internal/terminal/child", "internal/toolhost/commands/serve", "sdk", "tool"},
	"internal/toolhost/commands/workspace":    {"internal/logging", "internal/logging/loglevel", cobra, "golang.org/x/net/netutil", "internal/address", "internal/terminal/cli", "internal/toolhost/limits", "internal/toolhost/process", "internal/toolhost/reaper", "internal/toolhost/sandbox", "internal/access/peercred", "internal/wire/workspacepb", "internal/toolhost/workspace/workspaceserver", "sdk/workspace", "sdk/workspace/commands", "sdk/workspace/remote", "tool", placeV1, grpc + "/..."},
	"cmd/toolhost":                            {"internal/terminal/cli", "internal/toolhost/commands", "internal/processors", "sdk/workspace/commands"},
	"cmd/agentd":                              {"internal/agentd/commands"},
	"internal/e2e":                            {},
	"internal/e2e/authors":                    {},
	"internal/e2e/barecontract":               {},
	"internal/e2e/chaos":                      {},
	"internal/e2e/testplugins/contextplugin":  {"sdk"},
	"internal/e2e/database":                   {},
	"internal/e2e/testplugins/dynamicplugin":  {"sdk"},
	"internal/e2e/testplugins/schemaplugin":   {"sdk"},
	"internal/e2e/counts":                     {},
	"internal/e2e/releases":                   {},
	"internal/e2e/escape":                     {},
	"internal/e2e/intruders":                  {},
	"internal/e2e/docs":                       {},
	"internal/e2e/monitoring":                 {},
	"internal/e2e/testplugins/secretplugin":   {"sdk"},
	"internal/e2e/testplugins/terminalplugin": {"sdk"},
	"internal/e2e/testplugins/approvalplugin": {"sdk"},
	"internal/e2e/testplugins/askplugin":      {"sdk"},
	"internal/e2e/testplugins/filterplugin":   {"sdk"},
	"internal/e2e/programs":                   {"internal/store/filelock"},
	"internal/e2e/size":                       {},
	"internal/e2e/testplugins/versionplugin":  {"sdk"},
	"internal/e2e/testplugins/mcpserver":      {},

	// The official conformance suite of MCP.
	"internal/e2e/mcpofficial":               {},
	"internal/e2e/testplugins/conformserver": {mcpSDK + "/..."},
	"internal/e2e/testplugins/conformplugin": {"sdk"},

	// Attacks by what tools leave behind.
	"internal/e2e/planted":                 {},
	"internal/e2e/testplugins/ownerplugin": {"sdk"},

	// The same tools and calls in several languages.
	"internal/e2e/languages":           {},
	"internal/e2e/languages/go/caller": {"client", "tool"},
	"internal/e2e/languages/go/plugin": {"sdk"},
	"internal/e2e/languages/go/tracer": {"sdk", otel + "/..."},
	"internal/e2e/languages/setup":     {"internal/e2e/programs"},

	// The test that kills processes at every boundary, and the plugin that counts the executions.
	"internal/e2e/boundary":                  {},
	"internal/e2e/testplugins/counterplugin": {"sdk"},

	// What tries to get out of the sandbox.
	"internal/e2e/testplugins/escapeplugin": {"sdk"},
}

// forbidden are imports that no line of allowedImports may allow. Each rule covers the packages
// below its package and its library.
var forbidden = []struct{ pkg, library, reason string }{
	{"tool", "", "the vocabulary imports the standard library alone"},
	{"internal/toolhost/host", protobuf, "the host speaks package tool; internal/toolhost/hostserver and internal/toolhost/pluginclient translate"},
	{"internal/toolhost/host", grpc, "the host can be used without a server"},
	{"internal/toolhost/host", "internal/wire/pluginwire", "the host reaches instances by internal/toolhost/pluginconn, whatever the connection is"},
	{"internal/toolhost/host", goPlugin, "only pluginwire, process and sdk know go-plugin"},
	{"internal/toolhost/catalog", goPlugin, "a catalogue starts nothing"},
	{"internal/agentd/loop", "internal/agentd/runstore", "the reducer does not know how events are kept"},
	{"internal/agentd/agent", protobuf, "the loop speaks packages tool and model"},
	{"internal/agentd/agent", grpc, "the loop can be used without a server"},
	{"internal/agentd/model", protobuf, "models speak package model"},
	{"internal/agentd/runstore", protobuf, "the journal is JSON"},
	{"internal/wire/flow", "gen/go", "flow knows no contract"},
	{"sdk", "internal/toolhost/host", "a tool's author gets no host"},
	{"sdk", "internal/toolhost/process", "a tool's author gets no host"},
}

// onlyHere are libraries that only the named packages, and those below them, may import.
var onlyHere = map[string][]string{
	goPlugin: {"internal/wire/pluginwire", "internal/toolhost/process", "sdk"},
	hclog:    {"internal/wire/pluginwire", "internal/toolhost/process", "sdk"},
	celGo:    {"internal/toolhost/policy"},
	// mcpauth uses what the SDK has about OAuth. The conformance suite calls conformserver, which no
	// other code uses.
	mcpSDK:     {"internal/toolhost/mcp/mcpauth", "internal/toolhost/mcp/mcpclient", "internal/toolhost/mcp/mcpserver", "internal/e2e/testplugins/conformserver"},
	otel:       {"internal/telemetry", "internal/e2e/languages/go/tracer", "sdk/internal/spans"},
	prometheus: {"internal/telemetry"},
}

func TestEveryImportIsInTheTable(t *testing.T) {
	packages := readPackages(t)
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		allowed, known := allowedImports[name]
		if !known {
			t.Errorf("the package %s has no line: add one to allowedImports in arch_test.go with what it may import, and one to the table of ARCHITECTURE.md with what it owns", name)
			continue
		}
		for _, imported := range packages[name] {
			if !slices.ContainsFunc(allowed, func(pattern string) bool { return matches(pattern, imported) }) {
				t.Errorf("%s imports %s, which its line of allowedImports in arch_test.go does not allow: move the code to a package that may, or, if the import is right, add it there and say so in ARCHITECTURE.md", name, imported)
			}
		}
		for _, pattern := range allowed {
			if !slices.ContainsFunc(packages[name], func(imported string) bool { return matches(pattern, imported) }) {
				t.Errorf("%s does not import %s, which its line of allowedImports in arch_test.go allows: remove it there", name, pattern)
			}
		}
	}
	for name := range allowedImports {
		if _, exists := packages[name]; !exists {
			t.Errorf("the package %s has a line in arch_test.go and no code: remove the line", name)
		}
	}
}

func TestForbiddenImports(t *testing.T) {
	packages := readPackages(t)
	delete(packages, "internal/toolhost/hosttest") // tests run plugins of the gRPC contract
	for name, imports := range packages {
		for _, imported := range imports {
			for _, rule := range forbidden {
				if within(rule.pkg, name) && within(rule.library, imported) {
					t.Errorf("%s imports %s: %s", name, imported, rule.reason)
				}
			}
			for library, importers := range onlyHere {
				if within(library, imported) && !slices.ContainsFunc(importers, func(importer string) bool { return within(importer, name) }) {
					t.Errorf("%s imports %s, which only %s may", name, imported, strings.Join(importers, ", "))
				}
			}
		}
	}
}

// The shipped plugins are a module of their own. They show that a tool needs nothing that a plugin in
// another repository cannot import. Their tests may use toolhost's own way to start PostgreSQL.
func TestPluginsImportOnlyWhatAuthorsCan(t *testing.T) {
	public := []string{"sdk", "sdk/egress", "sdk/sdktest", "sdk/workspace", "sdk/workspace/commands", "tool"}
	forTests := append(slices.Clone(public), "internal/testkit/eventually", "internal/testkit/shortdir", "internal/store/postgres/postgrestest")
	err := fs.WalkDir(os.DirFS("."), "plugins", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") {
			return err
		}
		allowed := public
		if isTest(name) {
			allowed = forTests
		}
		imports, err := importsOf(name)
		for _, imported := range imports {
			if !strings.Contains(imported, ".") && !slices.Contains(allowed, imported) && !within(pluginOf(name), imported) {
				t.Errorf("%s imports %s: of this repository, a plugin imports the packages %s and its own", name, imported, strings.Join(allowed, ", "))
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// agentd runs models and calls tools over gRPC. It must not be able to start plugins.
func TestAgentdNeverLinksGoPlugin(t *testing.T) {
	packages := readPackages(t)
	seen := map[string]bool{}
	var visit func(name string, trail []string)
	visit = func(name string, trail []string) {
		if seen[name] {
			return
		}
		seen[name] = true
		trail = append(slices.Clip(trail), name)
		for _, imported := range packages[name] {
			if within(goPlugin, imported) {
				t.Errorf("%s imports %s", strings.Join(trail, " imports "), imported)
			}
			visit(imported, trail)
		}
	}
	visit("cmd/agentd", nil)
}

func TestEveryPackageIsInTheArchitecture(t *testing.T) {
	document, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range allowedImports {
		if within("gen", name) {
			continue // one line speaks for all
		}
		described := false
		for pkg := name; !described; pkg = path.Dir(pkg) {
			described = strings.Contains(string(document), "`"+pkg+"`")
			if pkg == path.Dir(pkg) {
				break
			}
		}
		if !described {
			t.Errorf("the table of ARCHITECTURE.md has no line for `%s`: say what it owns and what it never does", name)
		}
	}
}

// Templates look up methods by name, so the linker has to keep every method of every type of a
// program: templates made agentd 50 % larger. Functions of cobra that use templates count too.
func TestNothingExecutesTemplates(t *testing.T) {
	offers := regexp.MustCompile(`\.(AddTemplateFuncs?|Set(Version|Usage|Help)Template)\(`)
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return skipped(name)
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, content, parser.ImportsOnly)
		if err != nil {
			return fmt.Errorf("reading the imports of %s: %w", name, err)
		}
		for _, spec := range file.Imports {
			if spec.Path.Value == `"text/template"` || spec.Path.Value == `"html/template"` {
				t.Errorf("%s imports %s, which keeps every method in the programs", name, spec.Path.Value)
			}
		}
		if found := offers.Find(content); found != nil {
			t.Errorf("%s uses cobra's %s, which keeps every method in the programs", name, found)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestGeneratedCodeIsGenerated(t *testing.T) {
	err := fs.WalkDir(os.DirFS("."), "gen", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if !strings.Contains(string(content), "// Code generated by protoc-gen-go") {
			t.Errorf("%s was not generated: gen/ is made by make generate, and all else in it is deleted", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// readPackages returns what each package of this module imports, outside of its tests and on any
// platform. Packages of the module are named by their path in it; those of the standard library are
// left out.
func readPackages(t *testing.T) map[string][]string {
	t.Helper()
	packages := map[string][]string{}
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return skipped(name)
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		imports, err := importsOf(name)
		folder := path.Dir(name)
		imports = append(imports, packages[folder]...)
		slices.Sort(imports)
		packages[folder] = slices.Compact(imports)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return packages
}

// importsOf returns what a file imports. Packages of this repository are named by their path in it;
// those of the standard library are left out.
func importsOf(name string) ([]string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
	if err != nil {
		return nil, fmt.Errorf("reading the imports of %s: %w", name, err)
	}
	var imports []string
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("reading the imports of %s: %w", name, err)
		}
		if own, ok := strings.CutPrefix(imported, module+"/"); ok {
			imported = own
		} else if first, _, _ := strings.Cut(imported, "/"); !strings.Contains(first, ".") {
			continue
		}
		imports = append(imports, imported)
	}
	return imports, nil
}

// TestReducerIsPure keeps internal/agentd/loop free of effects: what a run does next must follow
// from its journal alone, or a run that continues in another process would take another way. Beyond
// its line in allowedImports, the package may use only those packages of the standard library that
// compute, and of package time nothing that reads a clock or waits.
func TestReducerIsPure(t *testing.T) {
	allowed := []string{
		"bytes", "cmp", "crypto/sha256", "encoding/base32", "encoding/hex", "encoding/json", "errors", "fmt", "maps", "regexp",
		"slices", "strings", "time", "unicode/utf8",
	}
	clock := []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}
	files, err := fs.Glob(os.DirFS("."), "internal/agentd/loop/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			imported := strings.Trim(spec.Path.Value, `"`)
			if !strings.HasPrefix(imported, module+"/") && !slices.Contains(allowed, imported) {
				t.Errorf("%s imports %s: the reducer only computes", name, imported)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(clock, s.Sel.Name) {
				t.Errorf("%s uses time.%s: take the time from an event or from the caller", name, s.Sel.Name)
			}
			return true
		})
		for _, decl := range file.Decls {
			if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.VAR {
				for _, spec := range d.Specs {
					for _, v := range spec.(*ast.ValueSpec).Values {
						if call, ok := v.(*ast.CallExpr); !ok || !isMustCompile(call) {
							t.Errorf("%s has a package variable: the reducer has no state but State", name)
						}
					}
				}
			}
		}
	}
}

// isMustCompile reports whether a call is regexp.MustCompile. Its result does not change.
func isMustCompile(call *ast.CallExpr) bool {
	s, ok := call.Fun.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "MustCompile"
}

// skipped returns fs.SkipDir for a folder whose Go files are not of this module.
func skipped(folder string) error {
	if folder == "." {
		return nil
	}
	base := path.Base(folder)
	if base == "testdata" || base == "bin" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return fs.SkipDir
	}
	if _, err := os.Stat(path.Join(folder, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}

func matches(pattern, name string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "/..."); ok {
		return within(prefix, name)
	}
	return pattern == name
}

// within reports whether name is parent or a package below it. Every name is within "".
func within(parent, name string) bool {
	return parent == "" || name == parent || strings.HasPrefix(name, parent+"/")
}

// pluginOf returns the folder of the plugin that a package belongs to.
func pluginOf(name string) string {
	parts := strings.SplitN(name, "/", 3)
	return path.Join(parts[:min(2, len(parts))]...)
}
