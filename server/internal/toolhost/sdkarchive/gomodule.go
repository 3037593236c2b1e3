package sdkarchive

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// ModulePath is the path of the Go module that contains the SDK.
const ModulePath = "github.com/toolhost/toolhost"

// GoUse is what a repository uses the Go module for. It decides which packages a copy contains.
// Both together are the packages for a repository with a plugin and a caller.
type GoUse int

// The uses.
const (
	ForPlugins GoUse = 1 << iota // the packages sdk and tool, and those below sdk
	ForCallers                   // the packages client and tool
)

// callerFolders contains the packages that only callers need. generalFolders contains those that
// both callers and plugins need. Plugins need all others that toolhost.Sources contains.
var (
	callerFolders = []string{
		"client", "gen/go/agentd/v1", "gen/go/toolhost/decision/v1", "gen/go/toolhost/v1", "internal/address", "internal/identity", "internal/store/ownership", "internal/store/filelock",
		"internal/wire/credential", "internal/wire/hostpb", "internal/wire/link",
	}
	generalFolders = []string{"gen/go/toolhost/tool/v1", "internal/text/crashoutput", "internal/wire/flow", "internal/wire/toolpb", "internal/wire/wirecode", "tool"}
)

// needs reports whether a repository of this use needs the package in a folder.
func (u GoUse) needs(folder string) bool {
	switch {
	case slices.Contains(generalFolders, folder):
		return true
	case slices.Contains(callerFolders, folder):
		return u&ForCallers != 0
	}
	return u&ForPlugins != 0
}

// modules returns the modules that the packages of this use need.
func (u GoUse) modules() []string {
	if u&ForPlugins == 0 {
		return goCallerModules
	}
	return goModules
}

// goCallerModules are those of goModules that the packages for callers need.
var goCallerModules = []string{
	"golang.org/x/net",
	"golang.org/x/sys",
	"golang.org/x/text",
	"google.golang.org/genproto/googleapis/rpc",
	"google.golang.org/grpc",
	"google.golang.org/protobuf",
}

// goModules are the modules that the SDK's packages need, directly or indirectly. Their versions
// come from toolhost's go.mod.
var goModules = []string{
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
	"github.com/santhosh-tekuri/jsonschema/v6",
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

// goSums are the additional modules whose checksums `go mod tidy` requires, because the tests of
// the modules above need them.
var goSums = []string{
	"github.com/bufbuild/protocompile",
	"github.com/davecgh/go-spew",
	"github.com/dlclark/regexp2",
	"github.com/google/go-cmp",
	"github.com/jhump/protoreflect",
	"github.com/pmezard/go-difflib",
	"github.com/stretchr/objx",
	"github.com/stretchr/testify",
	"go.yaml.in/yaml/v3",
	"gonum.org/v1/gonum",
	"gopkg.in/check.v1",
	"gopkg.in/yaml.v3",
}

// goUnneeded are the lines of toolhost's go.sum for these modules that `go mod tidy` removes from
// the go.sum of a plugin: other modules of toolhost need them.
var goUnneeded = []string{
	"github.com/pmezard/go-difflib v1.0.0 ",
	"github.com/stretchr/testify v1.3.0/go.mod ",
	"github.com/stretchr/testify v1.7.0/go.mod ",
	"go.yaml.in/yaml/v3 v3.0.4/go.mod ",
	"gopkg.in/yaml.v3 v3.0.0-20200313102051-9f266ea9e77c/go.mod ",
}

// goCallerSums and goCallerUnneeded are the same for callers.
var (
	goCallerSums     = []string{"github.com/golang/protobuf", "github.com/google/go-cmp", "gonum.org/v1/gonum"}
	goCallerUnneeded = []string{"golang.org/x/sys v0.0.0-"}
)

// sumsOf returns the go.sum of a repository from that of toolhost.
func sumsOf(sum string, use GoUse) []byte {
	sums, unneeded := goSums, goUnneeded
	if use&ForPlugins == 0 {
		sums, unneeded = goCallerSums, goCallerUnneeded
	}
	var b strings.Builder
	for line := range strings.Lines(linesOf(sum, slices.Concat(use.modules(), sums))) {
		if !slices.ContainsFunc(unneeded, func(prefix string) bool { return strings.HasPrefix(line, prefix) }) {
			b.WriteString(line)
		}
	}
	return []byte(b.String())
}

// GoCopy is the part of the Go module that a plugin and its tests, or a caller, need. A repository
// contains it in a folder and replaces the module by that folder. It has the import paths of the
// module but another hash.
type GoCopy struct {
	GoVersion string // the Go version that the module needs, such as 1.26.0
	Requires  string // the require directive for all modules that the copy needs
	Sum       []byte // the go.sum of a module that depends on nothing else
	Files     []File // the files of the folder, with a go.mod
}

// GoModule returns the copy without the module's tests. Its go.mod requires only the modules that
// the copied packages need. The go.mod of the published module also requires those of the client or
// of the SDK, and of tests.
func GoModule(sources fs.FS, use GoUse) (GoCopy, error) {
	sum, err := fs.ReadFile(sources, "go.sum")
	if err != nil {
		return GoCopy{}, err
	}
	version, requires, err := goRequires(sources, use.modules())
	if err != nil {
		return GoCopy{}, err
	}
	files, err := filesIn(sources, ".", "", func(name string) bool {
		return path.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go") && use.needs(path.Dir(name)) || name == "LICENSE"
	})
	mod := File{"go.mod", []byte("module " + ModulePath + "\n\ngo " + version + "\n\n" + requires)}
	return GoCopy{
		GoVersion: version, Requires: requires, Sum: sumsOf(string(sum), use),
		Files: append([]File{mod}, files...),
	}, err
}

// goRequires returns the Go version that the SDK needs and the require directive for the modules.
func goRequires(sources fs.FS, modules []string) (version, requires string, err error) {
	text, err := fs.ReadFile(sources, "go.mod")
	if err != nil {
		return "", "", err
	}
	mod := strings.NewReplacer("\t", "", "require ", "").Replace(string(text)) // a directive may be a block or a line
	version = strings.TrimSpace(strings.TrimPrefix(linesOf(mod, []string{"go"}), "go "))
	var b strings.Builder
	for _, line := range slices.Sorted(strings.Lines(linesOf(mod, modules))) {
		fields := strings.Fields(line)
		fmt.Fprintf(&b, "\t%s %s // indirect\n", fields[0], fields[1])
	}
	return version, "require (\n" + b.String() + ")\n", nil
}

// linesOf returns the lines of text whose first word is in words.
func linesOf(text string, words []string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if first, _, ok := strings.Cut(line, " "); ok && slices.Contains(words, first) {
			b.WriteString(line)
		}
	}
	return b.String()
}
