package e2e_test

import (
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/tool"
)

// Three plugins crash at night, one of them during a call, and toolhost itself gets SIGKILL. After
// its next start the commands for operators still say what happened, and which call was affected.
func TestTheNightAfterARestart(t *testing.T) {
	h := prepare(t)
	install(t, h, "fault", "faultplugin", "")
	h.serve(t)
	c := h.dial(t)
	h.callJSON(t, "calculator", `{"expression":"1"}`)
	h.callJSON(t, "list_dir", `{}`)
	affected := h.startWaiting(t, c)
	instances, err := c.Admin().Instances(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	crashed := 0
	for _, in := range instances {
		if in.State != tool.InstanceReady {
			continue
		}
		crashed++
		if err := syscall.Kill(in.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	if crashed != 3 {
		t.Fatalf("%d instances are ready, want 3: %+v", crashed, instances)
	}
	<-affected.outcome
	eventually.Holds(t, "all crashes are known", func() bool {
		return strings.Count(h.do(t, "events").stdout, "instance crashed") == 3
	})
	h.do(t, "stats", "--since", "1h").says(t, "fault", "outcome_unknown 1") // waits until the history is on disk
	if err := h.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-h.exited

	h.serve(t)
	began := "1h"
	if n := strings.Count(h.do(t, "events", "--since", began).stdout, "instance crashed"); n != 3 {
		t.Errorf("%d of 3 crashes are known after the restart", n)
	}
	user := "uid:" + strconv.Itoa(syscall.Getuid())
	h.do(t, "why", "fault").says(t, "killed by SIGKILL", "it was executing fault, call ", " of "+user+", for ")
	h.do(t, "why", "calculator").says(t, "killed by SIGKILL")
	h.do(t, "calls", "--state", "failed", "--since", began).says(t, "fault", "outcome_unknown: ")
	h.do(t, "stats", "--since", began).says(t, "calculator", "list_dir", "outcome_unknown 1")
	if r := h.do(t, "stats"); strings.Contains(r.stdout, "calculator") {
		t.Errorf("without --since, stats counts calls from before the restart:\n%s", r.stdout)
	}
	h.do(t, "events", "--since", "tomorrow").exits(t, 2)
}
