package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	holds "github.com/toolhost/toolhost/server/internal/toolhost/held"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/server/internal/toolhost/policy"
	"github.com/toolhost/toolhost/tool"
)

// holding is a call of red/ada that waits for a person.
func holding(wait time.Duration, change func(*tool.Call)) tool.Call {
	c := tool.Call{
		Tool: "write", Arguments: json.RawMessage(`{"path":"docs/a","content":"x"}`), Principal: "red/ada", Session: "s", Agent: "writer", ApprovalWait: &wait,
	}
	if change != nil {
		change(&c)
	}
	return c
}

// pending returns the decision that waits, which must be the only one.
func pending(t *testing.T, r *standingRig) holds.Decision {
	t.Helper()
	all := r.HeldCalls().Waiting(func(*holds.Decision) bool { return true })
	if len(all) != 1 {
		t.Fatalf("%d decisions wait, want 1: %+v", len(all), all)
	}
	return all[0]
}

// decides makes the decision that waits.
func decides(t *testing.T, r *standingRig, approve bool, by string) holds.Decision {
	t.Helper()
	d := pending(t, r)
	made, err := r.DecideHeld(t.Context(), holds.Verdict{Name: d.Name, Etag: d.Etag, Approve: approve, By: by, Via: "agentd", ByName: "Olga", Text: "because"}, "unix")
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// ended is how a call ended, and how often the tool ran since the last look.
func (r *standingRig) ended(o tool.Outcome) string {
	kind := "succeeded"
	if o.Err != nil {
		kind = string(o.Err.Kind)
	}
	return kind + strings.Repeat(" ran", len(r.executed()))
}

func check(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: it %s, want %s", what, got, want)
	}
}

// A call that waits is executed as soon as a person approves it, with the arguments that the person
// saw, although the wait was longer than the call may take. The approval is for this call only.
func TestApprovedWhileTheCallWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newStandingRig(t, func(c *host.Config) { c.DefaultTimeout = time.Second })
		spaced := func(c *tool.Call) {
			c.ID, c.Arguments = "one", json.RawMessage(`{ "path":"docs\/a", "content":"x", "mode":1 }`)
		}
		e := begin(t, r.rig, holding(10*time.Minute, spaced))
		synctest.Wait()
		want := holds.Call{
			Principal: "red/ada", Session: "s", ID: "one", Agent: "writer", Tool: "write", Plugin: "fixture",
			Arguments: json.RawMessage(`{"content":"x","mode":1,"path":"docs/a"}`), Reason: `the tool "write" is dangerous: a person has to approve the call first`,
		}
		if diff := cmp.Diff(want, pending(t, r).Call); diff != "" {
			t.Errorf("a person sees (-want +got)\n%s", diff)
		}
		time.Sleep(9 * time.Minute) // virtual
		decides(t, r, true, "red/olga")
		if got := end(t, e); got.Err != nil || string(got.Result.Text()) != "written" {
			t.Errorf("it ended with %+v", got)
		}
		if ran := r.executed(); len(ran) != 1 || ran[0] != `{"content":"x","mode":1,"path":"docs/a"}` {
			t.Errorf("executed: %q", ran)
		}
		check(t, "again", r.ended(outcome(t, r.rig, holding(0, func(c *tool.Call) { spaced(c); c.ID = "two" }))), "approval_required")
		data, err := os.ReadFile(r.audit)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []string{`"decision":"approval_required"`, `"act":"approve call"`, `"decision":"approved"`, `"decision":"approval_required"`} {
			if lines := strings.Split(string(data), "\n"); len(lines) != 5 || !strings.Contains(lines[i], want) {
				t.Errorf("the audit log lacks %s at %d:\n%s", want, i, data)
			}
		}
		if !strings.Contains(string(data), `"approver":"red/olga","approved_by":"Olga"`) || !strings.Contains(string(data), `"via":"agentd"`) {
			t.Errorf("the audit log lacks the approver:\n%s", data)
		}
	})
}

