package pluginfolder_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// pythonPlugin writes a plugin with an environment.
func pythonPlugin(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	write(t, filepath.Join(dir, "main.py"), "main", 0o644)
	write(t, filepath.Join(dir, ".venv", "pyvenv.cfg"), "version = 3.11", 0o644)
	write(t, filepath.Join(dir, ".venv", "lib", "grpc.so"), "library", 0o755)
	write(t, filepath.Join(dir, ".venv", "lib", "sdk.py"), "sdk", 0o644)
	write(t, filepath.Join(dir, ".venv", "lib", "name.py"), name, 0o644)
	return dir
}

func info(t *testing.T, path ...string) fs.FileInfo {
	t.Helper()
	info, err := os.Stat(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// The files that the environments of two plugins have in common are on the disk once and read-only.
// An author's file has its own copy, because operators edit it in place.
func TestEnvironmentsShareFiles(t *testing.T) {
	f, dir := open(t)
	one := place(t, stage(t, f, pythonPlugin(t, "one")), "one").Path()
	two := place(t, stage(t, f, pythonPlugin(t, "two")), "two").Path()
	for name, want := range map[string]bool{
		"main.py": false, ".venv/pyvenv.cfg": true, ".venv/lib/grpc.so": true, ".venv/lib/sdk.py": true, ".venv/lib/name.py": false,
	} {
		first, second := info(t, one, name), info(t, two, name)
		if shares := os.SameFile(first, second); shares != want {
			t.Errorf("%s is shared: %t, want %t", name, shares, want)
		}
		if writable := second.Mode()&0o222 != 0; writable != (name == "main.py") {
			t.Errorf("%s has the mode %v", name, second.Mode())
		}
	}
	if read(t, filepath.Join(two, ".venv", "lib", "name.py")) != "two" || info(t, two, ".venv/lib/grpc.so").Mode()&0o111 != 0o111 {
		t.Error("a file of the environment has other content, or is not executable any more")
	}

	// Package managers replace files, and the other plugin keeps the earlier one.
	replaced := filepath.Join(one, ".venv", "lib", "sdk.py")
	if err := os.Remove(replaced); err != nil {
		t.Fatal(err)
	}
	write(t, replaced, "new", 0o644)
	if got := read(t, filepath.Join(two, ".venv", "lib", "sdk.py")); got != "sdk" {
		t.Errorf("the other plugin has %q", got)
	}

	if err := f.Remove("one"); err != nil {
		t.Fatal(err)
	}
	if got := read(t, filepath.Join(two, ".venv", "lib", "grpc.so")); got != "library" {
		t.Errorf("without the first plugin the second has %q", got)
	}
	if err := f.Remove("two"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, ".shared")); err == nil {
		t.Error("without plugins there are shared files")
	}
}

// Shared files that only the replaced plugin used are removed with it.
func TestAReplacedPluginLeavesNoFiles(t *testing.T) {
	f, dir := open(t)
	first := stage(t, f, pythonPlugin(t, "first"))
	place(t, first, "weather")
	if err := first.Discard(); err != nil {
		t.Fatal(err)
	}
	second := stage(t, f, pythonPlugin(t, "second"))
	place(t, second, "weather")
	before, err := os.ReadDir(filepath.Join(dir, ".shared"))
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Discard(); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadDir(filepath.Join(dir, ".shared"))
	if err != nil || len(after) != len(before)-1 {
		t.Errorf("there were %d shared files and are %d now, %v; one belonged only to the replaced plugin", len(before), len(after), err)
	}
}
