//go:build linux && (amd64 || arm64)

package escape_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/internal/plugin/sandbox"
)

// attempt is one way of trying to get out.
type attempt struct {
	name string   // what is tried, in words
	do   string   // the escapeplugin's way of trying
	with []string // its arguments
	// layers are those that keep it in; any one of them is enough.
	layers []string
	// note is a part of what is said of a layer that is effective and does not hold this. Empty: it has to.
	note string
	// refusal is an error of a system call that is a refusal here, besides those that always are.
	refusal error
	// harmless is a part of what is answered where the attempt does no harm by succeeding. Empty: it must fail.
	harmless string
	// unless is a part of what is answered that makes it an escape even so.
	unless string
}

// Which layers keep what in.
var (
	byFiles   = []string{sandbox.Files, sandbox.Landlock}
	byMounts  = []string{sandbox.Files}
	byPID     = []string{sandbox.PID}
	byNetwork = []string{sandbox.Network}
	byCalls   = []string{sandbox.Syscalls}
	byIPC     = []string{sandbox.IPC, sandbox.Syscalls}
	byRights  = []string{sandbox.Privileges}
)

// tryAll makes attempts, each as a test of its own. One that gets out is a failure if `toolhost ps` shows one of its layers as
// effective, and else is told.
func (h *toolhost) tryAll(t *testing.T, plugin string, all []attempt) {
	t.Helper()
	for _, a := range all {
		t.Run(a.name, func(t *testing.T) {
			answer, err := h.try(t, plugin, a.do, a.with...)
			says := clip(answer)
			if a.do == "read" && a.harmless == "" && !leaks(answer, h.canary) {
				says = fmt.Sprintf("%d bytes", len(answer)) // of whatever the machine keeps there
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

// refusals are the errors of system calls that a layer makes. Any other one is the kernel's opinion of the arguments, which it
// should not have been asked for.
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
		return a.do != "read" || answer != "" // nothing may be put in the place of what holds something
	}
	return !strings.Contains(answer, a.harmless) || a.unless != "" && strings.Contains(answer, a.unless)
}

// leaks reports whether a text holds the canary, or what toolhost puts into the place of a tool's secret.
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
