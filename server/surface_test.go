package server_test

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	cobralib "github.com/spf13/cobra"
	pflaglib "github.com/spf13/pflag"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/wire/credential"
	agentdcommands "github.com/toolhost/toolhost/server/internal/agentd/commands"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/terminal/target"
	toolhostcommands "github.com/toolhost/toolhost/server/internal/toolhost/commands"
)

// surfaces are the names that users see and that are not an API of a programming language. Each
// line of a listing is a name and its type. It is a promise of docs/stability.md unless it ends
// with experimentalMark. The listings are in api.
var surfaces = []struct {
	file, title string
	list        func(t *testing.T) []string
	stable      func(line string) bool // nil: list marks the lines
}{
	{"cli_commands.txt", "a command or flag", listCommands, nil},
	{"cli_exit_codes.txt", "an exit code", listExitCodes, always},
	{"cli_environment.txt", "an environment variable", listEnvironment, never},
	{"cli_json.txt", "a key of -o json", listJSON, never},
	{"configuration_keys.txt", "a key of a file that an operator or author writes", listConfiguration, ofPlugin},
	{"rule_names.txt", "a name in the rules of a policy", listRules, never},
	{"filter_keys.txt", "a key of what toolhost and a filter exchange", listFilter, always},
	{"stored_keys.txt", "a key of a stored file", listStored, never},
}

const experimentalMark = " (experimental)"

func always(string) bool { return true }

func never(string) bool { return false }

// ofPlugin reports whether a line is a key of a file that authors ship with their plugins.
func ofPlugin(line string) bool { return strings.HasPrefix(line, "plugin.yaml") }

