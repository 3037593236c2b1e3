package clientfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/trust"
)

const testProgram = "/bin/toolhost"

var testArguments = []string{"mcp", "serve", "--addr=unix:///run/t.sock"}

// home is a user with files of clients.
type home struct {
	t   *testing.T
	dir string
}

func newHome(t *testing.T) *home { return &home{t, t.TempDir()} }

func (h *home) place(client string) *Place {
	h.t.Helper()
	c, err := Find(client)
	if err != nil {
		h.t.Fatal(err)
	}
	getenv := func(name string) string { return map[string]string{"HOME": h.dir}[name] }
	return &Place{Client: c, Getenv: getenv, Program: testProgram}
}

// write writes the file of a place.
func (h *home) write(p *Place, text string, mode fs.FileMode) string {
	h.t.Helper()
	path, err := p.Path()
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err == nil {
		err = os.Chmod(path, mode)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return path
}

// apply makes a change.
func (h *home) apply(c *Change, err error) (done, backup string) {
	h.t.Helper()
	if err == nil {
		backup, err = c.Apply()
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return c.Done, backup
}

// backups returns how many backups there are.
func (h *home) backups() int {
	entries, _ := os.ReadDir(filepath.Join(h.dir, ".local/state/toolhost/mcp-clients"))
	return len(entries)
}

func want(t *testing.T, path, text string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != text {
		t.Errorf("%s is %q, %v; want %q", path, got, err, text)
	}
}

// comment returns a comment of a client's language, for texts that have one.
func comment(c Client) string {
	if c.syntax == (tomlSyntax{}) {
		return "# mine\n"
	}
	return "// mine\n"
}

// content returns a file of a client with another server.
func content(c Client) string {
	if c.syntax == (tomlSyntax{}) {
		return "model = \"x\"\n\n[" + c.servers[0] + ".other]\ncommand = \"npx\"\n"
	}
	return "{\n  \"x\": {\"" + c.servers[0] + "\": {\"toolhost\": 1}},\n  \"" + c.servers[0] + "\": {\n    \"other\": {\"command\": \"npx\"},\n  },\n}\n"
}

// TestConnect checks the file of each client, in each state that it can be in: what connect makes
// of it starts toolhost, doing it again changes nothing, and after the removal the file is what it
// was.
func TestConnect(t *testing.T) {
	for _, c := range Clients() {
		for name, text := range map[string]string{
			"no file": "-", "an empty file": "", "a comment": comment(c) + content(c), "a byte order mark": mark + content(c),
			"the ends of lines of Windows": strings.ReplaceAll(content(c), "\n", "\r\n"), "no end of a line": strings.TrimSpace(content(c)),
		} {
			t.Run(c.Name+", "+name, func(t *testing.T) {
				h := newHome(t)
				p := h.place(c.Name)
				path, err := p.Path()
				if err != nil {
					t.Fatal(err)
				}
				if text != "-" {
					h.write(p, text, 0o640)
				}
				change, err := p.Connect("toolhost", testArguments, false)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := os.Stat(path); (err == nil) != (text != "-") || change.Done != Added || !strings.Contains(change.Diff, testProgram) {
					t.Errorf("before it is made: %+v, %v", change, err)
				}
				_, backup := h.apply(change, nil)
				if text != "-" {
					want(t, backup, text)
				} else if backup != "" {
					t.Errorf("the backup of nothing is %s", backup)
				}
				entries, _, err := p.Entries()
				if err != nil || len(entries) != 1 || fmt.Sprint(entries) != fmt.Sprint([]Entry{{"toolhost", append([]string{testProgram}, testArguments...), nil}}) {
					t.Errorf("the entries are %v, %v", entries, err)
				}
				made, _ := os.ReadFile(path)
				if strings.Contains(text, "mine") && !strings.Contains(string(made), comment(c)) {
					t.Errorf("the comment is gone: %s", made)
				}
				info, err := os.Stat(path)
				if mode := info.Mode().Perm(); err != nil || text != "-" && mode != 0o640 || text == "-" && mode != 0o600 {
					t.Errorf("the mode is %v, %v", mode, err)
				}
				if done, _ := h.apply(p.Connect("toolhost", testArguments, false)); done != Nothing {
					t.Errorf("connecting again: %s", done)
				}
				if done, _ := h.apply(p.Connect("toolhost", append(testArguments[:len(testArguments):len(testArguments)], "--search"), false)); done != Updated {
					t.Errorf("connecting with other flags: %s", done)
				}
				if done, _ := h.apply(p.Disconnect("toolhost")); done != Restored {
					t.Errorf("the removal: %s", done)
				}
				if text == "-" {
					if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
						t.Errorf("the file is still there: %v", err)
					}
				} else {
					want(t, path, text)
				}
				if n := h.backups(); n != 0 {
					t.Errorf("%d backups are left", n)
				}
				if done, _ := h.apply(p.Disconnect("toolhost")); done != Nothing {
					t.Errorf("removing again: %s", done)
				}
			})
		}
	}
}

// A file that was changed since keeps these changes when the entry is removed.
func TestRemovalFromAChangedFile(t *testing.T) {
	for _, c := range Clients() {
		t.Run(c.Name, func(t *testing.T) {
			h := newHome(t)
			p := h.place(c.Name)
			path := h.write(p, content(c), 0o600)
			h.apply(p.Connect("toolhost", testArguments, false))
			h.apply(p.Connect("second", testArguments, false))
			if done, _ := h.apply(p.Disconnect("toolhost")); done != Removed {
				t.Errorf("the first of two: %s", done)
			}
			made, err := os.ReadFile(path)
			if err != nil || strings.Contains(string(made), `"toolhost": {`+"\n") || strings.Contains(string(made), ".toolhost]") || !strings.Contains(string(made), "second") {
				t.Errorf("%s, %v", made, err)
			}
			changed := comment(c) + string(made)
			h.write(p, changed, 0o600)
			done, backup := h.apply(p.Disconnect("second"))
			if done != Removed {
				t.Errorf("after a change: %s", done)
			}
			want(t, backup, changed)
			want(t, path, comment(c)+content(c))
		})
	}
}

// What a person added to the entry stays, and an entry of something else is left alone.
func TestEntriesOfOthers(t *testing.T) {
	for client, text := range map[string]struct{ own, foreign string }{
		"claude": {
			"{\"mcpServers\": {\"toolhost\": {\"command\": \"/old/toolhost\", \"args\": [\"mcp\", \"serve\"], \"A\": {\"x\": \"y\"}}}}",
			"{\"mcpServers\": {\"toolhost\": {\"command\": \"npx\", \"env\": {\"KEY\": \"confidential\"}}}}",
		},
		"opencode": {
			"{\"mcp\": {\"toolhost\": {\"type\": \"local\", \"command\": [\"toolhost\", \"mcp\", \"serve\"], \"A\": \"b\"}}}",
			"{\"mcp\": {\"toolhost\": {\"type\": \"remote\", \"url\": \"https://confidential.example\"}}}",
		},
		"codex": {
			"[mcp_servers.toolhost]\ncommand = '/old/toolhost'\nargs = ['mcp', 'serve']\nA = \"b\"\n",
			"[mcp_servers.toolhost]\nurl = \"https://confidential.example\"\n",
		},
	} {
		h := newHome(t)
		p := h.place(client)
		path := h.write(p, text.own, 0o600)
		for _, want := range []string{Updated, Nothing} {
			change, err := p.Connect("toolhost", testArguments, false)
			if done, _ := h.apply(change, err); done != want || !slices.Equal(change.Keeps, []string{"A"}) {
				t.Errorf("%s: %s, keeps %q", client, done, change.Keeps)
			}
		}
		if entries, _, err := p.Entries(); err != nil || len(entries) != 1 || !slices.Equal(entries[0].Keeps, []string{"A"}) {
			t.Errorf("%s: %+v, %v", client, entries, err)
		}
		if made, _ := os.ReadFile(path); !strings.Contains(string(made), "unix:///run/t.sock") || !strings.Contains(string(made), `A`) || strings.Contains(string(made), "/old") {
			t.Errorf("%s: %s", client, made)
		}
		h.write(p, text.foreign, 0o600)
		for _, refuse := range []func() (*Change, error){
			func() (*Change, error) { return p.Connect("toolhost", testArguments, false) },
			func() (*Change, error) { return p.Disconnect("toolhost") },
		} {
			if c, err := refuse(); !errors.Is(err, ErrTaken) {
				t.Errorf("%s: %+v, %v", client, c, err)
			}
		}
		change, err := p.Connect("toolhost", testArguments, true)
		if err != nil || strings.Contains(change.Diff, "confidential") {
			t.Errorf("%s: %+v, %v", client, change, err)
		}
		if done, backup := h.apply(change, err); done != Replaced {
			t.Errorf("%s: %s", client, done)
		} else if info, err := os.Stat(backup); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: the backup: %v, %v", client, info, err)
		}
		if made, _ := os.ReadFile(path); strings.Contains(string(made), "confidential") {
			t.Errorf("%s: %s", client, made)
		}
		h.apply(p.Disconnect("toolhost"))
		want(t, path, text.foreign)
	}
}

