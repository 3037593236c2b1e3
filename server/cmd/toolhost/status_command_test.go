package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/server/internal/toolhost/hostserver"
	"github.com/toolhost/toolhost/tool"
)

// The exit code of status is 1 if something is not well, and 0 if what there is to say can wait.
func TestStatusTellsProblemsFromNotes(t *testing.T) {
	var conditions []tool.Condition
	env := startWith(t, hostserver.Config{Conditions: func() []tool.Condition { return conditions }})
	want := func(wantCode int, wantOut string) {
		t.Helper()
		code, out, errs := toolhost(t.Context(), env, "", "status")
		if code != wantCode || errs != "" || !strings.HasPrefix(out, wantOut+"toolhost ") {
			t.Errorf("exit %d, want %d: %s%s\nwant first\n%s", code, wantCode, errs, out, wantOut)
		}
	}
	want(cli.ExitOK, "all is well\n")
	if code, _, errs := toolhost(t.Context(), env, "", "pause", "fixture"); code != cli.ExitOK {
		t.Fatal(errs)
	}
	why := fmt.Sprintf("paused: an operator paused it (uid:%d)", os.Getuid())
	paused := "  note: fixture: " + why + "; see `toolhost why fixture`\n"
	want(cli.ExitOK, "all is well\n"+paused)
	conditions = []tool.Condition{{Name: "export_failing", Message: "nobody takes\ntraces"}}
	want(cli.ExitOK, "all is well\n"+paused+"  note: nobody takes traces\n")
	conditions = append(conditions, tool.Condition{Name: "ledger_full", Message: "the ledger is full", Problem: true})
	want(cli.ExitToolError, "not well: 1 problem\n  the ledger is full\n"+paused+"  note: nobody takes traces\n")
	_, out, _ := toolhost(t.Context(), env, "", "status", "-o", "json")
	if want := `{"well":false,"problems":[{"problem":"the ledger is full"}],"notes":[{"plugin":"fixture","note":"` + why + `"},{"note":"nobody takes\ntraces"}],`; !strings.HasPrefix(out, want) {
		t.Errorf("got %s\nwant %s", out, want)
	}
}
