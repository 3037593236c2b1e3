package held_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/held"
	"github.com/toolhost/toolhost/tool"
)

func permitted(held.Decision) error { return nil }

// hold holds a call of a principal with as many bytes of arguments.
func hold(t *testing.T, s *held.Store, principal, what string, size int) (held.Decision, error) {
	t.Helper()
	d, _, err := s.Hold(held.KeyOf(principal, what), held.Call{Principal: principal, Tool: what, Arguments: json.RawMessage(strings.Repeat("1", size))})
	return d, err
}

func decide(t *testing.T, s *held.Store, d held.Decision, approve bool) held.Decision {
	t.Helper()
	made, err := s.Decide(held.Verdict{Name: d.Name, Etag: d.Etag, Approve: approve, By: "olga"}, permitted)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// No principal has more than its share, and rejected calls count. What cannot be used any more
// makes room.
func TestBoundsOfHeldCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := held.New()
		var first held.Decision
		for i := range 50 {
			d, err := hold(t, s, "ada", fmt.Sprint(i), 1)
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				first = d
			}
		}
		if d, err := hold(t, s, "ada", "0", 1); err != nil || d.Name != first.Name {
			t.Errorf("the same call: %v, %v", d.Name, err)
		}
		full := func(why string) {
			t.Helper()
			if _, err := hold(t, s, "ada", "more", 1); tool.KindOf(err) != tool.KindRateLimited {
				t.Errorf("%s: %v", why, err)
			}
		}
		full("50 wait")
		if _, err := hold(t, s, "bob", "more", 1); err != nil {
			t.Errorf("another principal: %v", err)
		}
		decide(t, s, first, false)
		full("49 wait and one was rejected")
		second, _ := hold(t, s, "ada", "1", 1)
		decide(t, s, second, true)
		full("48 wait, and one may still be used")
		if !s.Use(second.Name) {
			t.Fatal("the approval cannot be used")
		}
		if _, err := hold(t, s, "ada", "more", 1); err != nil {
			t.Errorf("after a use: %v", err)
		}
		if _, ok := s.Get(second.Name); ok {
			t.Error("the used approval made no room")
		}
		time.Sleep(held.MaxWait) // virtual
		if _, err := hold(t, s, "ada", "later", 1); err != nil {
			t.Errorf("an hour later: %v", err)
		}
	})
}

func TestBoundsOfHeldBytes(t *testing.T) {
	s := held.New()
	if _, err := hold(t, s, "ada", "huge", held.MaxArguments+1); tool.KindOf(err) != tool.KindInvalidArgument {
		t.Errorf("huge arguments: %v", err)
	}
	for i := range 8 * 8 {
		if i == 32 {
			if _, err := hold(t, s, "t0/another", "more", 1); tool.KindOf(err) != tool.KindRateLimited || !strings.Contains(err.Error(), "the tenant t0") {
				t.Errorf("a tenant that has its half: %v", err)
			}
		}
		if _, err := hold(t, s, fmt.Sprintf("t%d/p%d", i/32, i/8), fmt.Sprint(i), held.MaxArguments); err != nil {
			t.Fatal(i, err)
		}
	}
	for _, who := range []string{"t0/p0", "another"} {
		if _, err := hold(t, s, who, "more", 1); tool.KindOf(err) != tool.KindRateLimited {
			t.Errorf("%s: %v", who, err)
		}
	}
	d := s.Waiting(func(d *held.Decision) bool { return d.Principal == "t1/p7" })[0]
	decide(t, s, d, false)
	if _, err := hold(t, s, "another", "more", 1); err != nil {
		t.Errorf("after a rejection: %v", err)
	}
	if again, err := hold(t, s, "t1/p7", d.Tool, held.MaxArguments); err != nil || again.Name != d.Name || again.State != held.Rejected {
		t.Errorf("the rejection is forgotten: %+v, %v", again.State, err)
	}
}

// As many calls of a principal wait as may have decisions, also if all wait for the same one.
func TestBoundOfCallsThatWait(t *testing.T) {
	s := held.New()
	var leave func()
	for range 50 {
		var ok bool
		if leave, ok = s.Enter("ada"); !ok {
			t.Fatal("fewer than 50 calls wait")
		}
	}
	if _, ok := s.Enter("ada"); ok {
		t.Error("51 calls of a principal wait")
	}
	if _, ok := s.Enter("bob"); !ok {
		t.Error("another principal has to wait for the first")
	}
	leave()
	if _, ok := s.Enter("ada"); !ok {
		t.Error("who left still counts")
	}
}