// TestSurface fails if a listing in api differs from the programs. Users notice a change of a
// listing, so a review must see it.
func TestSurface(t *testing.T) {
	for _, s := range surfaces {
		t.Run(strings.TrimSuffix(s.file, ".txt"), func(t *testing.T) {
			got := s.list(t)
			for i, line := range got {
				if s.stable != nil && !s.stable(line) {
					got[i] = line + experimentalMark
				}
			}
			if len(got) == 0 {
				t.Fatalf("found no %s", s.title)
			}
			file := filepath.Join("api", s.file)
			if *update {
				if err := os.WriteFile(file, []byte(strings.Join(got, "\n")+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want := readLines(t, file)
			if diff := differences(want, got); diff != "" {
				t.Errorf("%s has changed. If users may see this change, accept it with\n\n\tgo -C server test . -run TestSurface -update\n\n(-listed +now)\n%s", s.title, diff)
			}
		})
	}
}

func readLines(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimRight(string(text), "\n"), "\n")
}

// differences returns the lines that only one of two listings has.
func differences(want, got []string) string {
	if slices.Equal(want, got) {
		return ""
	}
	var b strings.Builder
	only := func(sign string, these, those []string) {
		for _, line := range these {
			if !slices.Contains(those, line) {
				b.WriteString(sign + line + "\n")
			}
		}
	}
	only("-", want, got)
	only("+", got, want)
	if b.Len() == 0 {
		return "only the order of lines"
	}
	return b.String()
}

// listCommands lists the commands of both programs, and their flags with types, and marks those
// that are experimental.
func listCommands(t *testing.T) []string {
	t.Helper()
	p := cli.Process{Getenv: func(string) string { return "" }, Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard}
	var lines []string
	var visit func(cmd *cobralib.Command)
	visit = func(cmd *cobralib.Command) {
		if cmd.Hidden {
			return
		}
		mark := ""
		if cli.Experimental(cmd) {
			mark = experimentalMark
		}
		lines = append(lines, cmd.CommandPath()+mark)
		cmd.Flags().VisitAll(func(f *pflaglib.Flag) {
			if f.Hidden {
				return
			}
			if value, _ := pflaglib.UnquoteUsage(f); value != "" && f.Value.Type() == "bool" {
				t.Errorf("the help shows that %s --%s takes %q: a quoted word of the usage is the value, and the flag takes none", cmd.CommandPath(), f.Name, value)
			}
			short := ""
			if f.Shorthand != "" {
				short = " -" + f.Shorthand
			}
			lines = append(lines, fmt.Sprintf("%s --%s%s %s%s", cmd.CommandPath(), f.Name, short, f.Value.Type(), mark))
		})
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(toolhostcommands.NewRoot(p))
	visit(agentdcommands.NewRoot(p))
	slices.Sort(lines)
	return lines
}

// listExitCodes lists the exit codes with their meaning in the source.
func listExitCodes(t *testing.T) []string {
	t.Helper()
	var lines []string
	c := newChecker(t)
	for program, folder := range map[string]string{"both programs": "server/internal/terminal/cli", "agentd": "server/internal/agentd/commands"} {
		scope := c.check(folder).Scope()
		for _, name := range scope.Names() {
			code, ok := scope.Lookup(name).(*types.Const)
			if meaning, named := cutExit(name); ok && named && code.Val().Kind() == constant.Int {
				lines = append(lines, fmt.Sprintf("%s %s %s", code.Val(), meaning, program))
			}
		}
	}
	slices.Sort(lines)
	return lines
}

// cutExit returns the part of an exit code's name that says its meaning.
func cutExit(name string) (meaning string, ok bool) {
	if meaning, ok = strings.CutPrefix(name, "Exit"); ok {
		return meaning, ok
	}
	meaning, ok = strings.CutPrefix(name, "exit")
	return meaning, ok && meaning != "" && strings.ToUpper(meaning[:1]) == meaning[:1]
}

// environmentName is the name of a variable that the programs or the shipped plugins read, except
// those of the operating system.
var environmentName = regexp.MustCompile(`^NO_COLOR$|^(OTEL|TOOLHOST|AGENTD|PLUGIN|FETCH|QUERY_DB|QUERYDB|SHELL|WORKSPACE|ANTHROPIC|OPENAI|GEMINI|GOOGLE|XDG)_[A-Z_]*[A-Z]$`)

// listEnvironment lists the environment variables that the programs and the Go SDK name.
func listEnvironment(t *testing.T) []string {
	t.Helper()
	found := map[string]bool{}
	for _, root := range []string{"client", "internal", "plugins", "sdk", "server/cmd", "server/internal"} {
		err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() && (entry.Name() == "e2e" || entry.Name() == "testdata" || entry.Name() == "node_modules") {
				return firstError(err, fs.SkipDir)
			}
			if entry.IsDir() || path.Ext(name) != ".go" || isTest(name) {
				return nil
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					if text, err := strconv.Unquote(lit.Value); err == nil && environmentName.MatchString(text) {
						found[text] = true
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, program := range []string{"toolhost", "agentd"} {
		found[address.Variable(program)], found[target.Variable(program)] = true, true
		for _, name := range credential.Variables(program) {
			found[name] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

func firstError(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// listJSON lists the keys of all values that commands print with -o json, with their JSON types.
// All commands print these values with cli.WriteJSON, so listJSON looks for the calls of that
// function. A line begins with the package and the function that contains the call.
func listJSON(t *testing.T) []string {
	t.Helper()
	found := map[string]bool{}
	c := newChecker(t)
	folders := []string{"server/internal/agentd/commands", "server/internal/toolhost/commands"}
	for _, pattern := range []string{"server/internal/terminal/*", "server/internal/toolhost/commands/*"} {
		matches, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		folders = append(folders, matches...)
	}
	for _, folder := range folders {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			continue
		}
		c.check(folder)
		for _, file := range c.files[folder] {
			for _, decl := range file.Decls {
				function, ok := decl.(*ast.FuncDecl)
				if !ok || function.Name.Name == "WriteJSON" {
					continue
				}
				ast.Inspect(function, func(n ast.Node) bool {
					call, ok := n.(*ast.CallExpr)
					if !ok || !isWriteJSON(call) {
						return true
					}
					for _, typ := range c.printed(folder, call.Args[1]) {
						keys(found, programOrPackage(folder)+"."+function.Name.Name+":", typ, "json", nil)
					}
					return true
				})
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// programOrPackage returns the name of a folder of commands in the list: that of the program for
// the commands of a whole program.
func programOrPackage(folder string) string {
	if path.Base(folder) == "commands" {
		folder = path.Dir(folder)
	}
	return path.Base(folder)
}

func isWriteJSON(call *ast.CallExpr) bool {
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		return f.Sel.Name == "WriteJSON"
	case *ast.Ident:
		return f.Name == "WriteJSON"
	}
	return false
}
