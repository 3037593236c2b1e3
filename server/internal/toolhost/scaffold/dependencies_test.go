package scaffold_test

import (
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost"
	"github.com/toolhost/toolhost/server/internal/toolhost/scaffold"
)

// pluginModules are the modules that a Go plugin compiles. Every plugin that an author builds
// contains them, so a new one needs a reason.
var pluginModules = []string{
	"github.com/cespare/xxhash/v2",
	"github.com/fatih/color",
	"github.com/go-logr/logr",
	"github.com/go-logr/stdr",
	"github.com/golang/protobuf",
	"github.com/google/jsonschema-go",
	"github.com/hashicorp/go-hclog",
	"github.com/hashicorp/go-plugin",
	"github.com/hashicorp/yamux",
	"github.com/mattn/go-colorable",
	"github.com/mattn/go-isatty",
	"github.com/oklog/run",
	"github.com/toolhost/toolhost",
	"go.opentelemetry.io/auto/sdk",
	"go.opentelemetry.io/otel",
	"go.opentelemetry.io/otel/log",
	"go.opentelemetry.io/otel/metric",
	"go.opentelemetry.io/otel/trace",
	"golang.org/x/net",
	"golang.org/x/sys",
	"golang.org/x/text",
	"google.golang.org/genproto/googleapis/rpc",
	"google.golang.org/grpc",
	"google.golang.org/protobuf",
}

// pluginTestModules are the further modules that the tests of a plugin compile.
var pluginTestModules = []string{"github.com/santhosh-tekuri/jsonschema/v6"}

// foreign matches packages and modules that toolhost and agentd use, and that plugins must not get:
// SDKs of OpenTelemetry, MCP, clouds and Temporal, and databases.
var foreign = regexp.MustCompile(`^(go\.opentelemetry\.io/(otel/(sdk|exporters)|proto|contrib)|github\.com/modelcontextprotocol/|` +
	`cloud\.google\.com/|github\.com/(aws|Azure)/|google\.golang\.org/(api|genproto/googleapis/cloud)|go\.temporal\.io/|` +
	`database/sql|modernc\.org/sqlite|github\.com/(jackc/pgx|lib/pq|mattn/go-sqlite3|ncruces/go-sqlite3))`)

// callerModules are the modules that a Go caller compiles, also with its tests.
var callerModules = []string{
	"github.com/toolhost/toolhost",
	"golang.org/x/net",
	"golang.org/x/sys",
	"golang.org/x/text",
	"google.golang.org/genproto/googleapis/rpc",
	"google.golang.org/grpc",
	"google.golang.org/protobuf",
}

// A new Go plugin or caller compiles only the listed modules, and its go.mod requires no others.
// The test does not use `go list -m all`, which also lists what the tests of grpc require and no
// plugin downloads.
func TestGoNeedsFewModules(t *testing.T) {
	t.Run("plugin", func(t *testing.T) { needsFewModules(t, scaffold.Config{}, pluginModules, pluginTestModules) })
	t.Run("caller", func(t *testing.T) { needsFewModules(t, scaffold.Config{Caller: true}, callerModules, nil) })
}

func needsFewModules(t *testing.T, c scaffold.Config, modules, testModules []string) {
	t.Helper()
	dir := t.TempDir()
	c.Name, c.Language, c.Dir, c.Sources = "weather", "go", dir, toolhost.Sources()
	if _, err := scaffold.Write(c); err != nil {
		t.Fatal(err)
	}
	list := func(args ...string) []string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "go", append([]string{"list"}, args...)...)
		cmd.Dir = dir
		// It needs no module that toolhost does not need, so the module cache has them all.
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off", "GOPROXY=off")
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list %q: %v\n%s", args, err, stderr.String())
		}
		return strings.Fields(string(out))
	}
	const module = `{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}`
	compiled := distinct(list("-deps", "-f", module, "./..."))
	if !slices.Equal(compiled, modules) {
		t.Errorf("it compiles the modules\n%q\nwant\n%q", compiled, modules)
	}
	all := slices.Sorted(slices.Values(slices.Concat(modules, testModules)))
	if got := distinct(list("-deps", "-test", "-f", module, "./...")); !slices.Equal(got, all) {
		t.Errorf("with its test it compiles the modules\n%q\nwant\n%q", got, all)
	}
	for _, name := range list("-deps", "-test", "./...") {
		if foreign.MatchString(name) {
			t.Errorf("it compiles the package %s", name)
		}
	}
	mod, err := os.ReadFile(dir + "/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^(?:require )?\s*(\S+) v\S+`).FindAllStringSubmatch(string(mod), -1) {
		if required := m[1]; !slices.Contains(all, required) {
			t.Errorf("its go.mod requires %s, which neither it nor its test compiles", required)
		}
	}
}

func distinct(names []string) []string {
	set := map[string]bool{}
	for _, name := range names {
		set[name] = true
	}
	return slices.Sorted(maps.Keys(set))
}
