package configfile_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/terminal/configfile"
	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
	"github.com/toolhost/toolhost/server/internal/trust"
)

// lamp is a configuration with a deprecated key, and a key whose default depends on the user.
type lamp struct {
	Watts int    `yaml:"watts" was:"power" default:"60" min:"1"`
	Room  string `yaml:"room"`
}

func lampProgram() *configfile.Program[lamp] {
	return &configfile.Program[lamp]{
		Name: "lampd", User: "lampd serve", FileName: trust.AgentdFile, Page: "docs/lamp.md",
		Default: func() (c lamp) { yamldoc.Fill(reflect.ValueOf(&c).Elem()); return c },
		Load: func(path string, text []byte) (c lamp, err error) {
			yamldoc.Fill(reflect.ValueOf(&c).Elem())
			d := yamldoc.NewDecoder(path)
			if d.Decode(text, reflect.ValueOf(&c).Elem()); len(d.Errs) > 0 {
				return c, d.Errs
			}
			return c, nil
		},
		Summary: func(c *lamp) string { return cli.Count(c.Watts, "watt") },
		Complete: func(c *lamp, getenv func(string) string) error {
			if c.Room == "" {
				c.Room = getenv("ROOM")
			}
			return nil
		},
		YAML: func(c *lamp) []byte { return yamldoc.YAML(reflect.ValueOf(c).Elem(), nil) },
	}
}

// A person who checks or shows a file sees what is wrong with it, where each value comes from, and
// whether the program would use the file.
func TestCommands(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	named := filepath.Join(t.TempDir(), "named.yaml")
	const here = trust.AgentdFile
	for _, tc := range []struct {
		name, text, file string // text is the content of file
		args             []string
		code             int
		stdout, stderr   []string // words of each
	}{
		{name: "no file", args: []string{"check"}, stdout: []string{"there is no configuration file"}},
		{name: "no file, shown", args: []string{"show"}, stdout: []string{"watts: 60\n", `room: "attic"`}},
		{name: "valid", file: named, text: "watts: 1\n", args: []string{"check", named}, stdout: []string{named + " is valid: 1 watt\n"}},
		{name: "shown", file: named, text: `room: "hall"`, args: []string{"show", "--config", named}, stdout: []string{"watts: 60\n", `room: "hall"`}},
		{name: "deprecated", file: named, text: "power: 5\n", args: []string{"check", named},
			stdout: []string{"is valid: 5 watts"}, stderr: []string{"lampd: warning: ", ":1:8: power: the key is deprecated"}},
		{name: "errors", file: named, text: "watts: 0\nroof: 1\n", args: []string{"check", named},
			code: cli.ExitUsage, stderr: []string{"named.yaml has 2 errors:\n", ":1:8: watts:", ":2:1: roof:"}},
		{name: "errors, shown", file: named, text: "watts: 0\n", args: []string{"show", named},
			code: cli.ExitUsage, stderr: []string{"named.yaml has 1 error:\n"}},
		{name: "errors as JSON", file: named, text: "watts: 0\n", args: []string{"check", named, "-o", "json"},
			code: cli.ExitUsage, stdout: []string{`"valid":false,"trusted":true`, `"line":1,"column":8,"key":"watts"`}},
		{name: "not trusted", file: here, text: "watts: 2\n", args: []string{"check"},
			stdout: []string{here + " is valid: 2 watts"}, stderr: []string{"lampd: note: `lampd serve` refuses this file: "}},
		{name: "not trusted, as JSON", file: here, text: "watts: 2\n", args: []string{"check", "-o", "json"},
			stdout: []string{`"valid":true,"trusted":false,"errors":[]`}},
		{name: "absent", args: []string{"check", "absent.yaml"}, code: cli.ExitUsage, stderr: []string{"absent.yaml: no such file"}},
		{name: "no name", args: []string{"show", ""}, code: cli.ExitUsage, stderr: []string{"the name of the configuration file is empty"}},
		{name: "two names", args: []string{"check", "--config", "a", "b"}, code: cli.ExitUsage, stderr: []string{"a and b; name one"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.file != "" {
				writeFile(t, tc.file, tc.text)
				defer os.Remove(tc.file)
			}
			code, stdout, stderr := runConfig(t.Context(), tc.args...)
			if code != tc.code {
				t.Errorf("exit code %d, want %d: %s%s", code, tc.code, stdout, stderr)
			}
			for _, words := range tc.stdout {
				if !strings.Contains(stdout, words) {
					t.Errorf("stdout lacks %q:\n%s", words, stdout)
				}
			}
			for _, words := range tc.stderr {
				if !strings.Contains(stderr, words) {
					t.Errorf("stderr lacks %q:\n%s", words, stderr)
				}
			}
			if len(tc.stderr) == 0 && stderr != "" {
				t.Errorf("stderr: %s", stderr)
			}
		})
	}
}

