package commands

import (
	"bytes"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
)

// A list of a server says that an interrupted run goes on by itself, and one of a journal how to go
// on with it.
func TestInterruptedRunsOfAList(t *testing.T) {
	waits := client.Run{ID: "r", State: client.RunInterrupted, Interrupted: true}
	foreground, parked, sub := waits, waits, waits
	foreground.Foreground, parked.Parked, sub.ParentRunID = true, "it ended three agentds", "p"
	for name, test := range map[string]struct {
		run    client.Run
		served bool
		want   string // empty: neither
	}{
		"queued":            {waits, true, "agentd: no agentd works on r; it goes on by itself when one has a free place\n"},
		"of a command":      {foreground, true, ""},
		"parked":            {parked, true, "agentd: run r is parked: it ended three agentds\n"},
		"a sub-run":         {sub, true, ""},
		"of a journal":      {waits, false, "agentd: no process works on r; continue it: agentd resume r\n"},
		"ended meanwhile":   {client.Run{ID: "r", State: client.RunFinished}, true, ""},
		"at work meanwhile": {client.Run{ID: "r", State: client.RunRunning}, true, ""},
	} {
		var out, said bytes.Buffer
		if err := printRuns(cli.Process{Stdout: &out, Stderr: &said}, []client.Run{test.run}, false, test.served); err != nil || said.String() != test.want || !strings.Contains(out.String(), "r  ") {
			t.Errorf("%s: %v, %q, want %q", name, err, said.String(), test.want)
		}
	}
}
