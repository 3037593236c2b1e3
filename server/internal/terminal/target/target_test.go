package target_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/internal/testkit/shortdir"
	"github.com/toolhost/toolhost/internal/testkit/testca"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/terminal/target"
	"github.com/toolhost/toolhost/server/internal/trust"
)

// user is a user with a home and an environment.
type user struct {
	t   *testing.T
	env map[string]string
}

func newUser(t *testing.T) *user {
	t.Helper()
	home := shortdir.Make(t)
	return &user{t, map[string]string{"HOME": home, "XDG_STATE_HOME": filepath.Join(home, "state"), "XDG_RUNTIME_DIR": filepath.Join(home, "run")}}
}

func (u *user) process(args ...string) (cli.Process, *bytes.Buffer, *bytes.Buffer) {
	var out, problems bytes.Buffer
	return cli.Process{
		Args: args, Getenv: func(name string) string { return u.env[name] }, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &problems,
	}, &out, &problems
}

// run runs `toolhost target` with arguments.
func (u *user) run(args ...string) (code int, stdout, stderr string) {
	u.t.Helper()
	p, out, problems := u.process(append([]string{"target"}, args...)...)
	root := &cobra.Command{Use: "toolhost"}
	root.AddCommand(target.NewCommand("toolhost", p))
	code = cli.Run(u.t.Context(), root, p)
	return code, out.String(), problems.String()
}

func (u *user) want(code int, part string, args ...string) {
	u.t.Helper()
	got, stdout, stderr := u.run(args...)
	if got != code || !strings.Contains(stdout+stderr, part) {
		u.t.Errorf("target %q: exit code %d, want %d with %q\n%s%s", args, got, code, part, stdout, stderr)
	}
}

// finds returns the address and the name of the server that a command with these flags uses.
func (u *user) finds(addr, name string) (target.Server, string) {
	u.t.Helper()
	p, _, _ := u.process()
	s, err := (&target.Choice{Program: "toolhost", Process: p, Addr: addr, Target: name}).Find()
	if err != nil {
		return s, err.Error()
	}
	return s, s.Address.String()
}

func (u *user) file() string {
	return filepath.Join(u.env["HOME"], ".config", "toolhost", "toolhost-targets.json")
}

// A token file that others can read is no secret, and the command that names it says so.
func TestAddWarnsAboutAReadableToken(t *testing.T) {
	u := newUser(t)
	file := filepath.Join(u.env["HOME"], "ci.token")
	for mode, warns := range map[os.FileMode]bool{0o600: false, 0o400: false, 0o640: true, 0o644: true} {
		_ = os.Remove(file) // a user cannot write one of mode 0400
		if err := errors.Join(os.WriteFile(file, []byte("t"), mode), os.Chmod(file, mode)); err != nil {
			t.Fatal(err)
		}
		code, _, problems := u.run("add", "prod", "--replace", "--address", "h:1", "--token-file", file)
		if code != 0 || strings.Contains(problems, "chmod 600") != warns {
			t.Errorf("mode %v: exit %d, %q; want a warning: %v", mode, code, problems, warns)
		}
	}
}

func TestTargets(t *testing.T) {
	u, ca := newUser(t), testca.New(t)
	cert, key := ca.Files(t, "spiffe://test/ada")
	local := "unix://" + filepath.Join(u.env["HOME"], "run", "toolhost", "toolhost.sock")
	u.want(0, "* ", "list")
	u.want(0, "added the target prod", "add", "prod", "--address", "toolhost.example:7443", "--ca", ca.Path, "--cert", cert, "--key", key, "--token-command", "cat /run/token")
	u.want(0, "added the target near", "add", "near", "--address", "unix:///run/near.sock")
	u.want(2, "exists; add --replace", "add", "near", "--address", "unix:///run/near.sock")
	u.want(0, "added the target near", "add", "near", "--address", "unix:///run/other.sock", "--replace")
	if _, at := u.finds("", ""); at != local {
		t.Errorf("a target is used before it was chosen: %s", at)
	}
	u.want(0, "now talk to the target prod", "use", "prod")
	_, list, _ := u.run("list")
	if !strings.Contains(list, "*  prod   toolhost.example:7443") || strings.Contains(list, "*  local") {
		t.Errorf("the list does not mark the target in use:\n%s", list)
	}
	if s, at := u.finds("", ""); at != "toolhost.example:7443" || s.Target != "prod" || s.Settings.TLS == nil || s.Settings.TLS.CA != ca.Path || s.Settings.Source == nil {
		t.Errorf("%s, %+v", at, s)
	}
	for _, test := range []struct{ addr, name, env, want string }{
		{"127.0.0.1:1", "", "", "127.0.0.1:1"},
		{"", "near", "", "unix:///run/other.sock"},
		{"", "local", "", local},
		{"", "nera", "", "(did you mean near?)"},
		{"127.0.0.1:1", "near", "", "exclude each other"},
		{"", "", "TOOLHOST_ADDR=127.0.0.1:2", "127.0.0.1:2"},
		{"", "", "TOOLHOST_TARGET=near", "unix:///run/other.sock"},
		{"", "prod", "TOOLHOST_ADDR=127.0.0.1:2", "toolhost.example:7443"},
	} {
		name, value, _ := strings.Cut(test.env, "=")
		u.env[name] = value
		if _, at := u.finds(test.addr, test.name); !strings.Contains(at, test.want) {
			t.Errorf("%+v: %s", test, at)
		}
		delete(u.env, name)
	}
	u.want(0, `"token_command":"cat /run/token"`, "show", "-o", "json")
	u.want(0, "removed the target prod; it was in use", "remove", "prod")
	if _, at := u.finds("", ""); at != local {
		t.Errorf("after the removal: %s", at)
	}
	u.want(2, `there is no target "prod"`, "use", "prod")
}