// A call that does not wait long enough says which decision a person has to make. After the
// approval, the same call passes once.
func TestApprovedAfterTheWait(t *testing.T) {
	for name, wait := range map[string]time.Duration{"at once": 0, "later": time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			r := newStandingRig(t, nil)
			first := outcome(t, r.rig, holding(wait, nil))
			d := pending(t, r)
			if first.Err == nil || first.Err.Kind != tool.KindApprovalRequired || first.Err.Decision != d.Name ||
				!strings.Contains(first.Err.Message, "`toolhost approvals approve "+d.Name+"`") || len(first.Err.Arguments) == 0 {
				t.Fatalf("%s: %+v", name, first.Err)
			}
			if again := outcome(t, r.rig, holding(wait, nil)); again.Err == nil || again.Err.Decision != d.Name {
				t.Errorf("%s: the same call has another decision: %+v", name, again.Err)
			}
			decides(t, r, true, "red/olga")
			check(t, name, r.ended(outcome(t, r.rig, holding(wait, func(c *tool.Call) { c.ID = "another" }))), "succeeded ran")
			check(t, name+", once more", r.ended(outcome(t, r.rig, holding(0, nil))), "approval_required")
			if next := pending(t, r); next.Name == d.Name {
				t.Errorf("%s: the next call asks with the decision that was made", name)
			}
		})
	}
}

// Each line changes one thing, and is another call than the one that a person approved.
func TestOtherCallsDoNotPass(t *testing.T) {
	r := newStandingRig(t, nil)
	outcome(t, r.rig, holding(0, nil))
	decides(t, r, true, "red/olga")
	for name, change := range map[string]func(*tool.Call){
		"arguments":      func(c *tool.Call) { c.Arguments = json.RawMessage(`{"path":"docs/b","content":"x"}`) },
		"sent arguments": func(c *tool.Call) { c.Arguments = json.RawMessage(`{"path":"docs/a","content":"x","mode":1}`) },
		"a session":      func(c *tool.Call) { c.Session = "t" },
		"a principal":    func(c *tool.Call) { c.Principal = "red/eve" },
		"a tenant":       func(c *tool.Call) { c.Principal = "blue/ada" },
		"an agent":       func(c *tool.Call) { c.Agent = "reader" },
		"no wait":        func(c *tool.Call) { c.ApprovalWait = nil },
		"a delegate":     func(c *tool.Call) { c.Via = "agentd" },
	} {
		got := outcome(t, r.rig, holding(0, change))
		check(t, name, r.ended(got), "approval_required")
		if none := name == "no wait" || name == "a delegate"; got.Err != nil && (got.Err.Decision == "") != none {
			t.Errorf("%s: the decision %q", name, got.Err.Decision)
		}
	}
	one := 1
	r.Reconfigure(host.Settings{Overrides: catalog.Overrides{"write": {MaxConcurrent: &one, Tags: []string{"new"}}}}, nothingReplaced)
	check(t, "another definition", r.ended(outcome(t, r.rig, holding(0, nil))), "approval_required")
	r.Reconfigure(host.Settings{}, nothingReplaced)
	check(t, "the same call", r.ended(outcome(t, r.rig, holding(0, nil))), "succeeded ran")
}

// A rejection ends the call that waits, and its repeats for a while. A decision that nobody made is
// none: the next call asks again.
func TestRejectedAndExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newStandingRig(t, nil)
		e := begin(t, r.rig, holding(time.Minute, nil))
		synctest.Wait()
		decides(t, r, false, "red/olga")
		for range 2 {
			got := end(t, e)
			if got.Err == nil || got.Err.Kind != tool.KindDenied || !strings.Contains(got.Err.Message, "rejected by red/olga") || !strings.Contains(got.Err.Message, "because") {
				t.Errorf("it ended with %+v", got.Err)
			}
			e = begin(t, r.rig, holding(0, nil))
		}
		time.Sleep(holds.Fresh) // virtual
		check(t, "after the rejection", r.ended(outcome(t, r.rig, holding(0, nil))), "approval_required")
		check(t, "nobody decides", r.ended(outcome(t, r.rig, holding(2*holds.MaxWait, nil))), "denied")
		check(t, "afterwards", r.ended(outcome(t, r.rig, holding(0, nil))), "approval_required")
		decides(t, r, true, "red/olga")
		time.Sleep(holds.Fresh) // virtual
		check(t, "after the approval", r.ended(outcome(t, r.rig, holding(0, nil))), "approval_required")
	})
}

