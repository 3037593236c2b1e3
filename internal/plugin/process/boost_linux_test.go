package process_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// A starting process has the boost, and one that has started does not: neither after its launch nor
// when the launch takes too long.
func TestBoostEndsWithTheLaunch(t *testing.T) {
	const weighs = "/proc/self/autogroup"
	if was, err := os.ReadFile(weighs); err != nil || os.WriteFile(weighs, []byte("0"), 0) != nil || !strings.Contains(string(was), "nice") {
		t.Logf("sessions have no weight here, or it cannot be changed: %q, %v", was, err)
		return
	}
	cfg, _ := setup(t)
	p := launch(t, cfg)
	weight, err := os.ReadFile(fmt.Sprintf("/proc/%d/autogroup", p.PID()))
	if err != nil || !strings.HasSuffix(strings.TrimSpace(string(weight)), "nice 0") {
		t.Errorf("after its launch the session is %q, %v", weight, err)
	}

	cfg.Path, cfg.Args = script(t, `#!/bin/sh
until grep -q "nice -" /proc/self/autogroup; do :; done
until grep -q "nice 0" /proc/self/autogroup; do :; done
exit 3
`), nil
	if exit := exitOf(t, refused(t, cfg)); exit.Code != 3 {
		t.Errorf("exit %+v, want that of a process that was in a boost, and then was not", exit)
	}
}