func TestTargetsThatCannotWork(t *testing.T) {
	u := newUser(t)
	for part, args := range map[string][]string{
		"--address is missing":          {"a"},
		"is ill-formed":                 {"a", "--address", "nonsense"},
		"does not fit":                  {"A/..", "--address", "h:1"},
		"choose another name":           {"local", "--address", "h:1"},
		"needs its key":                 {"a", "--address", "h:1", "--cert", "/c"},
		"no such file":                  {"a", "--address", "h:1", "--ca", "/absent"},
		"one source of tokens":          {"a", "--address", "h:1", "--token-file", "/t", "--token-command", "t"},
		"has no TLS":                    {"a", "--address", "127.0.0.1:1", "--token-file", "/t"},
		"is a unix socket; use HOST":    {"a", "--address", "unix:///s", "--server-name", "n"},
		"the flags of `toolhost target": {"a", "--address", "h:1", "--token", "secret"},
	} {
		u.want(2, part, append([]string{"add"}, args...)...)
	}
	if _, err := os.Stat(u.file()); err == nil {
		t.Error("a target that cannot work is stored")
	}
}

// Whoever writes the file of targets chooses a command that runs. So the commands refuse a file
// that others may write or read, one in a folder that others may write, and one that a tool can
// write.
func TestAFileOfTargetsThatOthersCanWriteIsRefused(t *testing.T) {
	u := newUser(t)
	u.want(0, "added", "add", "a", "--address", "h:1")
	if info, err := os.Stat(u.file()); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info.Mode(), err)
	}
	folder := filepath.Dir(u.file())
	refused := func(part string) {
		t.Helper()
		u.want(7, part, "list")
		u.want(7, part, "add", "b", "--address", "h:2")
		if _, at := u.finds("", "a"); !strings.Contains(at, part) {
			t.Errorf("a command uses the target: %s", at)
		}
		if _, at := u.finds("h:3", ""); at != "h:3" {
			t.Errorf("a command with --addr fails: %s", at)
		}
	}
	for mode, path := range map[os.FileMode]string{0o620: u.file(), 0o606: u.file(), 0o640: u.file(), 0o722: folder, 0o702: folder} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		refused("run: chmod")
		if err := os.Chmod(path, info.Mode()); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(u.file(), filepath.Join(u.env["HOME"], "second")); err != nil {
		t.Fatal(err)
	}
	refused("hard links")
	if err := os.Remove(filepath.Join(u.env["HOME"], "second")); err != nil {
		t.Fatal(err)
	}
	u.want(0, "h:1", "list")
	if err := trust.NewStore(trust.Dir(func(name string) string { return u.env[name] })).AddWritable(u.env["HOME"]); err != nil {
		t.Fatal(err)
	}
	refused("tools may write")

	// What the user does with the commands is trusted there, and what a tool changes is not.
	if err := os.Remove(u.file()); err != nil {
		t.Fatal(err)
	}
	u.want(0, "added", "add", "a", "--address", "h:1")
	u.want(0, "now talk to the target a", "use", "a")
	u.want(0, "*  a", "list")
	data, err := os.ReadFile(u.file())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(u.file(), bytes.Replace(data, []byte("h:1"), []byte("h:6"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	refused("has changed since it was trusted")
}