// A call that waits goes on to wait behind the first end, as long as its caller lets it. The log
// has who gave it more time.
func TestExtendedWhileTheCallWaits(t *testing.T) {
	for name, test := range map[string]struct {
		wait time.Duration
		want string
	}{"as long as it takes": {10 * time.Hour, "succeeded ran"}, "as long as its caller waits": {90 * time.Minute, "approval_required"}} {
		synctest.Test(t, func(t *testing.T) {
			r := newStandingRig(t, func(c *host.Config) { c.DefaultTimeout = time.Second })
			e := begin(t, r.rig, holding(test.wait, nil))
			synctest.Wait()
			d := pending(t, r)
			for hours := range 2 {
				if _, err := r.ExtendHeld(t.Context(), holds.Extension{Name: d.Name, Expires: d.Expires.Add(time.Duration(hours+1) * time.Hour), By: "red/olga", Via: "agentd"}, "unix"); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Hour) // virtual
			}
			synctest.Wait()
			if waits := pending(t, r); waits.Name != d.Name || waits.Etag != d.Etag {
				t.Errorf("%s: another decision waits: %+v", name, waits)
			}
			decides(t, r, true, "red/olga")
			check(t, name, r.ended(end(t, e)), test.want)
			if test.want != "succeeded ran" {
				check(t, name+", once more", r.ended(outcome(t, r.rig, holding(0, nil))), "succeeded ran")
			}
			data, err := os.ReadFile(r.audit)
			if want := `"act":"extend decision","target":"` + d.Name + `","decision":"allowed","approver":"red/olga","reason":"it waits until `; err != nil || strings.Count(string(data), want) != 2 {
				t.Errorf("%s: the audit log lacks %s:\n%s", name, want, data)
			}
		})
	}
}

// A call whose extended time is over, too, was not approved.
func TestAnExtensionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newStandingRig(t, nil)
		e, began := begin(t, r.rig, holding(10*time.Hour, nil)), time.Now()
		synctest.Wait()
		d := pending(t, r)
		if _, err := r.ExtendHeld(t.Context(), holds.Extension{Name: d.Name, Expires: d.Expires.Add(time.Hour), By: "red/olga"}, "unix"); err != nil {
			t.Fatal(err)
		}
		check(t, "nobody decides", r.ended(end(t, e)), "denied")
		if waited := time.Since(began); waited != 2*time.Hour {
			t.Errorf("it waited %s", waited)
		}
	})
}

// What the approval depends on is looked at again after the wait.
func TestChangedWhileTheCallWaits(t *testing.T) {
	one := 1
	for name, change := range map[string]struct {
		settings host.Settings
		by, want string
	}{
		"a rule denies":             {host.Settings{Policy: rulesOf(t, policy.Rule{Name: "no", When: "true", Then: policy.Deny})}, "red/olga", "denied"},
		"a rule wants another":      {host.Settings{Policy: rulesOf(t, policy.Rule{Name: "two", When: "true", Then: policy.FourEyes})}, "red/ada", "approval_required"},
		"a rule wants a group":      {host.Settings{Policy: rulesOf(t, policy.Rule{Name: "two", When: "true", Then: policy.RequireApproval, Approvers: []string{"red/leads"}})}, "red/olga", "approval_required"},
		"a rule has the other":      {host.Settings{Policy: rulesOf(t, policy.Rule{Name: "two", When: "true", Then: policy.FourEyes})}, "red/olga", "approval_required"},
		"the tool has another form": {host.Settings{Overrides: catalog.Overrides{"write": {Tags: []string{"new"}}}}, "red/olga", "unavailable"},
		"the plugin is disabled":    {host.Settings{Disabled: func(string) bool { return true }}, "red/olga", "unavailable"},
		"nothing that matters":      {host.Settings{Overrides: catalog.Overrides{"write": {MaxConcurrent: &one}}}, "red/ada", "succeeded ran"},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newStandingRig(t, nil)
			e := begin(t, r.rig, holding(time.Minute, nil))
			synctest.Wait()
			r.Reconfigure(change.settings, nothingReplaced)
			decides(t, r, true, change.by)
			ended := end(t, e)
			check(t, name, r.ended(ended), change.want)
			if e := ended.Err; e != nil && e.Kind == tool.KindApprovalRequired && (e.Decision != pending(t, r).Name || !pending(t, r).FourEyes && pending(t, r).Rule != "two" || len(e.Arguments) == 0) {
				t.Errorf("%s: nobody is asked for the approval that the rule wants now: %+v", name, e)
			}
		})
	}
}