func TestBoundOfAllHeldCalls(t *testing.T) {
	s := held.New()
	for i := range 1000 {
		if i == 500 {
			if _, err := hold(t, s, "t0/another", "more", 1); tool.KindOf(err) != tool.KindRateLimited {
				t.Errorf("the 501st of a tenant: %v", err)
			}
		}
		if _, err := hold(t, s, fmt.Sprintf("t%d/p%d", i/500, i/50), fmt.Sprint(i), 1); err != nil {
			t.Fatal(i, err)
		}
	}
	if _, err := hold(t, s, "another", "more", 1); tool.KindOf(err) != tool.KindRateLimited {
		t.Errorf("the 1001st: %v", err)
	}
}

// A verdict is about what the person saw, and the first one counts.
func TestVerdictsAboutHeldCalls(t *testing.T) {
	s := held.New()
	d, err := hold(t, s, "ada", "write", 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		change func(*held.Verdict)
		want   tool.Kind
	}{
		"no etag":           {func(v *held.Verdict) { v.Etag = "" }, tool.KindInvalidArgument},
		"another etag":      {func(v *held.Verdict) { v.Etag = "e" }, tool.KindConflict},
		"another name":      {func(v *held.Verdict) { v.Name = "calls/x" }, tool.KindNotFound},
		"a long reason":     {func(v *held.Verdict) { v.Text = strings.Repeat("x", 5000) }, tool.KindInvalidArgument},
		"a long name":       {func(v *held.Verdict) { v.ByName = strings.Repeat("x", 500) }, tool.KindInvalidArgument},
		"an invalid id":     {func(v *held.Verdict) { v.RequestID = "\n" }, tool.KindInvalidArgument},
		"it is not audited": {func(*held.Verdict) {}, tool.KindUnavailable},
	} {
		v := held.Verdict{Name: d.Name, Etag: d.Etag, Approve: true, By: "olga"}
		test.change(&v)
		if _, err := s.Decide(v, func(held.Decision) error { return tool.Errorf(tool.KindUnavailable, "no audit") }); tool.KindOf(err) != test.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	v := held.Verdict{Name: d.Name, Etag: d.Etag, Approve: true, By: "olga", RequestID: "r"}
	for range 2 {
		if made, err := s.Decide(v, permitted); err != nil || made.State != held.Approved || made.By != "olga" {
			t.Errorf("%+v, %v", made, err)
		}
	}
	for name, change := range map[string]func(*held.Verdict){
		"another verdict":   func(v *held.Verdict) { v.Approve = false },
		"another principal": func(v *held.Verdict) { v.By = "eve" },
		"another request":   func(v *held.Verdict) { v.RequestID = "q" },
		"no request id":     func(v *held.Verdict) { v.RequestID = "" },
	} {
		again := v
		change(&again)
		if _, err := s.Decide(again, permitted); tool.KindOf(err) != tool.KindConflict || !strings.Contains(err.Error(), "approved by olga") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An approval is for one call. A call that was not executed gives it back, unless another one asks
// a person meanwhile.
func TestUseOfAnApproval(t *testing.T) {
	s := held.New()
	d, _ := hold(t, s, "ada", "write", 1)
	if s.Use(d.Name) {
		t.Error("a decision that waits was used")
	}
	decide(t, s, d, true)
	for range 2 {
		if !s.Use(d.Name) || s.Use(d.Name) {
			t.Error("an approval is not for one use")
		}
		s.GiveBack(d.Name)
	}
	s.Use(d.Name)
	next, _ := hold(t, s, "ada", "write", 1)
	s.GiveBack(d.Name)
	if next.Name == d.Name || s.Use(d.Name) {
		t.Error("an approval counts beside the decision that waits")
	}
	decide(t, s, next, false)
	if s.Use(next.Name) {
		t.Error("a rejected call was executed")
	}
}

// The etag covers all that is shown.
func TestEtagOfAHeldCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, seen := held.New(), map[string]bool{}
		for i, call := range []held.Call{
			{}, {Principal: "ada"}, {Session: "s"}, {ID: "i"}, {Agent: "a"}, {Run: "r"}, {Tool: "t"}, {DisplayName: "d"}, {Plugin: "p"},
			{Arguments: json.RawMessage(`{}`)}, {Rule: "r"}, {Reason: "r"}, {FourEyes: true}, {RuleDigest: "r"}, {Context: "{}"}, {ApproverGroups: []string{"g"}},
		} {
			d, _, err := s.Hold(held.KeyOf(fmt.Sprint(i)), call)
			if err != nil {
				t.Fatal(err)
			}
			seen[d.Etag] = true
		}
		if len(seen) != 16 {
			t.Errorf("%d calls have an etag of their own, want 16", len(seen))
		}
	})
}

