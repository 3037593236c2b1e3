package serverpackage

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const hash = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

const (
	digest = "sha512-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/abcdefghijklmnopqrstuv=="
	older  = "sha1-abcdefghijklmnopqrstuvwxyzA="
)

// TestNPMLock checks that only a lock file is used in which each package is an archive of the
// registry with a hash.
func TestNPMLock(t *testing.T) {
	const own = `"": {"dependencies": {"server": "1.0.0"}}, "node_modules/server": {"version": "1.0.0", "integrity": "` + digest + `"`
	const bundler = own + `, "bundleDependencies": ["b"]}, "node_modules/server/node_modules/b": `
	const entry = own + `}, "node_modules/b": `
	for name, c := range map[string]struct {
		text, want string
		skip       bool
	}{
		"pinned":                   {text: own + "}"},
		"an older hash":            {text: entry + `{"version": "2.0.0-rc.1", "integrity": "` + older + " " + digest + `"}`},
		"a URL of the registry":    {text: entry + `{"version": "2.0.0", "resolved": "https://registry.test/b.tgz", "integrity": "` + digest + `"}`},
		"an alias":                 {text: own + `, "dependencies": {"b": "npm:@x/c@^1 || 2.x"}}, "node_modules/b": {"name": "@x/c", "version": "1.0.0", "integrity": "` + digest + `"}`},
		"a bundled one":            {text: bundler + `{"version": "1.0.0", "inBundle": true}`},
		"all bundled":              {text: own + `, "bundleDependencies": true}, "node_modules/server/node_modules/b": {"version": "1.0.0", "inBundle": true}`},
		"deep in a bundle":         {text: bundler + `{"version": "1.0.0", "inBundle": true}, "node_modules/server/node_modules/b/node_modules/c": {"version": "1.0.0", "inBundle": true}`},
		"in a bundle, with a URL":  {text: bundler + `{"version": "1.0.0", "inBundle": true, "resolved": "git+ssh://x/b.git#1"}`, want: "no hash pins b@1.0.0"},
		"in an archive elsewhere":  {text: bundler + `{"version": "1.0.0", "inBundle": true, "resolved": "https://x/b.tgz"}`, want: "no hash pins b@1.0.0"},
		"in no bundle":             {text: entry + `{"version": "1.0.0", "inBundle": true}`, want: "no hash pins b@1.0.0"},
		"in an empty bundle":       {text: own + `, "bundleDependencies": []}, "node_modules/server/node_modules/b": {"version": "1.0.0", "inBundle": true}`, want: "no hash pins b@1.0.0"},
		"in a bundle of none":      {text: own + `, "bundleDependencies": false}, "node_modules/server/node_modules/b": {"version": "1.0.0", "inBundle": true}`, want: "no hash pins b@1.0.0"},
		"in an unknown package":    {text: own + `}, "node_modules/c/node_modules/b": {"version": "1.0.0", "inBundle": true}`, want: "no hash pins b@1.0.0"},
		"no hash":                  {text: entry + `{"version": "2.0.0"}`, want: "no hash pins b@2.0.0"},
		"a garbled hash":           {text: entry + `{"version": "2.0.0", "integrity": "sha512-x"}`, want: "no hash pins b@2.0.0"},
		"a weak hash":              {text: entry + `{"version": "2.0.0", "integrity": "md5-abcdefghijklmnopqrstuv=="}`, want: "no hash pins b@2.0.0"},
		"one good hash":            {text: entry + `{"version": "2.0.0", "integrity": "` + digest + ` sha512-"}`, want: "no hash pins b@2.0.0"},
		"a folder":                 {text: entry + `{"link": true, "integrity": "` + digest + `"}`, want: "no hash pins b@"},
		"a repository":             {text: entry + `{"version": "1.0.0", "integrity": "` + digest + `", "resolved": "git+https://x/b.git#0"}`, want: "no hash pins b@1.0.0"},
		"a file":                   {text: entry + `{"version": "1.0.0", "integrity": "` + digest + `", "resolved": "file:../b.tgz"}`, want: "no hash pins b@1.0.0"},
		"a version that is a URL":  {text: entry + `{"version": "git+ssh://x/b.git", "integrity": "` + digest + `"}`, want: "no hash pins b@git"},
		"a version that is a file": {text: entry + `{"version": "file:../b", "integrity": "` + digest + `"}`, want: "no hash pins b@file"},
		"a name that is a URL":     {text: entry + `{"name": "git+ssh://x/b.git", "version": "1.0.0", "integrity": "` + digest + `"}`, want: "no hash pins b@1.0.0"},
		"outside":                  {text: own + `}, "../b": {"version": "1.0.0", "integrity": "` + digest + `"}`, want: "no hash pins ../b@1.0.0"},
		"outside, hidden":          {text: own + `}, "node_modules/../../b": {"version": "1.0.0", "integrity": "` + digest + `"}`, want: "no hash pins"},
		"the programs' folder":     {text: own + `}, "node_modules/.bin": {"version": "1.0.0", "integrity": "` + digest + `"}`, want: "no hash pins .bin@1.0.0"},
		"a need for a repository":  {text: own + `, "dependencies": {"b": "git+ssh://x/b.git"}}`, want: "no hash pins b@git"},
		"a need for a forge":       {text: own + `, "dependencies": {"b": "someone/b#semver:^1"}}`, want: "no hash pins b@someone"},
		"a need for an archive":    {text: own + `, "optionalDependencies": {"b": "b.tgz"}}`, want: "no hash pins b@b.tgz"},
		"a need for a folder":      {text: own + `, "dependencies": {"b": "npm:b@../b"}}`, want: "no hash pins b@npm"},
		"the package is a URL":     {text: `"": {"dependencies": {"server": "https://x/s.tgz"}}, "node_modules/server": {"version": "1.0.0", "integrity": "` + digest + `"}`, want: "no hash pins server@https"},
		"nothing":                  {text: `"": {}`, want: "did not say which package"},
		"nothing at all":           {text: `"node_modules/b": {}`, want: "did not say which package"},
		"a script":                 {text: own + `}, "node_modules/a/node_modules/b": {"version": "3.0.0", "integrity": "` + digest + `", "hasInstallScript": true}`, want: "b@3.0.0 wants to run a script"},
		"a skipped script":         {text: entry + `{"version": "3.0.0", "integrity": "` + digest + `", "hasInstallScript": true}`, skip: true},
	} {
		lock, err := parseNPMLock("lock", []byte(`{"packages": {`+c.text+`}}`))
		if err != nil {
			t.Fatal(name, err)
		}
		found, scripts, err := lock.check(c.skip)
		switch {
		case c.want != "":
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", name, err, c.want)
			}
			continue
		case err != nil || found != "server" || c.skip != (len(scripts) == 1):
			t.Errorf("%s: %q, %q, %v", name, found, scripts, err)
		}
		dir := t.TempDir()
		if err := lock.write(dir); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(filepath.Join(dir, npmPins)); err != nil || strings.Contains(string(text), "resolved") {
			t.Errorf("%s: npm gets %s, %v", name, text, err)
		}
	}
	if _, err := parseNPMLock("lock", []byte(`{"packages": {"": null}}`)); err == nil {
		t.Error("a package that is null is read")
	}
}

