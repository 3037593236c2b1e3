package conformance_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/e2e/programs"
	"github.com/toolhost/toolhost/server/internal/toolhost/conformance"
	"github.com/toolhost/toolhost/server/internal/toolhost/process"
)

// examination is a plugin to examine, and the expected result.
type examination struct {
	name string
	args []string // a program that examineAll builds, and its arguments
	call string   // the arguments for the plugin's tool; empty: those of the default
	tool string
	// The checks that must fail. Those after a question mark may fail; if all have one, at least
	// one of them must.
	want []string
	// hangs shortens the bound of an answer, because the examination reaches it.
	hangs bool
	// mute says that the plugin never sends a handshake.
	mute bool
}

const (
	// patience bounds an answer that is expected.
	patience = time.Minute
	// impatience bounds an answer that is not expected. All expected answers arrive within it.
	impatience = 8 * time.Second
	// brief bounds a start that is expected to fail.
	brief = time.Second
	// lingering bounds the time in which the plugin must exit.
	lingering = 8 * time.Second
	// atOnce is the number of concurrent examinations. They wait most of the time.
	atOnce = 8
)

// examineAll runs all examinations concurrently, and checks each result.
func examineAll(t *testing.T, all []examination) {
	bin := t.TempDir()
	if err := programs.Build(t.Context(), bin, "./internal/toolhost/conformance/badplugin", "./internal/toolhost/process/fault/faultplugin"); err != nil {
		t.Fatal(err)
	}
	seats := make(chan struct{}, atOnce)
	results := make([]chan func(t *testing.T), len(all))
	for i, e := range all {
		results[i] = make(chan func(t *testing.T), 1)
		cfg := e.config(t, bin)
		go func() { // the tests below wait for it
			seats <- struct{}{}
			defer func() { <-seats }()
			report, err := conformance.Verify(t.Context(), cfg)
			results[i] <- func(t *testing.T) { e.judge(t, report, err) }
		}()
	}
	for i, e := range all {
		judge := <-results[i]
		t.Run(e.name, judge)
	}
}

func (e examination) config(t *testing.T, bin string) conformance.Config {
	run, err := os.MkdirTemp("/tmp", "cf") // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		entries, err := os.ReadDir(run)
		if err != nil || len(entries) > 0 {
			t.Errorf("%s: %d files are left, %v", e.name, len(entries), err)
		}
		_ = os.RemoveAll(run)
	})
	workspace := t.TempDir()
	cfg := conformance.Config{
		Process: process.Config{
			Plugin: "examined", Instance: "examined", Path: filepath.Join(bin, e.args[0]), Args: e.args[1:], RunDir: run, PIDNamespace: process.NamespaceOff,
			Env: []string{"WORKSPACE=" + workspace},
		},
		Workspace: workspace, Tool: e.tool, Arguments: json.RawMessage(e.call), Timeout: patience, ExitTimeout: lingering,
	}
	if e.hangs {
		cfg.Timeout = impatience
	}
	if e.mute {
		cfg.StartTimeout = brief
	}
	if !slices.ContainsFunc(e.want, func(id string) bool { return strings.Contains(id, "end.") }) {
		cfg.ExitTimeout = patience // the plugin exits by itself, however busy the machine is
	}
	return cfg
}

func (e examination) judge(t *testing.T, report *conformance.Report, err error) {
	if err != nil {
		t.Fatal(err)
	}
	if len(e.want) > 0 && report.Count(conformance.Fail) == 0 {
		t.Errorf("nothing was found, want %q", e.want)
	}
	for _, c := range report.Checks {
		if e.mute && c.ID == "start.handshake" && !strings.Contains(fmt.Sprint(c.Findings), "within "+brief.String()) {
			t.Errorf("found is %+v, want how long it was waited for", c.Findings)
		}
		failed := c.Status == conformance.Fail
		if slices.Contains(e.want, "?"+c.ID) {
			continue
		}
		if failed != slices.Contains(e.want, c.ID) {
			t.Errorf("%s is %s, %s: %+v", c.ID, c.Status, c.Reason, c.Findings)
		}
		if c.Status == conformance.Fail && (c.Remedy == "" || c.Contract == "") {
			t.Errorf("%s does not say where the contract says it, or how to fix it", c.ID)
		}
		if c.Status == conformance.NotApplicable && c.Reason == "" {
			t.Errorf("%s does not say why it is not applicable", c.ID)
		}
	}
}