// An end moves as far as it may, and never back. A verdict of who has looked before counts.
func TestExtendAHeldCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := held.New()
		d, err := hold(t, s, "ada", "write", 1)
		if err != nil {
			t.Fatal(err)
		}
		_, seen, _, news := s.Changed(held.Position{}, func(*held.Decision) bool { return true })
		last := d.Requested.Add(held.MaxExtended)
		for _, test := range []struct {
			name  string
			until time.Time
			want  tool.Kind
			end   time.Time
		}{
			{"now", d.Requested, tool.KindInvalidArgument, d.Expires},
			{"an earlier end", d.Requested.Add(1), "", d.Expires},
			{"more than 7 days", last.Add(1), tool.KindInvalidArgument, d.Expires},
			{"7 days", last, "", last},
			{"once more", last, "", last},
			{"back", d.Expires, "", last},
		} {
			asked := 0
			got, err := s.Extend(held.Extension{Name: d.Name, Expires: test.until, By: "olga"}, func(held.Decision) error { asked++; return nil })
			now, _ := s.Get(d.Name)
			if tool.KindOf(err) != test.want || !now.Expires.Equal(test.end) || now.Etag != d.Etag || err == nil && !got.Expires.Equal(test.end) || (asked > 0) != (test.name == "7 days") {
				t.Errorf("%s: %s, %v, permitted %d times", test.name, now.Expires, err, asked)
			}
		}
		select {
		case <-news:
		default:
			t.Error("a watcher does not learn of it")
		}
		if all, _, _, _ := s.Changed(seen, func(*held.Decision) bool { return true }); len(all) != 1 || !all[0].Expires.Equal(last) {
			t.Errorf("changed are %+v", all)
		}
		time.Sleep(2 * held.MaxWait) // virtual
		if made := decide(t, s, d, true); made.State != held.Approved {
			t.Errorf("%+v", made)
		}
		if _, err := s.Extend(held.Extension{Name: d.Name, Expires: last}, permitted); tool.KindOf(err) != tool.KindConflict || !strings.Contains(err.Error(), "approved by olga") {
			t.Errorf("after the verdict: %v", err)
		}
		if _, err := s.Extend(held.Extension{Name: "calls/x", Expires: last}, permitted); tool.KindOf(err) != tool.KindNotFound {
			t.Errorf("no such call: %v", err)
		}
	})
}

// Around the end, exactly one of an extension and the end takes effect, also if the end comes while
// the extension is recorded.
func TestExtendAHeldCallAtItsEnd(t *testing.T) {
	for name, test := range map[string]struct {
		begins, records time.Duration // until the end, and the time of the record
		want            tool.Kind
	}{
		"before":          {1, 0, ""},
		"at the end":      {0, 0, tool.KindConflict},
		"over the end":    {1, 2, tool.KindConflict},
		"it is not noted": {1, -1, tool.KindUnavailable},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := held.New()
			d, made, err := s.Hold(held.KeyOf("1"), held.Call{Principal: "ada"})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(held.MaxWait - test.begins) // virtual
			_, err = s.Extend(held.Extension{Name: d.Name, Expires: d.Expires.Add(time.Hour)}, func(held.Decision) error {
				if test.records < 0 {
					return tool.Errorf(tool.KindUnavailable, "no audit")
				}
				time.Sleep(test.records) // virtual
				return nil
			})
			if tool.KindOf(err) != test.want || test.want == tool.KindConflict && !strings.Contains(err.Error(), "nobody decided about it until") {
				t.Errorf("%s: %v", name, err)
			}
			time.Sleep(time.Minute) // virtual
			now, _ := s.Get(d.Name)
			ended := false
			select {
			case <-made:
				ended = true
			default:
			}
			if waits := test.want == ""; (now.State == held.Waiting) != waits || ended == waits {
				t.Errorf("%s: it is %s, ended: %t", name, now.State, ended)
			}
		})
	}
}
