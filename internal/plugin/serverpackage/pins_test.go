package serverpackage

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const hash = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// TestNPMLock checks that only a lock file that pins every package by a hash is used.
func TestNPMLock(t *testing.T) {
	const own = `"": {"dependencies": {"server": "1.0.0"}}, "node_modules/server": {"version": "1.0.0", "integrity": "sha512-x"}`
	for name, c := range map[string]struct {
		text, want string
		skip       bool
	}{
		"pinned":           {text: own},
		"a bundled one":    {text: own + `, "node_modules/server/node_modules/b": {"version": "1", "inBundle": true}`},
		"no hash":          {text: own + `, "node_modules/b": {"version": "2.0.0"}`, want: "no hash pins b@2.0.0"},
		"a folder":         {text: own + `, "node_modules/b": {"link": true, "integrity": "sha512-x"}`, want: "no hash pins b@"},
		"nothing":          {text: `"": {}`, want: "did not say which package"},
		"a script":         {text: own + `, "node_modules/a/node_modules/b": {"version": "3", "integrity": "x", "hasInstallScript": true}`, want: "b@3 wants to run a script"},
		"a skipped script": {text: own + `, "node_modules/b": {"version": "3", "integrity": "x", "hasInstallScript": true}`, skip: true},
	} {
		var lock npmLock
		if err := json.Unmarshal([]byte(`{"packages": {`+c.text+`}}`), &lock); err != nil {
			t.Fatal(err)
		}
		found, scripts, err := lock.check(c.skip)
		switch {
		case c.want != "":
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", name, err, c.want)
			}
		case err != nil || found != "server" || c.skip != (len(scripts) == 1):
			t.Errorf("%s: %q, %q, %v", name, found, scripts, err)
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

// TestLinesOfPip checks that pip gets only the pins of a file. pip ends a line at a form feed, and a
// comment at its line break even after a backslash.
func TestLinesOfPip(t *testing.T) {
	const pinned = "b==1 --hash=sha256:" + hash
	dir := t.TempDir()
	lock := filepath.Join(dir, "lock")
	if err := os.WriteFile(lock, []byte("# a\f--index-url http://x/\n# b \\\n--index-url http://x/\n"+pinned+"   --hash=sha256:"+hash+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (&Request{}).resolvePyPI(context.Background(), "", dir, Options{Lock: lock}); err != nil {
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
	folder := filepath.Join(env, "lib", "python3.11", "site-packages", "my_server-1.0.dist-info")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	text := "[other]\nno = a:b\n[console_scripts]\nevil = os:system('x')\nevil2 = a; import b:c\nmy-server = my.server:cli.main [extra]\n"
	if err := os.WriteFile(filepath.Join(folder, "entry_points.txt"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	program, target, err := (&Request{}).pypiProgram(env, "my-server")
	if program != "my-server" || target != "my.server:cli.main" || err != nil {
		t.Fatalf("got %q, %q, %v", program, target, err)
	}
	if err := writeStarter(env, program, target); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(env, starter)); err != nil || !strings.Contains(string(got), "from my.server import cli\n") || !strings.Contains(string(got), "sys.exit(cli.main())") {
		t.Errorf("got %s, %v", got, err)
	}
}