// One verdict is one use: of two calls that wait for it, one is executed, and the other one asks
// again for the rest of its time.
func TestTwoWaitForOneDecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newStandingRig(t, nil)
		var executions []tool.Execution
		for _, id := range []string{"one", "two"} {
			executions = append(executions, begin(t, r.rig, holding(time.Minute, func(c *tool.Call) { c.ID = id })))
		}
		synctest.Wait()
		decides(t, r, true, "red/olga")
		synctest.Wait()
		if ran := r.executed(); len(ran) != 1 {
			t.Errorf("one approval, and it ran %d times", len(ran))
		}
		decides(t, r, true, "red/olga")
		for _, e := range executions {
			if got := end(t, e); got.Err != nil {
				t.Errorf("it ended with %+v", got.Err)
			}
		}
		if ran := r.executed(); len(ran) != 1 {
			t.Errorf("the second approval, and it ran %d times", len(ran))
		}
	})
}

// A call that is cancelled, or whose host stops, does not wait. The decision stays, so that the
// next call can use it.
func TestTheWaitEnds(t *testing.T) {
	for name, test := range map[string]struct {
		end  func(*standingRig, tool.Execution)
		want string
	}{
		"a cancel":      {func(_ *standingRig, e tool.Execution) { e.Cancel("enough") }, "cancelled"},
		"the end":       {func(r *standingRig, _ tool.Execution) { r.StopHolding() }, "unavailable"},
		"a closed host": {func(r *standingRig, _ tool.Execution) { r.Close() }, "unavailable"},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newStandingRig(t, nil)
			e := begin(t, r.rig, holding(time.Hour, nil))
			synctest.Wait()
			began := time.Now()
			test.end(r, e)
			check(t, name, r.ended(end(t, e)), test.want)
			if waited := time.Since(began); waited > time.Minute {
				t.Errorf("%s: it waited another %v", name, waited)
			}
			pending(t, r)
		})
	}
}

// A call that waits takes no place of the calls that the tool executes. One that does not reach the
// plugin after its approval gives the approval back.
func TestWaitingTakesNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newStandingRig(t, func(c *host.Config) {
			c.Policy = rulesOf(t, policy.Rule{Name: "drafts", When: `arguments.path.contains("draft")`, Then: policy.Allow},
				policy.Rule{Name: "all", When: "true", Then: policy.RequireApproval})
			c.Catalog.Configure(catalog.Overrides{"write": {MaxConcurrent: new(1), RateLimitPerMinute: new(uint32(1))}}, 0)
		})
		e := begin(t, r.rig, holding(time.Minute, nil))
		synctest.Wait()
		draft := holding(0, func(c *tool.Call) { c.Arguments = json.RawMessage(`{"path":"draft","content":"x"}`) })
		check(t, "a call beside it", r.ended(outcome(t, r.rig, draft)), "succeeded ran")
		decides(t, r, true, "red/olga")
		check(t, "too many in a minute", r.ended(end(t, e)), "rate_limited")
		time.Sleep(2 * time.Minute) // virtual
		check(t, "later", r.ended(outcome(t, r.rig, holding(0, nil))), "succeeded ran")
	})
}

// An approval whose call the plugin has got is used up, also if the call then ends as one that was
// not executed.
func TestAnApprovalIsUsedUpByThePlugin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, spec, never := &standingRig{}, writer, make(chan struct{})
		spec.ReadOnly, spec.Retry.MaxAttempts = true, 2
		hangs := r.tool(never)
		hangs.Spec = spec
		records := stand(t, r)
		r.rig = newRig(t, []hosttest.Tool{hangs}, records)
		e := begin(t, r.rig, holding(time.Minute, nil))
		synctest.Wait()
		decides(t, r, true, "red/olga")
		synctest.Wait()
		r.launch = func(context.Context, *catalog.Plugin, string) (host.Process, error) {
			return nil, errors.New("no more")
		}
		r.process(0).End(tool.Exit{Code: 1})
		check(t, "the second attempt", r.ended(end(t, e)), "unavailable ran")
		check(t, "again", r.ended(outcome(t, r.rig, holding(0, nil))), "approval_required")
	})
}