// TestInstalledByNPM checks that a package that npm fetched for want of a bundle is found.
func TestInstalledByNPM(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "node_modules"), 0o700); err != nil {
		t.Fatal(err)
	}
	lock := &npmLock{Packages: map[string]*npmPackage{"node_modules/a": {Version: "1.0.0", Integrity: digest}, "node_modules/a/node_modules/b": {Version: "1.0.0", InBundle: true}}}
	for text, good := range map[string]bool{
		`"node_modules/a": {"integrity": "` + digest + `"}`:                                                        true,
		`"node_modules/a/node_modules/b": {"inBundle": true}, "node_modules/a/node_modules/c": {"inBundle": true}`: true,
		`"node_modules/a": {"integrity": "` + older + `"}`:                                                         false,
		`"node_modules/a/node_modules/b": {"integrity": "` + digest + `"}`:                                         false,
		`"node_modules/c": {"integrity": "` + digest + `"}`:                                                        false,
		`"node_modules/c": {"integrity": "` + digest + `", "inBundle": true}`:                                      false,
	} {
		if err := os.WriteFile(filepath.Join(dir, npmHidden), []byte(`{"packages": {`+text+`}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := lock.compare(dir); (err == nil) != good {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestReportOfPip checks that only wheels of the index with a hash become pins.
func TestReportOfPip(t *testing.T) {
	entry := func(name, version, hash string, direct bool) string {
		return fmt.Sprintf(`{"install": [{"is_direct": %v, "metadata": {"name": %q, "version": %q}, "download_info": {"archive_info": {"hashes": {"sha256": %q}}}}]}`, direct, name, version, hash)
	}
	for text, want := range map[string]string{
		entry("b", "1.0", hash, false):                              "",
		entry("b", "1.0", hash, true):                               "names b by a URL",
		entry("b", "1.0", "", false):                                "no hash pins b 1.0",
		entry("b", "1.0", "0", false):                               "no hash pins b 1.0",
		entry("b\n--index-url x", "1.0", hash, false):               "no hash pins",
		entry("b", "1.0 --hash=sha256:"+hash+"\n-r x", hash, false): "no hash pins",
		entry("-r x", "1.0", hash, false):                           "no hash pins",
		"[]":                                                        "reading pip's report",
	} {
		pins, err := reported([]byte(text))
		if want == "" && (err != nil || len(pins) != 1) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, %v, want %q", text, pins, err, want)
		}
	}
}

// TestRequirements checks that a requirements file has nothing but pins, because pip also takes
// options and URLs from it.
func TestRequirements(t *testing.T) {
	good := "# pinned\nServer_X==1.0 \\\n    --hash=sha256:" + hash + " # why\n\nb==2.0+local --hash=sha256:" + hash + " --hash=sha256:" + hash + "\n"
	pins, err := parsePins("f", []byte(good))
	if err != nil || len(pins) != 2 || pins[0].name != "Server_X" || pins[1].version != "2.0+local" {
		t.Errorf("got %v, %v", pins, err)
	}
	if name, version, err := (&Request{Spec: "server.x[all]>=1"}).pinned(pins); name != "Server_X" || version != "1.0" || err != nil {
		t.Errorf("the package is %s %s, %v", name, version, err)
	}
	for _, bad := range []string{"b==1", "--index-url http://x/", "b @ https://x/b.whl --hash=sha256:" + hash, "-r other.txt", "b==1 --hash=md5:00", "./b --hash=sha256:" + hash} {
		if pins, err := parsePins("f", []byte(bad)); err == nil {
			t.Errorf("%q: got %v", bad, pins)
		}
	}
}

// TestLinesOfPip checks that pip gets only the pins of a file. pip ends a line at a form feed, and
// a comment at its line break even after a backslash.
func TestLinesOfPip(t *testing.T) {
	const pinned = "b==1 --hash=sha256:" + hash
	dir := t.TempDir()
	lock := filepath.Join(dir, "lock")
	if err := os.WriteFile(lock, []byte("# a\f--index-url http://x/\n# b \\\n--index-url http://x/\n"+pinned+"   --hash=sha256:"+hash+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (&Request{}).resolvePyPI(nil, dir, "", Options{Lock: lock}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, pypiPins)); err != nil || string(got) != pinned+" --hash=sha256:"+hash+"\n" {
		t.Errorf("pip gets %q, %v", got, err)
	}
}

// TestPrograms checks which program of a package runs, and how.
func TestPrograms(t *testing.T) {
	both := map[string]string{"server": "a", "tool": "b"}
	for _, c := range []struct {
		programs    map[string]string
		named, want string
	}{{both, "", "server"}, {both, "tool", "tool"}, {both, "none", ""}, {map[string]string{"x": "a"}, "", "x"}, {map[string]string{"x": "a", "y": "b"}, "", ""}, {nil, "", ""}} {
		if got, _, err := choose(c.programs, c.named, "server"); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%v, %q: %q, %v", c.programs, c.named, got, err)
		}
	}
	dir := t.TempDir()
	for file, c := range map[string]struct{ text, want string }{
		"a.js": {"#!/usr/bin/env node\n", "node"}, "b.mjs": {"import 'x'", "node"}, "c": {"#!/bin/sh\n", "./c"}, "d": {"\x7fELF", "./d"}, "e": {"#!/usr/bin/env node", "node"},
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := npmCommand(dir, "p", file); err != nil || got[0] != c.want {
			t.Errorf("%s: %q, %v", file, got, err)
		}
	}
	if got, err := npmCommand(dir, "p", "../x.js"); err == nil {
		t.Errorf("outside of the package: %q", got)
	}
}

// TestStarter checks that the text of a package cannot become code of the starter.
func TestStarter(t *testing.T) {
	env := t.TempDir()
	root, err := os.OpenRoot(env)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	folder := filepath.Join(env, environmentDir, "lib", "python3.11", "site-packages", "my_server-1.0.dist-info")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	text := "[other]\nno = a:b\n[console_scripts]\nevil = os:system('x')\nevil2 = a; import b:c\nmy-server = my.server:cli.main [extra]\n"
	if err := os.WriteFile(filepath.Join(folder, "entry_points.txt"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	program, target, err := (&Request{}).pypiProgram(root, "my-server")
	if program != "my-server" || target != "my.server:cli.main" || err != nil {
		t.Fatalf("got %q, %q, %v", program, target, err)
	}
	if err := writeStarter(root, program, target); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(env, starter)); err != nil || !strings.Contains(string(got), "from my.server import cli\n") || !strings.Contains(string(got), "sys.exit(cli.main())") {
		t.Errorf("got %s, %v", got, err)
	}
}
