package mcp

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/serverpackage"
	"github.com/toolhost/toolhost/tool"
)

// Two variables never get one secret, and each name is valid.
func TestSecretNames(t *testing.T) {
	names := map[string]string{}
	long := strings.Repeat("x", 80)
	for _, variable := range []string{"TOKEN", "X.A", "X/A", "X A", long + "1", long + "2"} {
		name := secretName("p", variable)
		if other, taken := names[name]; taken {
			t.Errorf("%q and %q have the secret %q", variable, other, name)
		}
		if err := tool.CheckName(name); err != nil {
			t.Errorf("%q: %v", variable, err)
		}
		names[name] = variable
	}
	if names["p_TOKEN"] != "TOKEN" {
		t.Errorf("the names are %v, want p_TOKEN among them", names)
	}
}

// A header without a colon may be a token, which an error must not show.
func TestHeaderWithoutAColon(t *testing.T) {
	var s server
	flags := addFlags{headers: []string{"secret-token"}}
	err := flags.fill(&s, []string{"https://example.com/mcp"}, nil)
	if err == nil || strings.Contains(err.Error(), "secret-token") || !strings.Contains(err.Error(), "a colon") {
		t.Errorf("got %v", err)
	}
}

// TestFolderBesideAPackage checks that the client of a registry does not see the folder of the
// server, and that the folder cannot add to the package or lead toolhost to another file.
func TestFolderBesideAPackage(t *testing.T) {
	bin, folder, outside := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "profile")
	for path, text := range map[string]string{
		filepath.Join(bin, "python3"): "#!/bin/sh\necho \"$@\"; pwd; ls -aR . .. >seen; echo \"$*\" >>seen; exit 7\n", outside: "the operator's\n",
		filepath.Join(folder, "venv", "__main__.py"): "evil", filepath.Join(folder, ".npmrc"): "git=./evil", filepath.Join(folder, "sitecustomize.py"): "evil",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(folder, "plugin.yaml")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	scratch, err := os.MkdirTemp("/tmp", "t") // a socket needs a short path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(scratch) })
	a := &adder{process: cli.Process{Getenv: func(string) string { return "" }, Stderr: io.Discard, Stdout: io.Discard}}
	plugin := filepath.Join(scratch, "plugin")
	s := &server{name: "web", folder: folder, command: []string{"uvx", "server"}}
	err = a.fill(t.Context(), s, &serverpackage.Request{Registry: serverpackage.PyPI, Spec: "server"}, plugin, scratch, &added{})
	if err == nil || !strings.Contains(err.Error(), "exit code 7") {
		t.Errorf("the client fails with %v", err)
	}
	seen, err := os.ReadFile(filepath.Join(scratch, "i", "work", "seen"))
	if text := string(seen); err != nil || strings.Contains(text, "venv/") || strings.Contains(text, "__main__") || strings.Contains(text, "npmrc") || !strings.Contains(text, "-I -m venv") {
		t.Errorf("the client sees %s, %v", text, err)
	}

	if err := os.RemoveAll(plugin); err != nil {
		t.Fatal(err)
	}
	s.command = []string{"node", "server.js"}
	if err := a.fill(t.Context(), s, nil, plugin, scratch, &added{}); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(outside); err != nil || string(text) != "the operator's\n" {
		t.Errorf("a link in the folder makes toolhost write %q, %v", text, err)
	}
	for _, name := range []string{".venv", "node_modules", "requirements.txt"} {
		if err := os.Mkdir(filepath.Join(folder, name), 0o700); err != nil {
			t.Fatal(err)
		}
		made := t.TempDir()
		if err := os.Mkdir(filepath.Join(made, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := addFolder(t.Context(), made, folder); err == nil || !strings.Contains(err.Error(), name+" is also what") {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.Remove(filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLargeProgram checks that a program, and a file of a folder, are neither read into memory nor
// filled.
func TestLargeProgram(t *testing.T) {
	const size, sector, most = 64 << 20, 512, 1 << 20
	for name, copied := range map[string]func(to, dir string) error{
		"a program": func(to, dir string) error {
			_, err := plainCommand(context.Background(), []string{filepath.Join(dir, "server")}, to)
			return err
		},
		"a folder": func(to, dir string) error { return addFolder(context.Background(), to, dir) },
	} {
		from, to := t.TempDir(), t.TempDir()
		if err := os.WriteFile(filepath.Join(from, "server"), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(filepath.Join(from, "server"), size); err != nil {
			t.Fatal(err)
		}
		if err := copied(to, from); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(to, "server"))
		if err != nil {
			t.Fatal(err)
		}
		if stat := info.Sys().(*syscall.Stat_t); info.Size() != size || info.Mode().Perm()&0o100 == 0 || stat.Blocks*sector > most {
			t.Errorf("%s: the copy is %v with %d bytes and takes %d", name, info.Mode(), info.Size(), stat.Blocks*sector)
		}
	}
}
