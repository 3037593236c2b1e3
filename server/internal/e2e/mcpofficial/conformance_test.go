//go:build mcp

package mcpofficial

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestMain(m *testing.M) {
	if os.Getenv(clientVariable) != "" {
		os.Exit(runClient(os.Args[len(os.Args)-1]))
	}
	os.Exit(m.Run())
}

// TestConformance runs the suite: toolhost meets every requirement of both versions. What the suite
// and toolhost wrote is in the folder .build/mcp of the checkout afterwards.
func TestConformance(t *testing.T) {
	bin, results := build(t), filepath.Join("..", "..", "..", "..", ".build", "mcp")
	if err := os.RemoveAll(results); err != nil {
		t.Fatal(err)
	}
	var all []*scenario
	for _, version := range versions {
		r := requirementsOf(t, version)
		for _, side := range []string{asServer, asClient} {
			conduct := conductServer
			if side == asClient {
				conduct = conductClient
			}
			scenarios, out := r.scenarios(version, side), filepath.Join(results, version, side)
			printed := conduct(t, bin, version, out)
			write(t, filepath.Join(out, "suite.log"), printed)
			if err := read(out, side, scenarios); err != nil {
				t.Fatalf("%v\n%s", err, printed)
			}
			all = append(all, scenarios...)
		}
	}
	fmt.Print(table(all))
	for _, s := range all {
		if !s.meets() {
			t.Errorf("%s %s %s: %s", s.side, s.version, s.name, s.state())
		}
	}
}

// TestRunnerFails checks that the test above would fail: a required scenario that reports nothing,
// only skips, or fails does not pass, and an unknown one is an error.
func TestRunnerFails(t *testing.T) {
	for name, checks := range map[string][]check{
		absent: nil, "all skipped": {{Status: "SKIPPED"}, {Status: "INFO"}, {ID: "wire-schema-valid", Status: "SUCCESS"}}, "only warned": {{Status: "WARNING"}},
		failed: {{Status: "SUCCESS"}, {Status: "FAILURE"}},
	} {
		s := &scenario{name: "x", why: "required", checks: checks}
		if s.meets() {
			t.Errorf("%s: it meets the requirement", name)
		}
	}
	r := requirementsOf(t, versions[0])
	scenarios := r.scenarios(versions[0], asServer)
	out := t.TempDir()
	write(t, out+"/server-ping-2026-01-02T03-04-05-678Z/checks.json", `[{"id":"ping","status":"SUCCESS"}]`)
	if err := read(out, asServer, scenarios); err != nil {
		t.Fatal(err)
	}
	met := 0
	for _, s := range scenarios {
		if s.why == "required" && s.meets() {
			met++
		}
	}
	if met != 1 {
		t.Errorf("the suite ran one scenario, and %d pass", met)
	}
	write(t, out+"/server-unknown-2026-01-02T03-04-05-678Z/checks.json", `[]`)
	if err := read(out, asServer, scenarios); err == nil {
		t.Error("a scenario that the suite does not list is no error")
	}
}
