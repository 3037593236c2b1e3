package main

import (
	"debug/buildinfo"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestCheckVersion(t *testing.T) {
	for v, want := range map[string]string{
		"0.1.0": "", "10.20.30": "", "0.2.0-rc.1": "", "1.0.0-alpha.0": "",
		"": "name the version", "v0.1.0": "write 0.1.0", "0.1": "not a semantic version", "0.1.0+x": "not a semantic version",
		"01.1.0": "not a semantic version", "0.1.0-foo": "-rc.N", "0.1.0 ; x": "not a semantic version",
	} {
		err := checkVersion(v)
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", v, err, want)
		}
	}
	if got := pythonVersion("0.2.0-rc.1"); got != "0.2.0rc1" {
		t.Errorf("the version for Python is %s", got)
	}
}

// The sources have one version, and only that can be released.
func TestCheckVersions(t *testing.T) {
	s := source{root: "../../..", version: "0.1.0"}
	if err := s.checkVersions(); err != nil {
		t.Error(err)
	}
	s.version = "9.9.9"
	if err := s.checkVersions(); err == nil || !strings.Contains(err.Error(), "internal/version") {
		t.Errorf("a version that the sources do not have: %v", err)
	}
}

// A release replaces an earlier one, and no other files.
func TestCheckReplaceable(t *testing.T) {
	dir := t.TempDir()
	if err := checkReplaceable(dir); err != nil {
		t.Errorf("an empty folder: %v", err)
	}
	if err := checkReplaceable(filepath.Join(dir, "none")); err != nil {
		t.Errorf("no folder: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "thesis.md"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := checkReplaceable(dir); err == nil {
		t.Error("a folder with other files can be replaced")
	}
	if err := os.WriteFile(filepath.Join(dir, checksums), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := checkReplaceable(dir); err != nil {
		t.Errorf("an earlier release: %v", err)
	}
}

// The documents contain a manual page for each program and completions for each shell. They name no
// folder of the machine, and the date of a page is that of the commit.
func TestDocuments(t *testing.T) {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	checkout, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	r := &release{source: source{root: "../../..", version: "0.1.0", time: time.Date(2001, time.February, 3, 0, 0, 0, 0, time.UTC)}, scratch: t.TempDir()}
	files, err := r.documents()
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, f := range files {
		texts[f.name] = string(f.data)
		for _, local := range []string{home + "/", checkout, r.scratch} {
			if strings.Contains(string(f.data), local) {
				t.Errorf("%s names %s", f.name, local)
			}
		}
	}
	for name, want := range map[string]string{
		"LICENSE": "Apache License", "README.md": "toolhost", "CHANGELOG.md": "Changelog",
		"share/man/man1/toolhost.1": `"Feb 2001" "toolhost 0.1.0"`, "share/man/man1/toolhost-call.1": "--approve",
		"share/man/man1/agentd-run.1": "agentd run", "share/man/man1/agentd.1": "--version",
		"share/bash-completion/completions/toolhost": "complete ", "share/bash-completion/completions/agentd": "complete ",
		"share/zsh/site-functions/_toolhost": "#compdef toolhost", "share/zsh/site-functions/_agentd": "#compdef agentd",
		"share/fish/vendor_completions.d/toolhost.fish": "complete -c toolhost", "share/fish/vendor_completions.d/agentd.fish": "complete -c agentd",
	} {
		if !strings.Contains(strings.ReplaceAll(texts[name], `\-`, "-"), want) {
			t.Errorf("%s does not contain %q", name, want)
		}
	}
}

// The bill of programs is the same in whatever order they come.
func TestProgramBillHasOneOrder(t *testing.T) {
	info := &buildinfo.BuildInfo{GoVersion: "go1.26.0", Deps: []*debug.Module{{Path: "example.com/m", Version: "v1.0.0", Sum: "h1:x"}}}
	first, second := archived{name: "bin/agentd", build: info}, archived{name: "libexec/fs", build: info}
	forwards, err := programBill([]archived{first, second})
	if err != nil {
		t.Fatal(err)
	}
	backwards, err := programBill([]archived{second, first})
	if err != nil || !reflect.DeepEqual(forwards, backwards) {
		t.Errorf("two orders of programs have two bills, or %v", err)
	}
	if len(forwards.components) != 4 { // two programs, the module, and Go's standard library
		t.Errorf("the bill has the components %+v", forwards.components)
	}
}

// An SBOM has a serial number of the form that CycloneDX demands.
func TestSerial(t *testing.T) {
	valid := regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	if got := serial("digest", "commit"); !valid.MatchString(got) {
		t.Errorf("the serial number is %s", got)
	}
	if serial("digest", "commit") == serial("other", "commit") {
		t.Error("two artifacts have the same serial number")
	}
}

func TestOtherToolchain(t *testing.T) {
	read := func(text string) func(string) ([]byte, error) {
		return func(string) ([]byte, error) { return []byte(text), nil }
	}
	const file = "module m\n\ngo 1.26.7\n\ntoolchain go1.26.8\n"
	if note, err := otherToolchain("go1.26.8", read(file)); note != "" || err != nil {
		t.Errorf("the version of releases: %q, %v", note, err)
	}
	if note, err := otherToolchain("go1.26.9", read(file)); !strings.Contains(note, "go1.26.8") || !strings.Contains(note, "go1.26.9") || err != nil {
		t.Errorf("another version: %q, %v", note, err)
	}
	if _, err := otherToolchain("go1.26.8", read("module m\n\ngo 1.26.7\n")); err == nil {
		t.Error("a file without a toolchain is accepted")
	}
}

// A build of a checkout with changes contains its new files, and neither deleted nor ignored ones.
func TestListFilesOfChangedCheckout(t *testing.T) {
	root := t.TempDir()
	write := func(name string) {
		if err := os.WriteFile(filepath.Join(root, name), []byte("/ignored\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(".gitignore")
	write("deleted")
	write("tracked")
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}} {
		if _, err := git(t.Context(), root, args...); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(root, "deleted")); err != nil {
		t.Fatal(err)
	}
	write("ignored")
	write("new")
	files, err := listFiles(t.Context(), root)
	if want := []string{".gitignore", "new", "tracked"}; err != nil || !slices.Equal(files, want) {
		t.Errorf("listed %q, %v; want %q", files, err, want)
	}
}
