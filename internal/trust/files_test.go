package trust_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/internal/trust"
)

// yard is a folder with a store and a workspace.
type yard struct {
	dir, workspace string
	store          *trust.Store
}

func newYard(t *testing.T) *yard {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	y := &yard{dir, filepath.Join(dir, "ws"), trust.NewStore(filepath.Join(dir, "state"))}
	for _, folder := range []string{y.workspace, filepath.Join(dir, "etc")} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return y
}

func (y *yard) write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(y.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// check reads a file and decides about it as commands do.
func (y *yard) check(t *testing.T, path string, named bool, writable ...string) error {
	t.Helper()
	file, err := trust.Read(path, named)
	if err != nil {
		return err
	}
	file.Writable = writable
	return y.store.Check(file)
}

func refused(t *testing.T, err error, words ...string) {
	t.Helper()
	untrusted, ok := errors.AsType[*trust.Untrusted](err)
	if !ok {
		t.Fatalf("the error is %v, want *Untrusted", err)
	}
	for _, word := range words {
		if !strings.Contains(untrusted.Error(), word) {
			t.Errorf("%q is not in: %v", word, untrusted)
		}
	}
}

func TestAFoundFileHasToBeTrusted(t *testing.T) {
	y := newYard(t)
	path := y.write(t, "ws/toolhost.yaml", "locked: true")
	refused(t, y.check(t, path, false), "found in the current folder", "toolhost trust "+path)
	must(t, y.store.TrustFile(path, []byte("locked: true")))
	must(t, y.check(t, path, false))

	y.write(t, "ws/toolhost.yaml", "locked: false")
	refused(t, y.check(t, path, false), "changed since", "toolhost trust --diff "+path)
	y.write(t, "ws/toolhost.yaml", "locked: true")
	must(t, y.check(t, path, false))

	must(t, os.Mkdir(filepath.Join(y.workspace, "sub"), 0o700))
	refused(t, y.check(t, y.write(t, "ws/sub/toolhost.yaml", "locked: true"), false), "found in the current folder") // another place
	was, err := y.store.RevokeFile(path)
	if !was || err != nil {
		t.Fatalf("revoked: %v, %v", was, err)
	}
	refused(t, y.check(t, path, false), "found in the current folder")
}

func TestAFileThatWasTrustedAndIsGoneIsMissed(t *testing.T) {
	y := newYard(t)
	path := y.write(t, "ws/toolhost.yaml", "policy: {}")
	must(t, y.store.TrustFile(path, []byte("policy: {}")))
	must(t, os.Remove(path))
	env := func(string) string { return "" }
	_, err := y.store.Find("toolhost.yaml", env, y.workspace)
	refused(t, err, "is gone", "toolhost trust --revoke "+path)
	if _, err := y.store.RevokeFile(path); err != nil {
		t.Fatal(err)
	}
	if file, err := y.store.Find("toolhost.yaml", env, y.workspace); err != nil || file.Path != "" {
		t.Errorf("found %q, %v", file.Path, err)
	}
}

// TestANamedFileIsTheOperatorsWord unless plugins can write it, or what leads to it, now or under an earlier toolhost.
func TestANamedFileIsTheOperatorsWord(t *testing.T) {
	y := newYard(t)
	etc, inside := y.write(t, "etc/a.yaml", "x"), y.write(t, "ws/a.yaml", "x")
	link := func(target, name string) string {
		path := filepath.Join(y.dir, name)
		must(t, os.Symlink(target, path))
		return path
	}
	must(t, y.check(t, etc, true, y.workspace))
	must(t, y.check(t, inside, true))
	for what, path := range map[string]string{
		"inside":                            inside,
		"a link to a file inside":           link(inside, "etc/link.yaml"),
		"a link inside to a file outside":   link(etc, "ws/link.yaml"),
		"through a link inside and out":     link(link(etc, "ws/hop"), "etc/hop.yaml"),
		"a folder that is a link inside":    filepath.Join(link(filepath.Join(y.dir, "etc"), "ws/etc"), "a.yaml"),
		"a folder that is a relative link":  filepath.Join(link("../ws", "etc/ws"), "a.yaml"),
		"a way that goes up again":          y.workspace + "/../ws/a.yaml",
		"a link whose target goes up again": link("../etc/../ws/a.yaml", "etc/up.yaml"),
	} {
		if err := y.check(t, path, true, y.workspace); err == nil {
			t.Errorf("%s: %s is used", what, path)
		} else {
			refused(t, err, "tools may write")
		}
	}
	must(t, os.Link(etc, filepath.Join(y.dir, "etc/second.yaml")))
	refused(t, y.check(t, etc, true, y.workspace), "hard links")

	must(t, y.store.AddWritable(y.workspace))
	refused(t, y.check(t, inside, true), "could write earlier") // by a toolhost that has ended
}

func TestTheConfigurationFolderIsTheOperators(t *testing.T) {
	y := newYard(t)
	must(t, os.MkdirAll(filepath.Join(y.dir, "home/.config/toolhost"), 0o700))
	path := y.write(t, "home/.config/toolhost/toolhost.yaml", "x")
	env := func(name string) string { return map[string]string{"HOME": filepath.Join(y.dir, "home")}[name] }
	file, err := y.store.Find("toolhost.yaml", env, y.workspace)
	if err != nil || file.Path != path || !file.Named {
		t.Fatalf("found %+v, %v", file, err)
	}
	must(t, y.store.Check(file))
	here := y.write(t, "ws/toolhost.yaml", "y") // it counts more, and is not passed over because it is not trusted
	file, err = y.store.Find("toolhost.yaml", env, y.workspace)
	if err != nil || file.Path != here || file.Named {
		t.Fatalf("found %+v, %v", file, err)
	}
	must(t, os.Remove(here))
	must(t, os.Symlink("nowhere", here)) // not passed over either
	if _, err := y.store.Find("toolhost.yaml", env, y.workspace); err == nil {
		t.Error("a link that leads nowhere is passed over")
	}
}

func TestWhatIsFoundIsARegularFile(t *testing.T) {
	y := newYard(t)
	path := filepath.Join(y.workspace, "toolhost.yaml")
	must(t, syscall.Mkfifo(path, 0o600))
	_, err := trust.Read(path, false) // which would otherwise wait for a writer
	refused(t, err, "not a regular file")
}