// The entry of a project may start another program with the name of toolhost.
func TestProgramsInProjects(t *testing.T) {
	for program, ours := range map[string]bool{testProgram: true, "/project/toolhost": false, "toolhost": false} {
		h := newHome(t)
		p := h.place("claude")
		p.Project = h.dir
		h.write(p, `{"mcpServers": {"toolhost": {"command": "`+program+`", "args": ["mcp", "serve"], "env": {"LD_PRELOAD": "/x.so"}, "cwd": "/x"}}}`, 0o600)
		c, err := p.Connect("toolhost", testArguments, false)
		if ours && (err != nil || !slices.Equal(c.Keeps, []string{"cwd", "env"})) || !ours && !errors.Is(err, ErrTaken) {
			t.Errorf("%s: %+v, %v", program, c, err)
		}
		if _, err := p.Disconnect("toolhost"); errors.Is(err, ErrTaken) == ours {
			t.Errorf("%s: the removal: %v", program, err)
		}
		if entries, _, err := p.Entries(); err != nil || len(entries) == 1 != ours {
			t.Errorf("%s: %v, %v", program, entries, err)
		}
		if c, err := p.Connect("toolhost", testArguments, true); err != nil || !ours && c.Done != Replaced {
			t.Errorf("%s: --replace: %+v, %v", program, c, err)
		}
	}
}

