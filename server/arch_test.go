package server_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/toolhost/toolhost"

// programs is the folder of the programs' module.
const programs = "server"

// Libraries that several rules name.
const (
	grpc     = "google.golang.org/grpc"
	protobuf = "google.golang.org/protobuf"
	goPlugin = "github.com/hashicorp/go-plugin"
)

// libraries says for each library which packages may import it. A name includes the packages below
// it. Test files may import more, and so may the plugins of tests. To use another library, or a
// library in another place, add it here, and say in the commit why it is the right one.
var libraries = map[string][]string{
	grpc: {
		"client", "gen", "sdk", "internal/wire", "server/internal/wire", "server/internal/access", "server/internal/systemd", "server/internal/telemetry",
		"server/internal/agentd/agentserver", "server/internal/agentd/temporal", "server/internal/toolhost/hostserver", "server/internal/toolhost/hosttest", "server/internal/toolhost/conformance",
		"server/internal/toolhost/process", "server/internal/toolhost/mcp/mcphttp", "server/internal/toolhost/workspace", "server/internal/toolhost/commands/workspace", "server/internal/testkit/agentmessages",
	},
	protobuf: {
		"gen", "internal/wire", "server/internal/wire", "server/internal/access/jsonapi", "server/internal/access/rpcright", "server/internal/agentd/agentserver", "server/internal/agentd/temporal/temporaltest", "server/internal/toolhost/hostserver",
		"server/internal/toolhost/callstore", "server/internal/toolhost/conformance", "server/internal/toolhost/process",
	},
	// JSON over HTTP, for programs without gRPC.
	"connectrpc.com/connect":        {"server/internal/access/jsonapi"},
	goPlugin:                        {"internal/wire/pluginwire", "server/internal/toolhost/process", "sdk"},
	"github.com/hashicorp/go-hclog": {"server/internal/toolhost/process", "sdk"},
	// mcpauth uses what the SDK has about OAuth. The conformance suite calls conformserver, which no
	// other code uses.
	"github.com/modelcontextprotocol/go-sdk": {"server/internal/toolhost/mcp", "server/internal/e2e/testplugins/conformserver"},
	"go.opentelemetry.io":                    {"server/internal/telemetry", "server/internal/agentd/agenttelemetry", "server/internal/toolhost/hosttelemetry", "sdk/internal/spans", "server/internal/e2e/languages/go/tracer"},
	"github.com/prometheus/client_golang":    {"server/internal/telemetry"},
	// The engine of teams that run Temporal.
	"go.temporal.io": {"server/internal/agentd/temporal"},

	// Data.
	"modernc.org/sqlite":                    {"server/internal/store/sqlitefile", "server/internal/agentd/runstore/sqlite", "server/internal/toolhost/callstore", "server/internal/toolhost/host/history", "server/internal/toolhost/standing"},
	"github.com/jackc/pgx":                  {"server/internal/store/postgres", "server/internal/agentd/runstore/postgres", "server/internal/toolhost/callstore/postgres", "server/internal/toolhost/grants", "server/internal/toolhost/host/history"},
	"github.com/goccy/go-yaml":              {"server/internal/text/yamldoc"},
	"github.com/tailscale/hujson":           {"server/internal/toolhost/mcp/clientfile"},
	"github.com/pelletier/go-toml":          {"server/internal/toolhost/mcp/clientfile"},
	"github.com/santhosh-tekuri/jsonschema": {"internal/text/arguments"},
	"github.com/google/jsonschema-go":       {"sdk"},
	"github.com/yosida95/uritemplate":       {"server/internal/toolhost/host/offers"},
	"cel.dev/cel-go":                        {"server/internal/toolhost/policy"},
	"golang.org/x/text":                     {"internal/text", "server/internal/terminal/cli", "server/internal/toolhost/toolsearch"},
	"golang.org/x/mod":                      {"server/internal/toolhost/scaffold"},

	// Identity.
	"github.com/coreos/go-oidc":  {"server/internal/access/oidc"},
	"github.com/go-jose/go-jose": {"server/internal/access/oidc", "server/internal/toolhost/mcp/mcpauth"},
	"golang.org/x/oauth2":        {"server/internal/access/oidc", "server/internal/toolhost/mcp/mcpauth"},

	// Providers of models.
	"github.com/anthropics/anthropic-sdk-go": {"server/internal/agentd/model/anthropic"},
	"github.com/openai/openai-go":            {"server/internal/agentd/model/openai"},
	"google.golang.org/genai":                {"server/internal/agentd/model/gemini"},

	// Terminals.
	"github.com/spf13/cobra":          {"server/internal/terminal", "server/internal/agentd/commands", "server/internal/toolhost/commands"},
	"github.com/spf13/pflag":          {"server/internal/terminal", "server/internal/agentd/commands", "server/internal/toolhost/commands"},
	"charm.land":                      {"server/internal/terminal"},
	"golang.org/x/term":               {"server/internal/terminal"},
	"github.com/yuin/goldmark":        {"server/internal/agentd/markdown"},
	"github.com/rogpeppe/go-internal": {"server/internal/agentd/commands", "server/internal/agentd/model/wiretest", "server/internal/toolhost/commands/install"},

	// The operating system and the network.
	"golang.org/x/sys": {
		"server/internal/access", "internal/address", "server/internal/agentd", "server/internal/store", "server/internal/terminal", "server/internal/toolhost", "server/internal/trust", "sdk/workspace",
	},
	"golang.org/x/net":             {"server/internal/agentd/console", "server/internal/toolhost/commands/workspace", "server/internal/toolhost/sandbox"},
	"golang.org/x/sync":            {"server/internal/agentd", "server/internal/toolhost"},
	"golang.org/x/time":            {"server/internal/access", "server/internal/toolhost"},
	"github.com/coreos/go-systemd": {"server/internal/access/listen", "server/internal/systemd"},

	// Packages that only tests import.
	"github.com/google/go-cmp": {
		"server/internal/agentd/model/wiretest", "server/internal/agentd/runstore/storetest", "server/internal/text/yamldoc/yamldoctest", "server/internal/toolhost/callstore/storetest",
		"server/internal/toolhost/hosttest", "sdk/workspace/workspacetest",
	},
	"github.com/anishathalye/porcupine": {"server/internal/toolhost/callstore/storetest"},
}

