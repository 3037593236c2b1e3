//go:build linux && (amd64 || arm64)

package escape_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/server/internal/toolhost/sandbox"
)

// attempt is one way of trying to get out.
type attempt struct {
	name string   // what is tried
	do   string   // the way of the escapeplugin
	with []string // its arguments
	// layers are the layers that prevent the attempt. One effective layer is enough.
	layers []string
	// note is a part of the note that `toolhost ps` shows for a layer that is effective but does
	// not prevent this attempt. Empty means that every effective layer must prevent it.
	note string
	// refusal is another error of a system call that the test accepts as a refusal for this
	// attempt.
	refusal error
	// harmless is a part of the answer if success of the attempt does no harm. Empty means that the
	// attempt must fail.
	harmless string
	// unless is a text in the answer that shows that the attempt succeeded in spite of an error.
	unless string
}

// The layers that prevent kinds of attempts.
var (
	byFiles   = []string{sandbox.Files, sandbox.Landlock}
	byMounts  = []string{sandbox.Files}
	byPID     = []string{sandbox.PID}
	byNetwork = []string{sandbox.Network}
	byCalls   = []string{sandbox.Syscalls}
	byIPC     = []string{sandbox.IPC, sandbox.Syscalls}
	byRights  = []string{sandbox.Privileges}
)

// tryAll makes attempts, each as a subtest. An attempt that succeeds fails the test if `toolhost
// ps` shows one of its layers as effective. Otherwise it is logged.
func (h *toolhost) tryAll(t *testing.T, plugin string, all []attempt) {
	t.Helper()
	for _, a := range all {
		t.Run(a.name, func(t *testing.T) {
			answer, err := h.try(t, plugin, a.do, a.with...)
			says := clip(answer)
			if a.do == "read" && a.harmless == "" && !leaks(answer, h.canary) {
				says = fmt.Sprintf("%d bytes", len(answer)) // of a file of the machine, which is not logged
			}
			if err != nil {
				says += " error: " + err.Error()
			}
			if !a.escapes(answer, err, h.canary) {
				t.Logf("%s %q: denied: %s", a.do, a.with, says)
				return
			}
			for _, name := range a.layers {
				layer := h.layer(t, plugin, name)
				if layer.Note == "" || layer.Effective && (a.note == "" || !strings.Contains(layer.Note, a.note)) {
					t.Errorf("%s %q: it got out: %s; and the layer %q is shown as %s; %s", a.do, a.with, says, name, layer.Mechanism, layer.Note)
					return
				}
				t.Logf("the layer %q does not hold this on this machine, and toolhost ps says so: %s", name, layer.Note)
			}
			h.excused = append(h.excused, a.with...)
			t.Logf("%s %q: it got out: %s", a.do, a.with, says)
		})
	}
}

// refusals are the errors of system calls that come from a layer. Any other error comes from the
// kernel's check of the arguments, which the call must not reach.
var refusals = []string{
	unix.EPERM.Error(), unix.EACCES.Error(), unix.ENOSYS.Error(), unix.EAFNOSUPPORT.Error(), unix.ENOENT.Error(), unix.ESRCH.Error(),
	unix.EROFS.Error(), unix.EXDEV.Error(),
}

func (a attempt) escapes(answer string, err error, canary string) bool {
	switch {
	case leaks(answer, canary), err != nil && leaks(err.Error(), canary):
		return true
	case err != nil:
		return a.do == "call" && !slices.Contains(refusals, err.Error()) && (a.refusal == nil || a.refusal.Error() != err.Error())
	case a.harmless == "":
		return a.do != "read" || answer != "" // a file that holds the canary must not be replaced
	}
	return !strings.Contains(answer, a.harmless) || a.unless != "" && strings.Contains(answer, a.unless)
}

// leaks reports whether a text contains the canary, or the text that replaces a tool's secret.
func leaks(text, canary string) bool {
	return strings.Contains(text, canary) || strings.Contains(text, "[secret ")
}

func clip(s string) string {
	const most = 300
	if s = strings.TrimSpace(s); len(s) > most {
		return s[:most] + "…"
	}
	return s
}
