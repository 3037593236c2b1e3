package server_test

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	cobralib "github.com/spf13/cobra"

	agentdcommands "github.com/toolhost/toolhost/server/internal/agentd/commands"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	toolhostcommands "github.com/toolhost/toolhost/server/internal/toolhost/commands"
)

// guides are the pages whose commands are stable, besides README.md: those that lead a reader step
// by step.
var guides = []string{
	"install", "quick-start", "write-a-tool*", "call-over-grpc", "mcp", "mcp-servers", "operate", "runbook", "runbook-alerts", "second-team", "agent",
}

// Exactly the commands that README.md and the guides name are stable. A command with commands below
// it is as stable as the most stable of them.
func TestCommandsOfTheGuidesAreStable(t *testing.T) {
	named := namedCommands(t)
	p := cli.Process{Getenv: func(string) string { return "" }, Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard}
	var visit func(cmd *cobralib.Command) (stable bool)
	visit = func(cmd *cobralib.Command) (stable bool) {
		stable = slices.ContainsFunc(named, func(text string) bool { return strings.HasPrefix(text+" ", cmd.CommandPath()+" ") })
		for i, sub := range slices.DeleteFunc(cmd.Commands(), func(c *cobralib.Command) bool { return c.Hidden }) {
			if i == 0 && !cmd.Runnable() {
				stable = false
			}
			stable = visit(sub) || stable
		}
		if stable == cli.Experimental(cmd) {
			t.Errorf("`%s` is named by a guide: %v, and is experimental: %v; change the call of MarkExperimental or a guide", cmd.CommandPath(), stable, stable)
		}
		return stable
	}
	for _, root := range []*cobralib.Command{toolhostcommands.NewRoot(p), agentdcommands.NewRoot(p)} {
		if !visit(root) {
			t.Errorf("no guide names %s", root.Name())
		}
	}
}

var (
	codeOfPage   = regexp.MustCompile("(?s)```.*?```|`[^`]+`")
	commandWords = regexp.MustCompile(`\b(toolhost|agentd)((?: [a-z][a-z-]*)+)`)
)

// namedCommands returns the words after the names of the programs in the commands of the guides.
func namedCommands(t *testing.T) (named []string) {
	t.Helper()
	pages := []string{"README.md"}
	for _, guide := range guides {
		files, err := filepath.Glob("docs/" + guide + ".md")
		if err != nil || len(files) == 0 {
			t.Fatalf("no page %s: %v", guide, err)
		}
		pages = append(pages, files...)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, code := range codeOfPage.FindAllString(string(text), -1) {
			if strings.HasPrefix(code, "```") && !strings.HasPrefix(code, "```sh") {
				continue
			}
			named = append(named, commandWords.FindAllString(strings.ReplaceAll(code, "bin/", ""), -1)...)
		}
	}
	return named
}
