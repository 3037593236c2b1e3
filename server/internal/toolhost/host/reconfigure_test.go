package host_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/server/internal/toolhost/policy"
	"github.com/toolhost/toolhost/tool"
)

// nothingReplaced says that no process would now be started in another way.
func nothingReplaced(*catalog.Plugin) bool { return false }

// settingsOf returns settings that allow a call of echo only with the tags in the same settings.
func settingsOf(t *testing.T, number int) host.Settings {
	t.Helper()
	tag := fmt.Sprintf("generation-%d", number)
	return host.Settings{
		Overrides: catalog.Overrides{"echo": {Tags: []string{tag}}},
		Policy: rulesOf(t, policy.Rule{Name: tag, When: fmt.Sprintf("%q in tool.tags", tag), Then: policy.Allow},
			policy.Rule{Name: "mixed", When: "true", Then: policy.Deny}),
	}
}

func rulesOf(t *testing.T, rules ...policy.Rule) *policy.Policy {
	t.Helper()
	compiled, err := policy.Compile(rules)
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// While the settings change without a pause, each call combines rules and overrides of the same
// settings.
func TestCallsSeeWholeSettings(t *testing.T) {
	r := newRig(t, hosttest.Tools(), nil)
	r.Reconfigure(settingsOf(t, 0), nothingReplaced)
	settings := []host.Settings{settingsOf(t, 1), settingsOf(t, 2), settingsOf(t, 3)}
	stop := make(chan struct{})
	var changes, callers sync.WaitGroup
	changes.Go(func() { // ends with stop
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				r.Reconfigure(settings[i%len(settings)], nothingReplaced)
			}
		}
	})
	for range 8 {
		callers.Go(func() {
			for range 200 {
				if got := outcome(t, r, call("echo", `{"text":"x"}`)); got.Err != nil {
					t.Errorf("a call ended with %v", got.Err)
					return
				}
			}
		})
	}
	callers.Wait()
	close(stop)
	changes.Wait()
}

// A call keeps the settings that it began with. Its arguments may arrive after a change.
func TestACallKeepsItsSettings(t *testing.T) {
	r := newRig(t, hosttest.Tools(), func(c *host.Config) {
		c.Policy = rulesOf(t, policy.Rule{Name: "fine", When: "true", Then: policy.Allow})
	})
	e, err := r.Open(t.Context(), call("echo", `{"text":`), false)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	r.Reconfigure(host.Settings{
		Policy:           rulesOf(t, policy.Rule{Name: "none", When: "true", Then: policy.Deny}),
		MaxArgumentBytes: 4, Disabled: func(string) bool { return true },
	}, nothingReplaced)
	if err := e.Send(t.Context(), []byte(`"x"}`), true); err != nil {
		t.Fatal(err)
	}
	if got := ended(t, e); got.Err != nil {
		t.Errorf("the call ended with %v", got.Err)
	}
	if got := outcomeOf(t, r, call("echo", `{"text":"x"}`)); got.Err == nil || !strings.Contains(got.Err.Message, "switched off") {
		t.Errorf("a later call ended with %+v", got)
	}
}

// A call that needs an approval ends. The settings at the time of its approved repeat judge the
// repeat: a new rule can deny it, and can make the approval unnecessary.
func TestApprovalAfterReconfigure(t *testing.T) {
	ask := policy.Rule{Name: "ask", When: `tool.name == "echo"`, Then: policy.RequireApproval}
	for then, kind := range map[policy.Verdict]tool.Kind{policy.Deny: tool.KindDenied, policy.RequireApproval: "", policy.Allow: ""} {
		r := newRig(t, hosttest.Tools(), func(c *host.Config) { c.Policy = rulesOf(t, ask) })
		asked := outcomeOf(t, r, call("echo", `{"text":"x"}`))
		if asked.Err == nil || asked.Err.Kind != tool.KindApprovalRequired {
			t.Fatalf("the call ended with %+v", asked)
		}
		r.Reconfigure(host.Settings{Policy: rulesOf(t, policy.Rule{Name: "now", When: "true", Then: then})}, nothingReplaced)
		again := call("echo", `{"text":"x"}`)
		again.Approval = &tool.Approval{ApprovedBy: "ann", ArgumentsSHA256: asked.Err.ArgumentsSHA256}
		got := outcomeOf(t, r, again)
		if tool.KindOf(errorOf(got)) != kind {
			t.Errorf("with the new rule %s, the approved repeat ended with %v", then, got.Err)
		}
	}
}

func errorOf(o tool.Outcome) error {
	if o.Err == nil {
		return nil
	}
	return o.Err
}

// If processes would now be started in another way, a new instance takes over, and the call that
// runs in the old one ends normally. If the new instance does not start, the old one gets no calls
// either.
func TestReconfigureReplacesInstances(t *testing.T) {
	r := newRig(t, hosttest.Tools(), nil)
	e, err := r.Open(t.Context(), call("wait", `{"key":"k"}`), true)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for started := false; !started; {
		ev, err := e.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		started = ev.Status != nil && ev.Status.Message == "waiting"
	}
	first := outcomeOf(t, r, call("echo", `{"text":"x"}`)).Instance
	if failures := r.Reconfigure(host.Settings{}, func(*catalog.Plugin) bool { return true })(t.Context()); len(failures) > 0 {
		t.Fatalf("the failures are %+v", failures)
	}
	if second := outcomeOf(t, r, call("echo", `{"text":"x"}`)).Instance; second == first {
		t.Errorf("the instance %s was not replaced", first)
	}
	outcomeOf(t, r, call("release", `{"key":"k"}`))
	if got := ended(t, e); got.Err != nil {
		t.Errorf("the call in the old instance ended with %v", got.Err)
	}
	r.launch = func(context.Context, *catalog.Plugin, string) (host.Process, error) {
		return nil, fmt.Errorf("it needs what was withdrawn")
	}
	failures := r.Reconfigure(host.Settings{}, func(*catalog.Plugin) bool { return true })(t.Context())
	if len(failures) != 1 || !strings.Contains(failures[0].Reason, "it needs what was withdrawn") {
		t.Errorf("the failures are %+v", failures)
	}
	if got := outcomeOf(t, r, call("echo", `{"text":"x"}`)); got.Err == nil || got.Err.Kind != tool.KindUnavailable {
		t.Errorf("a call after a withdrawn permission ended with %+v", got)
	}
}

// A new instance that fails before Reconfigure's caller waits for it is reported as well.
func TestReconfigureReportsAnEarlyFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, hosttest.Tools(), nil)
		defer r.Close()
		outcomeOf(t, r, call("echo", `{"text":"x"}`))
		r.launch = func(context.Context, *catalog.Plugin, string) (host.Process, error) {
			return nil, fmt.Errorf("it needs what was withdrawn")
		}
		await := r.Reconfigure(host.Settings{}, func(*catalog.Plugin) bool { return true })
		synctest.Wait()
		if failures := await(t.Context()); len(failures) != 1 || !strings.Contains(failures[0].Reason, "it needs what was withdrawn") {
			t.Errorf("the failures are %+v", failures)
		}
	})
}