// The name of a folder writes no lines of its own into the diff.
func TestNamesInDiffs(t *testing.T) {
	h := newHome(t)
	p := h.place("claude")
	p.Project = filepath.Join(h.dir, "a\n+++ b\x1b[2J")
	if err := os.Mkdir(p.Project, 0o700); err != nil {
		t.Fatal(err)
	}
	c, err := p.Connect("toolhost", testArguments, false)
	if err != nil || strings.Count(c.Diff, "\n+++ ") != 1 || strings.Contains(c.Diff, "\x1b") || !strings.Contains(c.Diff, `a +++ b\x1b[2J`) {
		t.Errorf("%q, %v", c.Diff, err)
	}
}

// A file of opencode 2 has its servers one level deeper, and entries without enabled.
func TestOpencode2(t *testing.T) {
	h := newHome(t)
	p := h.place("opencode")
	if err := os.MkdirAll(filepath.Join(h.dir, ".config/opencode"), 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(h.dir, ".config/opencode/opencode.jsonc") // the other name
	if err := os.WriteFile(path, []byte(`{"mcp": {"servers": {}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	h.apply(p.Connect("toolhost", testArguments[:2], false))
	want(t, path, `{"mcp": {"servers": {"toolhost": {"type": "local", "command": ["/bin/toolhost", "mcp", "serve"]}}}}`)
	if entries, _, err := p.Entries(); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

// TestFilesThatAreRefused checks that a file that toolhost must not write, or cannot read, stays as
// it is.
func TestFilesThatAreRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		prepare   func(h *home, path string) error
		untrusted bool
		says      string
	}{
		"others may write it": {func(_ *home, path string) error { return os.Chmod(path, 0o666) }, true, "chmod go-w"},
		"others may write the folder": {
			func(_ *home, path string) error { return os.Chmod(filepath.Dir(path), 0o777) }, true, "chmod go-w",
		},
		"a link to nothing": {
			func(_ *home, path string) error { return errors.Join(os.Remove(path), os.Symlink("nothing", path)) }, false, "does not exist",
		},
		"a link to itself": {func(_ *home, path string) error { return errors.Join(os.Remove(path), os.Symlink(path, path)) }, false, "links"},
		"a folder":         {func(_ *home, path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) }, false, "regular"},
		"too large":        {func(_ *home, path string) error { return os.Truncate(path, MaxBytes+1) }, false, "more than"},
		"no JSON":          {func(_ *home, path string) error { return os.WriteFile(path, []byte("{"), 0o600) }, false, "is not a file of Claude Code"},
		"no object":        {func(_ *home, path string) error { return os.WriteFile(path, []byte(`{"mcpServers": 7}`), 0o600) }, false, "write the entry yourself"},
		"nested deeply": {
			func(_ *home, path string) error {
				return os.WriteFile(path, []byte(strings.Repeat("[", mostContainers)), 0o600)
			}, false, "is not a file",
		},
		"too many objects": {
			func(_ *home, path string) error {
				return os.WriteFile(path, []byte(strings.Repeat("[", mostContainers+1)), 0o600)
			}, false, "objects and arrays",
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			p := h.place("claude")
			if err := tt.prepare(h, h.write(p, `{}`, 0o600)); err != nil {
				t.Fatal(err)
			}
			c, err := p.Connect("toolhost", testArguments, true)
			if _, untrusted := errors.AsType[*trust.Untrusted](err); err == nil || untrusted != tt.untrusted || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%+v, %v", c, err)
			}
			if h.backups() > 0 {
				t.Error("there is a backup")
			}
		})
	}
}

// A link of the user is followed to its file. One in a project must stay there.
func TestLinks(t *testing.T) {
	h := newHome(t)
	p := h.place("claude")
	real := filepath.Join(h.dir, "dotfiles.json")
	path, _ := p.Path()
	if err := errors.Join(os.WriteFile(real, []byte("{}"), 0o600), os.Symlink("dotfiles.json", path)); err != nil {
		t.Fatal(err)
	}
	change, err := p.Connect("toolhost", testArguments, false)
	h.apply(change, err)
	if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink == 0 || filepath.Base(change.File) != "dotfiles.json" {
		t.Errorf("the link is %v, %v", info, err)
	}
	if text, _ := os.ReadFile(real); !strings.Contains(string(text), testProgram) {
		t.Errorf("the file is %s", text)
	}

	p.Project = filepath.Join(h.dir, "project")
	inside := filepath.Join(p.Project, ".mcp.json")
	if err := errors.Join(os.Mkdir(p.Project, 0o700), os.Symlink(real, inside)); err != nil {
		t.Fatal(err)
	}
	_, err = p.Connect("toolhost", testArguments, false)
	if _, untrusted := errors.AsType[*trust.Untrusted](err); !untrusted {
		t.Errorf("a link that leads out of the project: %v", err)
	}
	err = errors.Join(os.Remove(inside), os.WriteFile(filepath.Join(p.Project, "x.json"), []byte("{}"), 0o600), os.Symlink("x.json", inside))
	if err != nil {
		t.Fatal(err)
	}
	h.apply(p.Connect("toolhost", testArguments, false))
}

// Another user who can write a folder can put another one where the client's folder is missing, or
// rename that.
func TestFoldersOfOthers(t *testing.T) {
	for _, exists := range []bool{false, true} {
		for _, project := range []bool{false, true} {
			h := newHome(t)
			p := h.place("codex")
			if project {
				p.Project = h.dir
			}
			path, _ := p.Path()
			if exists {
				h.write(p, "", 0o600)
			}
			connect := func() error {
				_, err := p.Connect("toolhost", testArguments, false)
				return err
			}
			if err := connect(); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			if err := os.Chmod(h.dir, 0o777); err != nil {
				t.Fatal(err)
			}
			err := connect()
			if _, untrusted := errors.AsType[*trust.Untrusted](err); untrusted != (project || !exists) {
				t.Errorf("%s, which exists: %v, in a folder that others may write: %v", path, exists, err)
			}
		}
	}
}

// A client may write its file between the look and the change.
func TestChangeAtTheSameTime(t *testing.T) {
	h := newHome(t)
	p := h.place("codex")
	for _, before := range []string{"", "a = 1\n"} {
		path := h.write(p, before, 0o600)
		if before == "" {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
		c, err := p.Connect("toolhost", testArguments, false)
		if err != nil {
			t.Fatal(err)
		}
		h.write(p, "a = 2\n", 0o600)
		if _, err := c.Apply(); err == nil || !strings.Contains(err.Error(), "run the command again") {
			t.Errorf("%v", err)
		}
		want(t, path, "a = 2\n")
		if n := h.backups(); n != 0 {
			t.Errorf("%d backups of what was not changed", n)
		}
	}
}

// What cannot be written leaves the file and its earlier backup. Root can write every folder.
func TestFolderThatCannotBeWritten(t *testing.T) {
	h := newHome(t)
	p := h.place("codex")
	path := h.write(p, "a = 1\n", 0o600)
	h.apply(p.Connect("toolhost", testArguments, false))
	made, _ := os.ReadFile(path)
	c, err := p.Connect("toolhost", testArguments[:2], false)
	if err != nil {
		t.Fatal(err)
	}
	if os.Getuid() != 0 {
		if err := os.Chmod(filepath.Dir(path), 0o500); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(filepath.Dir(path), 0o700)
		if _, err := c.Apply(); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%v", err)
		}
		if err := os.Chmod(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	want(t, path, string(made))
	h.apply(p.Disconnect("toolhost"))
	want(t, path, "a = 1\n")
}

// A variable or the home says where a file is.
func TestPaths(t *testing.T) {
	for variables, wants := range map[string]string{
		"HOME=/h":                             "claude /h/.claude.json, codex /h/.codex/config.toml, gemini /h/.gemini/settings.json, cursor /h/.cursor/mcp.json",
		"HOME=/h CODEX_HOME=/c":               "codex /c/config.toml, claude /h/.claude.json",
		"HOME=/h CODEX_HOME=c":                "codex /h/.codex/config.toml",
		"CODEX_HOME=/c CLAUDE_CONFIG_DIR=/d":  "codex /c/config.toml, claude /d/.claude.json, gemini -",
		"HOME=h":                              "claude -, zed -",
		"HOME=/h XDG_CONFIG_HOME=/x":          "opencode /x/opencode/opencode.json, claude /h/.claude.json",
		"PROJECT=/p HOME=/h CODEX_HOME=/home": "claude /p/.mcp.json, codex /p/.codex/config.toml, vscode /p/.vscode/mcp.json, zed -",
	} {
		env := map[string]string{}
		for _, variable := range strings.Fields(variables) {
			name, value, _ := strings.Cut(variable, "=")
			env[name] = value
		}
		for _, each := range strings.Split(wants, ", ") {
			name, want, _ := strings.Cut(each, " ")
			c, err := Find(name)
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.path(func(name string) string { return env[name] }, env["PROJECT"])
			if err != nil {
				got = "-"
			}
			if got != want {
				t.Errorf("%s: %s is %s, %v, want %s", variables, name, got, err, want)
			}
		}
	}
}