// A file that every user of the machine can change or replace is used, with a warning that says how
// to change that.
func TestWarnsOfAFileThatAllCanChange(t *testing.T) {
	for _, tc := range []struct {
		name         string
		file, folder fs.FileMode
		want         string
	}{
		{"own", 0o644, 0o755, ""},
		{"of a group", 0o664, 0o775, ""},
		{"file", 0o666, 0o755, "every user of this machine can change FILE; run: chmod o-w FILE"},
		{"folder", 0o644, 0o777, "every user of this machine can replace FILE; run: chmod o-w DIR"},
		{"folder as /tmp is", 0o644, 0o777 | fs.ModeSticky, ""},
	} {
		folder := t.TempDir()
		file := filepath.Join(folder, "lamp.yaml")
		writeFile(t, file, "watts: 1\n")
		if err := errors.Join(os.Chmod(file, tc.file), os.Chmod(folder, tc.folder)); err != nil {
			t.Fatal(err)
		}
		code, _, stderr := runConfig(t.Context(), "check", file)
		want := strings.NewReplacer("FILE", file, "DIR", folder).Replace(tc.want)
		if want != "" {
			want = "lampd: warning: " + want + "\n"
		}
		if code != 0 || stderr != want {
			t.Errorf("%s: exit code %d, %q; want %q", tc.name, code, stderr, want)
		}
	}
}

// A device is no file that others can change, so that there is nothing to warn of.
func TestADeviceIsAnEmptyFile(t *testing.T) {
	if code, stdout, stderr := runConfig(t.Context(), "check", os.DevNull); code != 0 || stderr != "" || !strings.Contains(stdout, "is valid") {
		t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
	}
}

// Use refuses a file that is not trusted before it parses the file, so that an error does not quote
// what a tool wrote.
func TestUseRefusesAnUntrustedFileUnread(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, trust.AgentdFile, "planted: text\n")
	home := t.TempDir()
	getenv := func(name string) string { return map[string]string{"HOME": home}[name] }
	_, _, err := lampProgram().Use(getenv, "")
	if refused, ok := errors.AsType[*cli.ExitError](err); !ok || refused.Code != cli.ExitUntrusted || strings.Contains(err.Error(), "planted") {
		t.Errorf("got %v", err)
	}
	writeFile(t, trust.AgentdFile, "watts: 3\n")
	if err := trust.NewUserStore(getenv).TrustFile(trust.AgentdFile, []byte("watts: 3\n")); err != nil {
		t.Fatal(err)
	}
	c, file, err := lampProgram().Use(getenv, "")
	if err != nil || c.Watts != 3 || !strings.HasSuffix(file.Path, trust.AgentdFile) {
		t.Errorf("%+v of %q: %v", c, file.Path, err)
	}
}

// runConfig runs `config` with arguments as a user without trust records.
func runConfig(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	p := cli.Process{
		Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Getenv: func(name string) string { return map[string]string{"HOME": "/nonexistent", "ROOM": "attic"}[name] },
	}
	code = cli.Run(ctx, lampProgram().Command(p), p)
	return code, out.String(), errs.String()
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
