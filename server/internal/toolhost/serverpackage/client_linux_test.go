package serverpackage

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestClientIsConfined installs with a client that does what an author would like it to do. It must
// reach nothing but its own folders and the settings for its registry.
func TestClientIsConfined(t *testing.T) {
	bin, home := t.TempDir(), t.TempDir()
	scratch, err := os.MkdirTemp("/tmp", "t") // a socket needs a short path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(scratch) })
	dir, inner := filepath.Join(scratch, "plugin"), filepath.Join(scratch, "i")
	for _, made := range []string{dir, inner} {
		if err := os.Mkdir(made, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	authority := filepath.Join(home, "ca.pem")
	for path, text := range map[string]string{
		filepath.Join(home, "secret"): "s3cret\n", authority: "the authority\n",
		filepath.Join(home, ".npmrc"): "registry=https://registry.test/npm/\ncafile=~/ca.pem\n//registry.test/npm/:_authToken=${REGISTRY_TOKEN}\n//other.test/:_authToken=other-token\ngit=./git.sh\n",
		filepath.Join(bin, "npm"): "#!/bin/sh\n[ \"$1\" = config ] && { echo https://registry.test/npm/; exit; }\nexec >\"" + inner + "/work/seen\" 2>&1\n" +
			"env; cat \"$npm_config_userconfig\"; pwd; cat " + home + "/secret; echo x >" + home + "/written; echo x >>\"$npm_config_userconfig\"; echo x >>" + authority +
			"; cat " + authority + "; kill -9 " + "$TEST_PID; echo the end; mkfifo package-lock.json\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	_, err = (&Request{Registry: NPM, Spec: "server"}).Install(t.Context(), dir, Options{Scratch: inner, Environ: []string{
		"HOME=" + home, "AWS_SECRET=cloud-token", "NPM_TOKEN=npm-token", "REGISTRY_TOKEN=registry-token", "HTTPS_PROXY=http://proxy.test", "npm_config_git=./evil.sh",
		"NODE_OPTIONS=--require ./evil.js", "npm_config_node_options=--require ./evil.js",
	}})
	if err == nil || !strings.Contains(err.Error(), "invalid argument") {
		t.Errorf("a pipe is read as a lock file: %v", err)
	}
	data, err := os.ReadFile(filepath.Join(inner, "work", "seen"))
	if err != nil {
		t.Fatal(err)
	}
	seen := string(data)
	for _, want := range []string{"the end", "the authority", "HTTPS_PROXY=http://proxy.test", "registry=https://registry.test/npm/\n", "cafile=" + authority, ":_authToken=registry-token"} {
		if !strings.Contains(seen, want) {
			t.Errorf("the client lacks %q", want)
		}
	}
	for _, never := range []string{"s3cret", "cloud-token", "npm-token", "other-token", "evil", "git.sh"} {
		if strings.Contains(seen, never) {
			t.Errorf("the client has %q", never)
		}
	}
	if t.Failed() {
		t.Log(seen)
	}
	if _, err := os.Lstat(filepath.Join(home, "written")); err == nil {
		t.Error("the client wrote into the home of the operator")
	}
	if text, err := os.ReadFile(authority); err != nil || string(text) != "the authority\n" {
		t.Errorf("the client changed a file of the operator: %q, %v", text, err)
	}
}