// forbidden are imports that break a promise of the package. Each rule covers the packages below
// its package and its library.
var forbidden = []struct{ pkg, library, reason string }{
	{"tool", "", "the vocabulary imports the standard library alone"},
	{"server/internal/toolhost/host", protobuf, "the host speaks package tool; server/internal/toolhost/hostserver and server/internal/toolhost/pluginclient translate"},
	{"server/internal/toolhost/host", grpc, "the host can be used without a server"},
	{"server/internal/toolhost/host", "internal/wire/pluginwire", "the host reaches instances by server/internal/toolhost/pluginconn, whatever the connection is"},
	{"server/internal/toolhost/host", goPlugin, "only pluginwire, process and sdk know go-plugin"},
	{"server/internal/toolhost/catalog", goPlugin, "a catalogue starts nothing"},
	{"server/internal/agentd/loop", "server/internal/agentd/runstore", "the reducer does not know how events are kept"},
	{"server/internal/agentd/agent", protobuf, "the loop speaks packages tool and model"},
	{"server/internal/agentd/agent", grpc, "the loop can be used without a server"},
	{"server/internal/agentd/model", protobuf, "models speak package model"},
	{"server/internal/agentd/runstore", protobuf, "the journal is JSON"},
	{"internal/wire/flow", "gen/go", "flow knows no contract"},
}

