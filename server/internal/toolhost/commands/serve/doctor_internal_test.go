package serve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/tool"
)

// What is missing has its cost and a remedy; what is in effect has neither.
func TestDoctorSaysWhatIsMissing(t *testing.T) {
	all := sandboxLayers(tool.Sandbox{Mode: "on", Layers: []tool.SandboxLayer{
		{Name: "files", Effective: true, Mechanism: "mount namespace"}, {Name: "network", Note: "no user namespaces"},
		{Name: "pid", Effective: true, Mechanism: "landlock", Note: "others can be seen"},
	}})
	all = append(all, effectiveLimits([]tool.EffectiveLimit{
		{Name: "memory", Mechanism: "cgroup2"}, {Name: "cpu", Mechanism: "none", Note: "no group"}, {Name: "processes", Mechanism: "watchdog", Note: "it looks"},
	})...)
	all = append(all, sandboxLayers(tool.Sandbox{Mode: "off"})...)
	states := ""
	for _, f := range all {
		states += f.State + " "
		if ok := f.State == stateOK; ok != (f.Costs == "") || ok != (f.Remedy == "") {
			t.Errorf("%+v", f)
		}
	}
	if want := "ok missing partial ok missing partial missing "; states != want {
		t.Errorf("states %q, want %q", states, want)
	}
	for name, missing := range missingLayer {
		if missing[0] == "" || missing[1] == "" {
			t.Errorf("the layer %s has no cost or no remedy", name)
		}
	}
}

// A folder that does not exist yet is judged by the one in which it will be made.
func TestDoctorLooksAtFolders(t *testing.T) {
	dir := t.TempDir()
	if f := folder("state folder", filepath.Join(dir, "a", "b"), "c", stateFatal, "--state"); f.State == stateFatal || !strings.Contains(f.Found, "free of") {
		t.Errorf("%+v", f)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if f := folder("state folder", filepath.Join(file, "b"), "c", stateFatal, "--state"); f.State != stateFatal || !strings.Contains(f.Costs, "no folder") {
		t.Errorf("%+v", f)
	}
}

// An interpreter that is absent or too old has its cost.
func TestDoctorLooksForInterpreters(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if err := os.WriteFile(filepath.Join(dir, "old"), []byte("#!/bin/sh\necho v3.9.1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name         string
		major, minor int
		state, found string
	}{{"old", 3, 11, statePartial, "3.9.1"}, {"old", 4, 0, statePartial, "3.9.1"}, {"old", 3, 9, stateOK, "3.9.1"}, {"absent", 1, 0, stateMissing, "not in PATH"}} {
		if f := interpreter(t.Context(), tc.name, "--version", tc.major, tc.minor, "cost", "old"); f.State != tc.state || !strings.Contains(f.Found, tc.found) || (f.Costs == "") != (tc.state == stateOK) {
			t.Errorf("%+v: %+v", tc, f)
		}
	}
}
