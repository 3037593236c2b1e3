package access_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolhost/toolhost/server/internal/access/authconfig"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/rpcright"
	"github.com/toolhost/toolhost/server/internal/access/tokenstore"
	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/terminal/access"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// program runs the commands of a program with a state folder and a section auth.
type program struct {
	t     *testing.T
	state string
	auth  authconfig.Auth
}

func (p program) run(args ...string) (code int, stdout, stderr string) {
	p.t.Helper()
	var out, failed bytes.Buffer
	process := cli.Process{Args: args, Getenv: func(string) string { return "" }, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &failed}
	server := access.Server{
		Program: "toolhost", AddFlags: func(*pflag.FlagSet) {},
		Settings: func() (access.Settings, error) {
			return access.Settings{State: p.state, Audit: filepath.Join(p.state, "audit.jsonl"), Auth: p.auth}, nil
		},
		Rights: func() rpcright.Table {
			return rpcright.Table{"/toolhost.v1.ToolService/Call": {authz.ToolsCall}, "/toolhost.v1.AdminService/Reload": {authz.ConfigReload}, "/a.v1.A/Get": {authz.RunsOwn, authz.RunsList}, "/b.v1.B/Get": {authz.RunsOwn}, "/a.v1.A/Respond": {authz.RunsOwn, authz.RunsApprove}}
		},
	}
	root := &cobra.Command{Use: "toolhost"}
	root.AddCommand(access.NewTokenCommand(server, process), access.NewAuthCommand(server, process, &cobra.Command{Use: "whoami"}))
	code = cli.Run(p.t.Context(), root, process)
	return code, out.String(), failed.String()
}

