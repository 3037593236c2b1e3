package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// connectUser is a user of `mcp connect` without a toolhost.
type connectUser struct {
	t    *testing.T
	home string
}

func (u *connectUser) run(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	p := cli.Process{
		Args: append([]string{"mcp", "connect"}, args...), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Getenv: func(name string) string { return map[string]string{"HOME": u.home}[name] },
	}
	root := &cobra.Command{Use: cli.Toolhost}
	root.AddCommand(NewCommand(p))
	return cli.Run(u.t.Context(), root, p), out.String(), errs.String()
}

// do runs the command, which must end with the code and say the texts.
func (u *connectUser) do(args string, code int, says ...string) string {
	u.t.Helper()
	got, stdout, stderr := u.run(strings.Fields(args)...)
	if got != code {
		u.t.Errorf("%s: exit %d: %s%s", args, got, stdout, stderr)
	}
	for _, want := range says {
		if !strings.Contains(stdout+stderr, want) {
			u.t.Errorf("%s does not say %q: %s%s", args, want, stdout, stderr)
		}
	}
	return stdout
}

func TestConnectCommand(t *testing.T) {
	u := &connectUser{t, t.TempDir()}
	file := filepath.Join(u.home, ".codex", "config.toml")
	const addr = " --addr unix:///run/none.sock"

	u.do("codex --dry-run --tag files"+addr, 0, "+[mcp_servers.toolhost]", `"--tag=files"`)
	if _, err := os.Stat(filepath.Dir(file)); err == nil {
		t.Error("--dry-run creates a folder")
	}
	u.do("codex --dangerous=false --search --tag a,b --session s"+addr, 0, "added the entry toolhost in "+file, "gets no tools now", "toolhost serve")
	u.do("codex --dangerous=false --search --tag a --tag b --session s"+addr, 0, "nothing changed")
	var change changed
	if err := json.Unmarshal([]byte(u.do("codex -o json"+addr, 0)), &change); err != nil || change.Change != "updated" || change.File != file || change.Backup != "" {
		t.Errorf("%+v, %v", change, err)
	}
	self, _ := os.Executable()
	if want := []string{self, "mcp", "serve", "--addr=unix:///run/none.sock"}; !slices.Equal(change.Command, want) {
		t.Errorf("the command is %q, want %q", change.Command, want)
	}
	u.do("", 0, "connected as toolhost", "no file", file)
	var all []listed
	if err := json.Unmarshal([]byte(u.do("-o json", 0)), &all); err != nil {
		t.Fatal(err)
	}
	for _, l := range all {
		if connected := len(l.Entries) == 1 && slices.Equal(l.Entries[0].Line, change.Command); connected != (l.Client == "codex") || l.Exists != connected || l.Problem != "" {
			t.Errorf("%+v", l)
		}
	}
	u.do("codex --remove", 0, "is what it was before")
	u.do("codex --remove", 0, "nothing changed")
	if _, err := os.Stat(file); err == nil {
		t.Error("the file is still there")
	}
}

// What an entry has besides its command may change what it starts.
func TestEntriesThatKeepMembers(t *testing.T) {
	u := &connectUser{t, t.TempDir()}
	members := `"env": {"A": "confidential"}, "a\u001b\nb": 1`
	for i := range 10 {
		members += fmt.Sprintf(`, "x%d": "confidential"`, i)
	}
	text := `{"mcpServers": {"toolhost": {"command": "toolhost", "args": ["mcp", "serve"], ` + members + `}}}`
	if err := os.WriteFile(filepath.Join(u.home, ".claude.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	const keeps = `a\x1b b, env, x0, x1, x2, x3, x4, x5, x6, x7, and 2 more`
	for _, args := range []string{"", "claude --dry-run", "claude", "claude", "claude --dry-run"} {
		if out := u.do(args+" --addr unix:///run/none.sock", 0, keeps); strings.Contains(out, "confidential") {
			t.Errorf("%s: %s", args, out)
		}
	}
	var change changed
	if err := json.Unmarshal([]byte(u.do("claude -o json --addr unix:///run/none.sock", 0)), &change); err != nil || len(change.Keeps) != 12 {
		t.Errorf("%+v, %v", change, err)
	}
}

func TestRefusedConnections(t *testing.T) {
	u := &connectUser{t, t.TempDir()}
	file := filepath.Join(u.home, ".claude.json")
	if err := os.WriteFile(file, []byte(`{"mcpServers": {"toolhost": {"command": "npx"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, says := range map[string]string{
		"clod": "use claude, codex", "claude": "--replace", "claude --remove": "so it stays", "claude --as a.b": "--as", "--remove": "CLIENT is missing",
		"claude --remove --replace": "exclude each other", "claude --session a/../b\x01": "--session", "claude --addr x": "address", "claude --target nowhere": "nowhere",
		"zed --project": "Zed has no file",
	} {
		u.do(args, cli.ExitUsage, says)
	}
	u.do("claude --replace --dry-run", 0, "-mcpServers.toolhost (its content is not shown)")
	u.do("claude --addr toolhost.example:7443 --as second --dry-run", 0, "toolhost target add")
	if err := os.Chmod(file, 0o666); err != nil {
		t.Fatal(err)
	}
	u.do("claude --replace", cli.ExitUntrusted, "chmod go-w")
	u.do("", 0, "chmod go-w")
}

// `mcp serve` reads the flags of a profile as `mcp connect` got them.
func TestProfileArguments(t *testing.T) {
	for _, args := range [][]string{
		nil, {"--search"}, {"--search=false"}, {"--dangerous"}, {"--dangerous=false"}, {"--max-cost=0.5", "--session=a b"},
		{"--name=true", "--name=b"}, {`--tag="a,b"`, `--tag="x""y"`, "--category=c d"},
	} {
		read := func(args []string) profile {
			var p profile
			cmd := &cobra.Command{}
			p.addFlags(cmd.Flags())
			if err := cmd.ParseFlags(args); err != nil {
				t.Fatal(err)
			}
			return p
		}
		p := read(args)
		if got := p.arguments(); len(got) != len(args) {
			t.Errorf("%q becomes %q", args, got)
		}
		again := read(p.arguments())
		one, _ := json.Marshal([]any{p.filter.Query(), p.search, p.session})
		two, _ := json.Marshal([]any{again.filter.Query(), again.search, again.session})
		if !bytes.Equal(one, two) {
			t.Errorf("%q is read as %s, and then as %s", args, one, two)
		}
	}
}
