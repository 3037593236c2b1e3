package scaffold

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// carriedGo is the folder of the SDK's module in a Go repository.
const carriedGo = carriedDir + "/toolhost-sdk"

// goModules are the modules that the SDK's packages need, directly or indirectly. Their versions
// come from toolhost's go.mod.
var goModules = []string{
	"github.com/fatih/color",
	"github.com/golang/protobuf",
	"github.com/google/jsonschema-go",
	"github.com/hashicorp/go-hclog",
	"github.com/hashicorp/go-plugin",
	"github.com/hashicorp/yamux",
	"github.com/mattn/go-colorable",
	"github.com/mattn/go-isatty",
	"github.com/oklog/run",
	"github.com/santhosh-tekuri/jsonschema/v6",
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
	"gonum.org/v1/gonum",
}

// carryGo returns the SDK's module without its tests, and the repository's go.sum.
func carryGo(sources fs.FS) ([]file, error) {
	sum, err := fs.ReadFile(sources, "go.sum")
	if err != nil {
		return nil, err
	}
	version, requires, err := goRequires(sources)
	if err != nil {
		return nil, err
	}
	files := []file{
		{"go.sum", linesOf(string(sum), slices.Concat(goModules, goSums))},
		{carriedGo + "/go.mod", "module " + modulePath + "\n\ngo " + version + "\n\n" + requires},
	}
	err = fs.WalkDir(sources, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(name, "_test.go") || path.Ext(name) != ".go" && name != "LICENSE" {
			return err
		}
		text, err := fs.ReadFile(sources, name)
		files = append(files, file{carriedGo + "/" + name, string(text)})
		return err
	})
	return files, err
}

// referGo returns the values for the template of go.mod. If the repository contains the SDK, they
// name all modules that the build needs, so that `go mod tidy` adds nothing.
func referGo(sources fs.FS, linked string) (map[string]string, error) {
	version, requires, err := goRequires(sources)
	if err != nil || linked == "" {
		return map[string]string{"SDK": "./" + carriedGo, "GoVersion": version, "Requires": requires + "\n"}, err
	}
	if !strings.HasPrefix(linked, "/") && !strings.HasPrefix(linked, "../") {
		linked = "./" + linked
	}
	if strings.ContainsAny(linked, " \t\"'`,()[]{}") {
		linked = strconv.Quote(linked)
	}
	return map[string]string{"SDK": linked, "GoVersion": version, "Requires": ""}, nil
}

// goRequires returns the Go version that the SDK needs and the require directive for goModules.
func goRequires(sources fs.FS) (version, requires string, err error) {
	text, err := fs.ReadFile(sources, "go.mod")
	if err != nil {
		return "", "", err
	}
	mod := strings.ReplaceAll(string(text), "\t", "")
	version = strings.TrimSpace(strings.TrimPrefix(linesOf(mod, []string{"go"}), "go "))
	var b strings.Builder
	for _, line := range slices.Sorted(strings.Lines(linesOf(mod, goModules))) {
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