// A token in a file is for its user alone, also if the file existed, and is printed nowhere.
func TestTokenInAFile(t *testing.T) {
	p := program{t, t.TempDir(), authconfig.Auth{}}
	store := tokenstore.New("toolhost", p.state)
	defer store.Close()
	file := filepath.Join(t.TempDir(), "ci.token")
	if err := os.WriteFile(file, []byte("earlier"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, more := range [][]string{nil, {"-o", "json"}} {
		code, out, note := p.run(append([]string{"token", "create", "ci", "--out", file}, more...)...)
		text, err := os.ReadFile(file)
		token := strings.TrimSpace(string(text))
		if _, invalid := store.Verify(t.Context(), token); code != 0 || err != nil || invalid != nil || strings.Contains(out+note, token) {
			t.Errorf("%s: exit %d, %q, %q; the file: %q, %v, %v", more, code, out, note, text, err, invalid)
		}
		if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: the file has %v, %v", more, info, err)
		}
	}
	if code, _, problem := p.run("token", "create", "ci", "--out", p.state); code != cli.ExitUsage || !strings.Contains(problem, "no regular file") {
		t.Errorf("exit %d, %q", code, problem)
	}
	before, err := store.List()
	if err != nil {
		t.Fatal(err)
	}
	code, out, problem := p.run("token", "create", "ci", "--out", filepath.Join(file, "no"))
	after, err := store.List()
	if err != nil || len(after) != len(before)+1 {
		t.Fatalf("%d tokens, %v", len(after), err)
	}
	for _, r := range after {
		isNew := !slices.ContainsFunc(before, func(b tokenstore.Record) bool { return b.ID == r.ID })
		if r.Revoked.IsZero() == isNew || isNew && (code == 0 || out != "" || !strings.Contains(problem, "the token "+r.ID+" is revoked")) {
			t.Errorf("the token %s was revoked at %v: exit %d, %q, %q", r.ID, r.Revoked, code, out, problem)
		}
	}
}

func TestToken(t *testing.T) {
	p := program{t, t.TempDir(), authconfig.Auth{Bindings: []authconfig.Binding{{Role: "caller", MembersOf: []string{"red"}}}}}
	store := tokenstore.New("toolhost", p.state)
	defer store.Close()
	code, token, note := p.run("token", "create", "ci", "--tenant", "red", "--tools", "fs_*,add", "--group", "dev", "--expires", "7d", "--note", "laptop")
	token = strings.TrimSuffix(token, "\n")
	v, err := store.Verify(t.Context(), token)
	if code != 0 || err != nil || v.Principal.Key() != "red/ci" || strings.Contains(note, token) || strings.Contains(note, "no role yet") {
		t.Fatalf("exit %d, %q, %q: %+v, %v", code, token, note, v, err)
	}
	if scope := v.Principal.Scope; len(scope.Tools) != 2 || len(scope.Roles) != 1 || scope.Roles[0] != "caller" {
		t.Errorf("the scope is %+v", scope)
	}
	if _, _, note := p.run("token", "create", "ops", "--tenant", "blue"); !strings.Contains(note, "has no role yet: no binding gives blue/ops a role") {
		t.Errorf("a token without a role: %q", note)
	}
	_, listed, _ := p.run("token", "list", "-o", "json")
	var tokens []map[string]any
	if err := json.Unmarshal([]byte(listed), &tokens); err != nil || len(tokens) != 2 || strings.Contains(listed, "hash") || strings.Contains(listed, token[20:]) {
		t.Fatalf("listed %s, %v", listed, err)
	}
	if code, _, problem := p.run("token", "revoke", v.ID, "aaaaaaaaaa"); code == 0 || !strings.Contains(problem, "no such token: aaaaaaaaaa") {
		t.Errorf("exit %d, %q", code, problem)
	}
	if _, err := store.Verify(t.Context(), token); err != nil {
		t.Errorf("a failed revocation revoked: %v", err)
	}
	if code, out, _ := p.run("token", "revoke", token); code != 0 || !strings.Contains(out, "revoked the token "+v.ID+" of red/ci") || strings.Contains(out, token[20:]) {
		t.Errorf("revoking by the whole token: exit %d, %q", code, out)
	}
	if _, err := store.Verify(t.Context(), token); err == nil {
		t.Error("the revoked token is valid")
	}
	if _, out, _ := p.run("token", "list"); strings.Contains(out, v.ID) {
		t.Errorf("the revoked token is listed:\n%s", out)
	}
	if _, out, _ := p.run("token", "list", "--all"); !strings.Contains(out, v.ID) || !strings.Contains(out, "revoked") {
		t.Errorf("the revoked token is not listed with --all:\n%s", out)
	}
	for _, args := range [][]string{
		{"create", "uid:0"}, {"create", "a b"}, {"create", "ci", "--expires", "400d"}, {"create", "ci", "--expires", "0"}, {"create", "ci", "--expires", "never"},
		{"create", "ci", "--role", "king"}, {"create", "ci", "--tenant", "../x"}, {"create"}, {"revoke"},
	} {
		if code, out, _ := p.run(append([]string{"token"}, args...)...); code == 0 || out != "" {
			t.Errorf("%q: exit %d, %q", args, code, out)
		}
	}
}

// Each change of the tokens is in the audit log, for the tenant of the token, and without its
// secret. If the log cannot be written, nothing is changed.
func TestTokensAreInTheAuditLog(t *testing.T) {
	p := program{t, t.TempDir(), authconfig.Auth{}}
	file := filepath.Join(p.state, "audit.jsonl")
	_, token, _ := p.run("token", "create", "ci", "--tenant", "red", "--tools", "fs_*", "--group", "dev")
	id := strings.Split(token, "_")[1]
	if code, _, problem := p.run("token", "revoke", id); code != 0 {
		t.Fatal(problem)
	}
	var lines []string
	if err := audit.Search(t.Context(), []string{file}, audit.Query{Kind: audit.OfCredential, Tenants: []string{"red"}}, func(l audit.Line) error {
		lines = append(lines, string(l.Text))
		return nil
	}); err != nil || len(lines) != 2 {
		t.Fatalf("%q, %v", lines, err)
	}
	for i, act := range []string{"token create", "token revoke"} {
		for _, part := range []string{act, id, `"principal":"red/ci"`, fmt.Sprintf(`"via":"uid:%d"`, os.Getuid()), "groups dev; roles caller; tools fs_*"} {
			if !strings.Contains(lines[i], part) {
				t.Errorf("%s does not contain %s", lines[i], part)
			}
		}
		if strings.Contains(lines[i], strings.TrimSpace(token)[20:]) {
			t.Errorf("the line has the secret: %s", lines[i])
		}
	}
	_, kept, _ := p.run("token", "create", "kept")
	if err := errors.Join(os.Remove(file), os.Mkdir(file, 0o700)); err != nil {
		t.Fatal(err)
	}
	if code, out, problem := p.run("token", "create", "more"); code == 0 || out != "" || !strings.Contains(problem, "the audit log") {
		t.Errorf("exit %d, %q, %q", code, out, problem)
	}
	if code, _, problem := p.run("token", "revoke", strings.TrimSpace(kept)); code == 0 || !strings.Contains(problem, "the audit log") {
		t.Errorf("exit %d, %q", code, problem)
	}
	if _, listed, _ := p.run("token", "list", "--all"); strings.Contains(listed, "more") || strings.Count(listed, "valid") != 1 {
		t.Errorf("listed\n%s", listed)
	}
}

func TestCanI(t *testing.T) {
	p := program{t, t.TempDir(), authconfig.Auth{Bindings: []authconfig.Binding{
		{Role: "caller", MembersOf: []string{"red"}, Tools: []string{"fs_*"}},
		{Role: "operator", Groups: []string{"red/ops"}, Tenants: []string{"all"}},
	}}}
	for _, test := range []struct {
		args string
		code int
		want string
	}{
		{"Call fs_read --as red/ada", 0, "yes: binding 1 gives red/ada the role caller"},
		{"Call shell --as red/ada", 1, "no: binding 1 gives red/ada the role caller, but not for the tool shell"},
		{"tools.call shell --as red/ada", 1, "not for the tool shell"},
		{"toolhost.v1.ToolService/Call --as red/ada", 0, "yes"},
		{"ToolService/Call --as red/ada", 0, "yes"},
		{"AdminService/Reload --as red/ada", 1, "config.reload"},
		{"Reload --as red/ada", 1, "does not have the right config.reload"},
		{"Reload --as red/ada --group ops", 0, "role operator"},
		{"Reload --as red/ada --group ops --role caller", 1, "scope of the token is the role caller"},
		{"Call fs_read --as red/ada --tools fs_write", 1, "scope of the token is the tools fs_write"},
		{"Call fs_read --as red/ada --tenant blue", 1, "not in the tenant blue"},
		{"Call --as blue/ada", 1, "no binding gives blue/ada a role"},
		{"a.v1.A/Get --as red/ada", 0, "runs.own"},
		{"a.v1.A/Get --as red/ada", 0, "without runs.list, which permits more"},
		{"Respond --as red/ada", 0, "it approves no call, which needs runs.approve: binding 1"},
		{"runs.approve --as red/ada", 1, "does not have the right runs.approve"},
		{"Get --as red/ada", 2, "names several RPCs: a.v1.A/Get, b.v1.B/Get"},
		{"Bogus --as red/ada", 2, "no RPC or right"},
		{"Call", 2, "--as is missing"},
		{"Call --as Red/ada", 2, "--as"},
		{"Call --as red/ada --tenant ../x", 2, "--tenant"},
	} {
		code, stdout, stderr := p.run(append([]string{"auth", "can-i"}, strings.Fields(test.args)...)...)
		if code != test.code || !strings.Contains(stdout+stderr, test.want) {
			t.Errorf("%s: exit %d, %s%s; want %d, %q", test.args, code, stdout, stderr, test.code, test.want)
		}
	}
	_, out, _ := p.run("auth", "can-i", "Call", "fs_read", "--as", "red/ada", "-o", "json")
	want := `{"allowed":true,"principal":"red/ada","rpc":"toolhost.v1.ToolService/Call","right":"tools.call","tool":"fs_read","tenant":"red","reason":`
	if !strings.HasPrefix(out, want) {
		t.Errorf("as JSON: %s", out)
	}
}