// TestLibrariesAreInTheTable fails if a package imports a library that its line does not allow, or
// if a line allows what nothing uses.
func TestLibrariesAreInTheTable(t *testing.T) {
	used := map[string]map[string]bool{}
	for name, imports := range readPackages(t) {
		for _, imported := range imports {
			if first, _, _ := strings.Cut(imported, "/"); !strings.Contains(first, ".") || imported == module {
				continue // a package of this module
			}
			library := libraryOf(imported)
			if library == "" {
				t.Errorf("%s imports %s, which has no line: add one to libraries in arch_test.go with the packages that may import it", name, imported)
				continue
			}
			importer := slices.IndexFunc(libraries[library], func(parent string) bool { return within(parent, name) })
			if importer < 0 {
				t.Errorf("%s imports %s, which only %s may: move the code there, or, if the import is right, add the package to the line of libraries in arch_test.go", name, imported, strings.Join(libraries[library], ", "))
				continue
			}
			if used[library] == nil {
				used[library] = map[string]bool{}
			}
			used[library][libraries[library][importer]] = true
		}
	}
	for library, importers := range libraries {
		for _, importer := range importers {
			if !used[library][importer] {
				t.Errorf("nothing in %s imports %s: remove it from the line of libraries in arch_test.go", importer, library)
			}
		}
	}
}

// libraryOf returns the line of libraries for an imported package, or "".
func libraryOf(imported string) string {
	for library := range libraries {
		if within(library, imported) {
			return library
		}
	}
	return ""
}

func TestForbiddenImports(t *testing.T) {
	for name, imports := range readPackages(t) {
		for _, imported := range imports {
			for _, rule := range forbidden {
				if within(rule.pkg, name) && within(rule.library, imported) {
					t.Errorf("%s imports %s: %s", name, imported, rule.reason)
				}
			}
		}
	}
}

// The shipped plugins are a module of their own. They show that a tool needs nothing that a plugin
// in another repository cannot import. Their tests may use toolhost's own way to start PostgreSQL.
func TestPluginsImportOnlyWhatAuthorsCan(t *testing.T) {
	public := []string{"sdk", "sdk/egress", "sdk/sdktest", "sdk/workspace", "sdk/workspace/commands", "tool"}
	forTests := append(slices.Clone(public), "internal/testkit/eventually", "internal/testkit/shortdir", "internal/testkit/postgrestest")
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
	visit("server/cmd/agentd", nil)
}

func TestEveryPackageIsInTheArchitecture(t *testing.T) {
	document, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range readPackages(t) {
		if name == "." || name == programs || within("gen", name) {
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
// program: templates made agentd 50 % larger. Functions of cobra that use templates count too. The
// pages of agentd are worth that price; see docs/adr/0049-pages.md.
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
		pages := strings.HasPrefix(name, "server/internal/agentd/console/")
		for _, spec := range file.Imports {
			if name := spec.Path.Value; name == `"text/template"` || name == `"html/template"` && !pages {
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

// readPackages returns what each package of the two modules imports, outside of its tests and on
// any platform. Packages of the repository are named by their path in it; those of the standard
// library are left out.
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

// TestReducerIsPure keeps server/internal/agentd/loop free of effects: what a run does next must
// follow from its journal alone, or a run that continues in another process would take another way.
// The package may use only those packages of the standard library that compute, and of package time
// nothing that reads a clock or waits.
func TestReducerIsPure(t *testing.T) {
	allowed := []string{
		"bytes", "cmp", "crypto/sha256", "encoding/base32", "encoding/hex", "encoding/json", "errors", "fmt", "maps", "regexp",
		"slices", "strings", "time", "unicode/utf8",
	}
	clock := []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}
	files, err := fs.Glob(os.DirFS("."), "server/internal/agentd/loop/*.go")
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

// skipped returns fs.SkipDir for a folder whose Go files are neither of the SDK's module, which is
// the repository's root, nor of the programs'.
func skipped(folder string) error {
	if folder == "." || folder == programs {
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

// within reports whether name is parent or a package below it. Every name is within "".
func within(parent, name string) bool {
	return parent == "" || name == parent || strings.HasPrefix(name, parent+"/")
}

// pluginOf returns the folder of the plugin that a package belongs to.
func pluginOf(name string) string {
	parts := strings.SplitN(name, "/", 3)
	return path.Join(parts[:min(2, len(parts))]...)
}
