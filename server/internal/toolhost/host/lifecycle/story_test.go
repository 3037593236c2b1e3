package lifecycle_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
)

// tell runs a story, one event per line. After the arrow, a line lists all actions that the machine
// returns, in order. Of the machine's events it lists, with an exclamation mark, those that matter
// to the story.
//
//	call 1 of s      a call of the session s arrives
//	1 leaves         also: 1 is released, 1 is stuck (has not stopped after a cancel)
//	p-1 is ready     also: fails, exits, crashes, is refused, is evicted, hangs (a call did not stop in time)
//	after 5s         time passes, and the machine is woken when it wants to be
//	pause            also: resume, clear, drain, disable, enable, restart, force, close
//	replace by B     also: rollback to B, adopt B
//	reconfigure      processes now start in another way; also: retire
//	is paused        checks the state of the plugin
//	-> silence       the machine returns no action and no event
func tell(t *testing.T, cfg lifecycle.Config, story string) *world {
	t.Helper()
	w := newWorld(cfg, 1)
	w.cfg.DrainTimeout = max(cfg.DrainTimeout, time.Hour) // the random stories check draining
	for line := range strings.Lines(story) {
		deed, want, _ := strings.Cut(line, "->")
		if deed = strings.TrimSpace(deed); deed == "" {
			continue
		}
		w.actions = nil
		w.perform(deed)
		w.expect(deed, strings.FieldsFunc(want, func(r rune) bool { return r == ',' || r == '\n' }))
		w.report(t, "in the line: "+strings.TrimSpace(line))
	}
	return w
}

func (w *world) perform(deed string) {
	words := strings.Fields(deed)
	subject, object := words[0], words[len(words)-1]
	switch {
	case subject == "call":
		session := ""
		if len(words) == 4 {
			session = object
		}
		if c := w.acquire(session); fmt.Sprint(c.ref) != words[1] {
			w.failf("the next call is %d", c.ref)
		}
	case subject == "after":
		d, err := time.ParseDuration(object)
		if err != nil {
			w.failf("%v", err)
		}
		w.sleep(d)
	case subject == "is":
		if r := w.machine.Report(w.now); string(r.State) != object {
			w.failf("the plugin is %s: %s", r.State, r.Reason)
		}
	case strings.HasPrefix(subject, "p-"):
		w.processDoes(w.proc(subject), object)
	case subject[0] >= '0' && subject[0] <= '9':
		var ref lifecycle.CallRef
		_, _ = fmt.Sscan(subject, &ref)
		w.callDoes(w.calls[ref], object)
	default:
		w.operatorDoes(subject, object)
	}
}

func (w *world) callDoes(c *call, what string) {
	switch what {
	case "leaves":
		w.leave(c)
	case "released":
		w.release(c)
	case "stuck":
		w.stuck(c)
	default:
		w.failf("a call cannot %q", what)
	}
}

func (w *world) processDoes(p *proc, what string) {
	deeds := map[string]func(*proc){
		"ready": w.ready, "fails": w.launchFails, "exits": w.exits, "crashes": w.crashes, "hangs": w.unyielding,
		"refused": w.refused, "evicted": w.evict,
	}
	if do := deeds[what]; do != nil {
		do(p)
		return
	}
	w.failf("a process cannot %q", what)
}

func (w *world) operatorDoes(what, object string) {
	deeds := map[string]func(){
		"pause": w.pause, "resume": w.resume, "clear": w.clear, "drain": w.drain, "close": w.close,
		"disable": func() { w.disable("its file is gone") },
		"enable":  func() { w.disable("") },
		"adopt":   func() { w.adopt(object) },
		"retire":  w.retire,
		"yield":   w.yield,

		"reconfigure": func() { w.reconfigure(w.cfg, true) },
		"restart":     func() { w.restart(false) },
		"force":       func() { w.restart(true) },
		"replace":     func() { w.refusedIf(w.replace(object)) },
		"rollback":    func() { w.refusedIf(w.rollback(object)) },
	}
	if do := deeds[what]; do != nil {
		do()
		return
	}
	w.failf("nobody can %q", what)
}

// refusedIf records that an event was refused.
func (w *world) refusedIf(err error) {
	if err != nil {
		w.actions = append(w.actions, lifecycle.Action{Event: &lifecycle.Event{Type: "refused"}})
	}
}

// expect compares the machine's actions with the expected ones.
func (w *world) expect(deed string, want []string) {
	var actions, events, wanted []string
	for _, a := range w.actions {
		switch {
		case a.Event != nil:
			events = append(events, string(a.Event.Type))
		case a.Reject != nil:
			actions = append(actions, fmt.Sprintf("reject %d", a.Reject.Call))
		default:
			actions = append(actions, describe(a))
		}
	}
	for _, phrase := range want {
		phrase = strings.TrimSpace(phrase)
		event, isEvent := strings.CutPrefix(phrase, "!")
		switch {
		case phrase == "silence":
			if len(events) > 0 {
				w.failf("%s: it says %v, and should say nothing", deed, events)
			}
		case isEvent && !slices.Contains(events, event):
			w.failf("%s: there is no event %s, only %v", deed, event, events)
		case !isEvent && phrase != "":
			wanted = append(wanted, phrase)
		}
	}
	if !slices.Equal(actions, wanted) {
		w.failf("%s: it wants %q, and should want %q", deed, actions, wanted)
	}
}
