//go:build mcp

package mcpofficial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// versions are the versions of the protocol whose requirements toolhost meets.
var versions = []string{"2025-11-25", "2026-07-28"}

// The sides of the protocol, as the suite names its commands.
const (
	asServer = "server"
	asClient = "client"
)

// suiteFolder is where install.sh installs the suite.
const suiteFolder = "node_modules/@modelcontextprotocol/conformance"

// requirements are a file of the suite: the scenarios that a version of the protocol requires, and
// those that the suite runs besides.
type requirements struct {
	Server    []string
	Client    []string
	NotScored []struct {
		Scenario string
		Leg      string
		Reason   string
	} `yaml:"not_scored"`
}

func requirementsOf(t *testing.T, version string) requirements {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(suiteFolder, "requirements", version+".yaml"))
	if err != nil {
		t.Fatalf("%v; run server/internal/e2e/mcpofficial/install.sh", err)
	}
	var r requirements
	if err := yaml.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Server) == 0 || len(r.Client) == 0 {
		t.Fatalf("%s requires nothing: the file has another form", version)
	}
	return r
}

// scenario is one scenario of the suite with what its run reported.
type scenario struct {
	name, version, side string
	why                 string // "required", or why the scenario is not
	checks              []check
}

// check is an entry of checks.json.
type check struct {
	ID           string
	Status       string
	ErrorMessage string
	Description  string
}

// scenarios returns the scenarios that the suite must run for a version and a side.
func (r requirements) scenarios(version, side string) []*scenario {
	required := r.Server
	if side == asClient {
		required = r.Client
	}
	var all []*scenario
	for _, name := range required {
		all = append(all, &scenario{name: name, version: version, side: side, why: "required"})
	}
	for _, n := range r.NotScored {
		if n.Leg == side {
			all = append(all, &scenario{name: n.Scenario, version: version, side: side, why: n.Reason})
		}
	}
	return all
}

// run runs all scenarios of a version and a side, and returns what the suite printed.
func run(ctx context.Context, out, version, side string, env []string, args ...string) (string, error) {
	args = append([]string{filepath.Join(suiteFolder, "dist", "index.js"), side, "--requirements", version, "--output-dir", out}, args...)
	cmd := exec.CommandContext(ctx, "node", args...)
	cmd.Env = append(os.Environ(), env...)
	printed, err := cmd.CombinedOutput()
	if _, failed := errors.AsType[*exec.ExitError](err); failed {
		err = nil // a failed scenario; the results say which
	}
	return string(printed), err
}

// stamp is the time at the end of the name of a folder with results.
var stamp = regexp.MustCompile(`-\d{4}-\d\d-\d\dT[0-9-]+Z$`)

// read gives scenarios the results that the suite wrote.
func read(out, side string, all []*scenario) error {
	return filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "checks.json" {
			return err
		}
		name, err := filepath.Rel(out, filepath.Dir(path))
		if err != nil {
			return err
		}
		name = stamp.ReplaceAllString(name, "")
		if side == asServer {
			name = strings.TrimPrefix(name, "server-")
		}
		i := slices.IndexFunc(all, func(s *scenario) bool { return s.name == name })
		if i < 0 {
			return fmt.Errorf("the suite ran the scenario %q, which it does not list", name)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return json.Unmarshal(text, &all[i].checks)
	})
}

// The states of a scenario.
const (
	passed = "passed"
	failed = "FAILED"
	warned = "WARNED" // the suite recommends something that toolhost does not do
	absent = "NOT RUN"
)

// state returns the state of a scenario. A scenario did not run if its checks were all skipped. The
// suite adds a check of the messages' form to each scenario, which alone proves nothing.
func (s *scenario) state() string {
	switch {
	case s.count("FAILURE") > 0:
		return failed
	case s.count("WARNING") > 0:
		return warned
	case s.count("SUCCESS") > 0:
		return passed
	default:
		return absent
	}
}

func (s *scenario) count(status string) int {
	n := 0
	for _, c := range s.checks {
		if c.Status == status && (status != "SUCCESS" || !strings.HasPrefix(c.ID, "wire-schema-")) {
			n++
		}
	}
	return n
}

// meets reports whether a scenario is not required or has passed. A warning is about what the
// protocol recommends, so it fails nothing, as in the suite itself; the table shows it.
func (s *scenario) meets() bool {
	return s.why != "required" || s.state() == passed || s.state() == warned && s.count("SUCCESS") > 0
}

// table returns the scenarios as a table, and below it what did not pass and why.
func table(all []*scenario) string {
	var b, reasons strings.Builder
	row := "%-48s %-10s %-6s %-19s %-7s %s\n"
	fmt.Fprintf(&b, row, "SCENARIO", "VERSION", "SIDE", "", "STATE", "CHECKS")
	required, met := 0, 0
	for _, s := range all {
		if s.why == "required" {
			required++
			if s.meets() {
				met++
			}
		}
		checks := fmt.Sprintf("%d", s.count("SUCCESS"))
		for _, c := range []struct{ status, word string }{{"FAILURE", "failed"}, {"WARNING", "warned"}, {"SKIPPED", "skipped"}} {
			if n := s.count(c.status); n > 0 {
				checks += fmt.Sprintf(", %d %s", n, c.word)
			}
		}
		fmt.Fprintf(&b, row, s.name, s.version, s.side, s.why, s.state(), checks)
		for _, c := range s.checks {
			if c.Status == "FAILURE" || c.Status == "WARNING" {
				fmt.Fprintf(&reasons, "%s %s %s: %s: %s\n", s.side, s.version, s.name, c.ID, clipped(c.ErrorMessage))
			}
		}
	}
	fmt.Fprintf(&b, "%d of %d required scenarios passed\n", met, required)
	return b.String() + reasons.String()
}

func clipped(text string) string {
	const most = 400
	if len(text) > most {
		text = text[:most] + "…"
	}
	return strings.ReplaceAll(text, "\n", " ")
}