// TestReadLeft checks that what a client leaves leads to no file of the operator and blocks nobody.
func TestReadLeft(t *testing.T) {
	outside, dir := filepath.Join(t.TempDir(), "secret"), t.TempDir()
	for _, err := range []error{
		os.WriteFile(outside, []byte("x"), 0o600), os.WriteFile(filepath.Join(dir, "plain"), []byte("x"), 0o600), os.Symlink(outside, filepath.Join(dir, "link")),
		os.Symlink(filepath.Dir(outside), filepath.Join(dir, "folder")), os.Symlink("plain", filepath.Join(dir, "inner")), os.Mkdir(filepath.Join(dir, "dir"), 0o700),
		syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600), os.WriteFile(filepath.Join(dir, "large"), nil, 0o600), os.Truncate(filepath.Join(dir, "large"), mostRead+1),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, good := range map[string]bool{"plain": true, "inner": true, "link": false, "folder/secret": false, "dir": false, "pipe": false, "large": false, "none": false} {
		if text, err := readLeft(dir, name); (err == nil && string(text) == "x") != good {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

// TestGuarded checks that an attempt to start a program is named.
func TestGuarded(t *testing.T) {
	for stderr, want := range map[string]string{
		"":                       "",
		"npm error code EACCES":  "",
		guardMark + "git\nmore":  "it would run git;",
		"x\n" + guardMark + "sh": "it would run sh;",
	} {
		if err := guarded(stderr); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", stderr, err)
		}
		for _, told := range []error{npmError(errors.New("exit code 1"), stderr), pipError(errors.New("exit code 1"), stderr)} {
			if !strings.Contains(told.Error(), want) {
				t.Errorf("%q: %v", stderr, told)
			}
		}
	}
}

// TestSettings checks what of the operator's settings a client gets.
func TestSettings(t *testing.T) {
	home := t.TempDir()
	links := filepath.Join(home, "my wheels")
	for path, text := range map[string]string{
		".npmrc":               "; a comment\nregistry = \"https://a.test/x\"\n@corp:registry=https://b.test\n//a.test/:_authToken=one\n//a.test/y/:_authToken=two\n//b.test/:username=u\n//b.test/:_password=three\n[x]\nproxy=http://no.test\nscript-shell=./evil\nnode-options=--require=./evil\n",
		".config/pip/pip.conf": "[global]\nindex-url: https://u:p@c.test/simple\nextra_index_url =\n    https://d.test/simple\n    https://e.test/simple\n[install]\nno-binary = :all:\ntimeout = 7\n[list]\nproxy = http://no.test\n",
		"named.conf":           "[global]\ntimeout=8\nfind-links = " + links + "\nbuild-constraint = x\n",
		"my wheels":            "",
	} {
		path = filepath.Join(home, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	e := environment{"HOME=" + home, "NPM_CONFIG_STRICT_SSL=false", "npm_config_//a.test/:_auth=four", "npm_config_script_shell=./evil", "SSL_CERT_FILE=" + home + "/named.conf"}
	all := e.npm("")
	for _, c := range []struct {
		registries  []string
		want, never []string
	}{
		{nil, []string{"registry=https://a.test/x\n", "@corp:registry=https://b.test\n", "strict-ssl=false\n"}, []string{"one", "two", "three", "four", "evil", "no.test"}},
		{[]string{"https://a.test/x/"}, []string{"=one\n", "=four\n"}, []string{"two", "three"}},
		{[]string{"https://a.test/y", "undefined"}, []string{"=one\n", "=two\n"}, []string{"three"}},
		{[]string{"https://b.test"}, []string{"username=u\n", "_password=three\n"}, []string{"one", "two"}},
		{[]string{"https://a.test.evil.test/x"}, nil, []string{"one", "two", "three"}},
	} {
		text, _ := e.npmrc(all, c.registries)
		for _, want := range c.want {
			if !strings.Contains(string(text), want) {
				t.Errorf("%q: npm lacks %q", c.registries, want)
			}
		}
		for _, never := range c.never {
			if strings.Contains(string(text), never) {
				t.Errorf("%q: npm has %q", c.registries, never)
			}
		}
	}
	s := e.pip()
	for _, want := range []string{"PIP_INDEX_URL=https://u:p@c.test/simple", "PIP_EXTRA_INDEX_URL=https://d.test/simple https://e.test/simple", "PIP_TIMEOUT=7", "SSL_CERT_FILE=" + home + "/named.conf"} {
		if !slices.Contains(s.env, want) {
			t.Errorf("pip lacks %s: %q", want, s.env)
		}
	}
	if text := strings.Join(s.env, " "); strings.Contains(text, "BINARY") || strings.Contains(text, "no.test") || !slices.Contains(s.read, home+"/named.conf") {
		t.Errorf("pip has %q and reads %q", s.env, s.read) // this machine may have settings, too
	}
	s = append(e, "PIP_CONFIG_FILE="+home+"/named.conf", "PIP_INDEX_URL=https://f.test/simple").pip()
	if !slices.Contains(s.env, "PIP_INDEX_URL=https://f.test/simple") || !slices.Contains(s.env, "PIP_TIMEOUT=7") {
		t.Errorf("pip has %q", s.env)
	}
	if s := append(e, "PIP_CONFIG_FILE="+os.DevNull).pip(); len(s.env) != 1 {
		t.Errorf("without files, pip has %q", s.env)
	}
}