// A call that its tool previews occupies the plugin, and so it is held and does not wait.
func TestAPreviewedCallDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, spec := &standingRig{}, writer
		spec.PartialArguments = true
		previews := r.tool(nil)
		previews.Spec = spec
		r.rig = newRig(t, []hosttest.Tool{previews}, stand(t, r))
		call := holding(time.Hour, func(c *tool.Call) { c.Arguments = c.Arguments[:5] })
		e, err := r.Open(t.Context(), call, false)
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		began := time.Now()
		if err := e.Send(t.Context(), holding(0, nil).Arguments[5:], true); err != nil {
			t.Fatal(err)
		}
		ended := end(t, e)
		if ended.Err == nil || ended.Err.Decision != pending(t, r).Name || time.Since(began) > time.Minute {
			t.Errorf("after %v it ended with %+v", time.Since(began), ended.Err)
		}
	})
}

// A call of which a person could not see the whole is refused as without a wait.
func TestCallsThatCannotBeHeld(t *testing.T) {
	r := newStandingRig(t, nil)
	large := outcome(t, r.rig, holding(time.Hour, func(c *tool.Call) {
		c.Arguments = json.RawMessage(`{"path":"docs/a","content":"` + strings.Repeat("x", holds.MaxArguments) + `"}`)
	}))
	check(t, "large arguments", r.ended(large), "approval_required")
	if large.Err != nil && large.Err.Decision != "" {
		t.Errorf("a person would have to approve what it does not see: %+v", large.Err)
	}
	negative := -time.Second
	if _, err := r.Open(t.Context(), holding(0, func(c *tool.Call) { c.ApprovalWait = &negative }), true); tool.KindOf(err) != tool.KindInvalidArgument {
		t.Errorf("a negative wait: %v", err)
	}
}

// An approval is for the rule that the person saw, and for the context on which the call depends.
// The caller chooses the context, and the person sees it.
func TestTheApprovalIsForTheRuleAndTheContext(t *testing.T) {
	needs := func(name, env string) policy.Rule {
		return policy.Rule{Name: name, When: `has(context.env) && context.env.startsWith("` + env + `")`, Then: policy.RequireApproval}
	}
	r := newStandingRig(t, func(c *host.Config) {
		c.Policy = rulesOf(t, needs("staging", "staging"), needs("production", "production"))
	})
	in := func(env, run string) tool.Call {
		return holding(0, func(c *tool.Call) {
			c.Run, c.Context = run, map[string]json.RawMessage{"env": json.RawMessage(env), "other": json.RawMessage(`1`)}
		})
	}
	outcome(t, r.rig, in(`"staging-1"`, "r1"))
	if d := pending(t, r); d.Rule != "staging" || d.Context != `{"env":"staging-1"}` {
		t.Errorf("a person sees %+v", d.Call)
	}
	decides(t, r, true, "red/olga")
	for name, c := range map[string]tool.Call{
		"another rule": in(`"production-1"`, "r1"), "another context": in(`"staging-2"`, "r1"), "another run": in(`"staging-1"`, "r2"), "no context": holding(0, nil),
	} {
		check(t, name, r.ended(outcome(t, r.rig, c)), "approval_required")
	}
	check(t, "the same", r.ended(outcome(t, r.rig, in(`"staging-1"`, "r1"))), "succeeded ran")
}

// Many calls of one principal wait for one decision: those above the bound are answered at once,
// and lose nothing.
func TestFewCallsOfAPrincipalWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newStandingRig(t, nil)
		for range 50 {
			begin(t, r.rig, holding(time.Minute, nil))
		}
		synctest.Wait()
		if got := outcome(t, r.rig, holding(time.Hour, nil)); got.Err == nil || got.Err.Decision != pending(t, r).Name {
			t.Errorf("the call above the bound: %+v", got)
		}
		time.Sleep(time.Minute) // virtual
		synctest.Wait()
	})
}
