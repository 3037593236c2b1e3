package throttle_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/host/throttle"
	"github.com/toolhost/toolhost/tool"
)

// book is a throttle.Leases without a database.
type book struct {
	mu        sync.Mutex
	taken     map[string][]taken
	questions int
	delay     func() time.Duration // of a question and of its answer; nil: none
	cut       bool                 // questions fail
}

type taken struct {
	starts int
	until  time.Time
}

func (b *book) TakeStarts(ctx context.Context, scope string, limit, most int, counted time.Duration) (starts int, wait time.Duration, err error) {
	if b.delay != nil {
		time.Sleep(b.delay())
		defer func() { time.Sleep(b.delay()) }()
	}
	if err := ctx.Err(); err != nil {
		return 0, 0, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.questions++; b.cut {
		return 0, 0, errors.New("cut off")
	}
	now := time.Now()
	b.taken[scope] = slices.DeleteFunc(b.taken[scope], func(t taken) bool { return !now.Before(t.until) })
	remains := limit
	for _, t := range b.taken[scope] {
		remains -= t.starts
	}
	if remains <= 0 {
		return 0, b.taken[scope][0].until.Sub(now), nil
	}
	starts = min(most, max(remains/16, 1))
	b.taken[scope] = append(b.taken[scope], taken{starts, now.Add(counted)})
	return starts, 0, nil
}

// toolhosts are several toolhosts that share a book. The quota holds for the tenant red.
type toolhosts struct {
	*book
	usages []*throttle.Usage
	quotas *throttle.Quotas

	mu       sync.Mutex
	admitted []time.Time
}

func newToolhosts(t *testing.T, n int, quotas throttle.Quotas) *toolhosts {
	all := &toolhosts{book: &book{taken: map[string][]taken{}}, quotas: &quotas}
	for range n {
		var group sync.WaitGroup
		t.Cleanup(group.Wait)
		spawn := func(f func()) bool { group.Go(f); return true }
		all.usages = append(all.usages, throttle.NewUsage(throttle.NewShares(t.Context(), all.book, spawn, slog.New(slog.DiscardHandler))))
	}
	return all
}

// begin lets calls of red begin and end at a toolhost, until one is refused, and returns how many
// were admitted, and the refusal.
func (a *toolhosts) begin(ctx context.Context, toolhost, calls int) (admitted int, _ *tool.Error) {
	for range calls {
		if err := a.usages[toolhost].Begin(ctx, a.quotas, "red/ada"); err != nil {
			return admitted, err
		}
		a.mu.Lock()
		a.admitted = append(a.admitted, time.Now())
		a.mu.Unlock()
		a.usages[toolhost].End("red/ada")
		admitted++
	}
	return admitted, nil
}

// check fails if more calls than the limit were admitted in any 60 seconds. A window that begins
// with a call has the most.
func (a *toolhosts) check(t *testing.T) {
	t.Helper()
	limit := a.quotas.Tenant.StartsPerMinute
	slices.SortFunc(a.admitted, time.Time.Compare)
	for i := limit; i < len(a.admitted); i++ {
		if between := a.admitted[i].Sub(a.admitted[i-limit]); between < time.Minute {
			t.Fatalf("%d calls began within %v, and the limit is %d", limit+1, between, limit)
		}
	}
}

func ofTenant(starts int) throttle.Quotas {
	return throttle.Quotas{Tenant: throttle.Quota{StartsPerMinute: starts}}
}

// Toolhosts admit together at most the limit in any minute, whatever their callers and the database
// do. One of them is killed.
func TestSharesHoldInAnyMinute(t *testing.T) {
	for _, limit := range []int{1, 10, 100, 1000} {
		synctest.Test(t, func(t *testing.T) {
			all := newToolhosts(t, 4, ofTenant(limit))
			var random sync.Mutex
			source := rand.New(rand.NewPCG(46, uint64(limit)))
			upTo := func(n int) int {
				random.Lock()
				defer random.Unlock()
				return source.IntN(n)
			}
			all.delay = func() time.Duration { return time.Duration(upTo(upTo(3000)+1)) * time.Millisecond }
			var group sync.WaitGroup
			for toolhost := range all.usages {
				for range 3 {
					group.Go(func() {
						for end := time.Now().Add(15 * time.Minute); time.Now().Before(end); {
							if toolhost == 0 && time.Until(end) < 7*time.Minute {
								return
							}
							_, err := all.begin(t.Context(), toolhost, 1+upTo(limit))
							if err != nil && err.Kind != tool.KindRateLimited && err.Kind != tool.KindUnavailable {
								t.Error(err)
							}
							time.Sleep(time.Duration(upTo(upTo(25_000)+1)) * time.Millisecond)
						}
					})
				}
			}
			group.Wait()
			all.check(t)
			// There are about 12 times 70 seconds, and some questions took too long.
			if least := max(1, limit/2) * 8; len(all.admitted) < least {
				t.Errorf("limit %d: %d calls began, want %d", limit, len(all.admitted), least)
			}
		})
	}
}

// What a toolhost has taken counts from then on until it cannot be among the starts of a minute,
// and it may be used for ten seconds only.
func TestTheTimeOfAShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newToolhosts(t, 2, ofTenant(64))
		// Each share is at most twice what was used of the one before: 1, 2, and 3 of the 61 that remain.
		if n, err := all.begin(t.Context(), 0, 4); n != 4 || all.questions != 3 {
			t.Fatalf("%d calls, %d questions: %v", n, all.questions, err)
		}
		if n, err := all.begin(t.Context(), 1, 64); n != 58 || err == nil || err.Kind != tool.KindRateLimited || err.RetryAfter != 70*time.Second ||
			!strings.Contains(err.Message, "tenant red has no start left in these 60 seconds at all toolhosts together, and its quota starts_per_minute is 64; nothing was executed") {
			t.Fatalf("%d calls of the other toolhost: %v", n, err)
		}
		// Until something counts no more, no call asks again, and no call that was refused counts.
		asked := all.questions
		for range 9 {
			time.Sleep(time.Second)
			if n, err := all.begin(t.Context(), 1, 1); n != 0 || err.RetryAfter != 70*time.Second-time.Since(all.admitted[0]) || all.questions != asked {
				t.Fatalf("%d calls, %d questions: %v", n, all.questions-asked, err)
			}
		}
		time.Sleep(time.Second - time.Nanosecond)
		if n, err := all.begin(t.Context(), 0, 1); n != 1 || all.questions != asked {
			t.Fatalf("the last moment of a share: %d calls, %v", n, err)
		}
		time.Sleep(time.Nanosecond)
		if n, _ := all.begin(t.Context(), 0, 1); n != 0 || all.questions != asked+1 {
			t.Fatal("a share is used when it is over")
		}
		asked++
		time.Sleep(60*time.Second - time.Nanosecond)
		if n, _ := all.begin(t.Context(), 1, 1); n != 0 || all.questions != asked {
			t.Fatalf("%d calls began, %d questions", n, all.questions-asked)
		}
		time.Sleep(time.Nanosecond)
		if n, _ := all.begin(t.Context(), 1, 99); n != 64 {
			t.Fatalf("%d calls began after a minute, want 64", n)
		}
		all.check(t)
		all.quotas.Tenant.StartsPerMinute = 65 // a reload
		if n, _ := all.begin(t.Context(), 1, 9); n != 1 {
			t.Errorf("%d calls began with a larger limit", n)
		}
	})
}

// The time of a share begins before the question: the answer may be late.
func TestALateShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newToolhosts(t, 1, ofTenant(640))
		if n, err := all.begin(t.Context(), 0, 3); n != 3 { // shares of 1 and 2
			t.Fatal(err)
		}
		all.delay = func() time.Duration { return 2 * time.Second }
		if n, err := all.begin(t.Context(), 0, 1); n != 1 {
			t.Fatal(err)
		}
		time.Sleep(6*time.Second - time.Nanosecond)
		if n, err := all.begin(t.Context(), 0, 1); n != 1 || all.questions != 3 {
			t.Errorf("%d calls, %d questions: %v", n, all.questions, err)
		}
		time.Sleep(time.Nanosecond)
		if n, err := all.begin(t.Context(), 0, 1); n != 1 || all.questions != 4 {
			t.Errorf("%d calls, %d questions: %v", n, all.questions, err)
		}
	})
}

// A large quota needs few questions, and one that is not set none. What is used slowly is not lost.
func TestFewQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newToolhosts(t, 2, ofTenant(100_000))
		if n, err := all.begin(t.Context(), 0, 100_000); n != 100_000 || all.questions > 300 {
			t.Errorf("%d calls, %d questions: %v", n, all.questions, err)
		}
		asked := all.questions
		all.quotas.Tenant.StartsPerMinute = 0
		if n, err := all.begin(t.Context(), 0, 1000); n != 1000 || all.questions != asked {
			t.Errorf("%d calls without a quota, %d questions: %v", n, all.questions-asked, err)
		}
		slow := newToolhosts(t, 50, ofTenant(600))
		for second := range 600 { // 300 calls in a minute, six of each toolhost
			for i := range 5 {
				if _, err := slow.begin(t.Context(), (5*second+i)%50, 1); err != nil {
					t.Fatalf("second %d: %v", second, err)
				}
			}
			time.Sleep(time.Second)
		}
	})
}

// A toolhost without its database uses its share up. Then calls wait for five seconds, for one
// question together, and none asks again in the second after it.
func TestSharesWithoutADatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newToolhosts(t, 1, ofTenant(640))
		all.quotas.Principal.ConcurrentCalls = 20
		if n, err := all.begin(t.Context(), 0, 4); n != 4 { // shares of 1, 2 and 4
			t.Fatal(err)
		}
		all.cut = true
		n, err := all.begin(t.Context(), 0, 9)
		if n != 3 || err.Kind != tool.KindUnavailable || !strings.Contains(err.Message, "the database that counts its quota starts_per_minute does not answer; nothing was executed") {
			t.Errorf("%d calls: %v", n, err)
		}
		asked := all.questions
		if n, err := all.begin(t.Context(), 0, 1); n != 0 || err.Kind != tool.KindUnavailable || all.questions != asked {
			t.Errorf("%d calls, %d questions: %v", n, all.questions-asked, err)
		}
		time.Sleep(time.Second)
		all.delay, all.cut = func() time.Duration { return 20 * time.Second }, false
		began := time.Now()
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() {
				if n, err := all.begin(t.Context(), 0, 1); n != 0 || err.Kind != tool.KindUnavailable || time.Since(began) != 5*time.Second {
					t.Errorf("%d calls after %v: %v", n, time.Since(began), err)
				}
			})
		}
		synctest.Wait()
		if _, err := all.begin(t.Context(), 0, 1); err == nil || err.Kind != tool.KindRateLimited || err.RetryAfter != time.Second {
			t.Errorf("calls that wait are not in progress: %v", err)
		}
		group.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if n, err := all.begin(ctx, 0, 1); n != 0 || err.Kind != tool.KindCancelled || time.Since(began) != 5*time.Second {
			t.Errorf("a call that is canceled: %d, %v after %v", n, err, time.Since(began))
		}
		time.Sleep(time.Minute)
		synctest.Wait() // the question has ended
		all.delay = nil
		if n, err := all.begin(t.Context(), 0, 30); n != 30 {
			t.Errorf("%d calls with the database again: %v", n, err)
		}
	})
}

// A call has a start of its principal and of its tenant, or of none.
func TestSharesOfPrincipalAndTenant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		quotas := ofTenant(5)
		quotas.Tenant.ConcurrentCalls = 1
		quotas.Principals = map[string]throttle.Quota{"red/eve": {StartsPerMinute: 1}}
		all := newToolhosts(t, 1, quotas)
		for _, step := range []struct{ key, full string }{
			{"red/eve", ""},
			{"red/eve", "principal red/eve has no start left"},
			{"red/ada", ""}, {"red/ada", ""}, {"red/bob", ""},
			{"red/eve", "principal red/eve has no start left"},
			{"red/ada", ""},
			{"red/ada", "tenant red has no start left"},
			{"blue/ada", ""},
		} {
			err := all.usages[0].Begin(t.Context(), all.quotas, step.key)
			if (err == nil) != (step.full == "") || err != nil && !strings.Contains(err.Message, step.full) {
				t.Errorf("%s: %v, want %q", step.key, err, step.full)
			}
			if err != nil {
				continue
			}
			if step.key != "blue/ada" {
				if err := all.usages[0].Begin(t.Context(), all.quotas, "red/ada"); err == nil || !strings.Contains(err.Message, "concurrent_calls") {
					t.Errorf("a second call in progress: %v", err)
				}
			}
			all.usages[0].End(step.key)
		}
	})
}

// Calls that the quota of their tenant refuses take nothing from their principal.
func TestRefusedCallsTakeNoShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		quotas := ofTenant(1)
		quotas.Principals = map[string]throttle.Quota{"red/eve": {StartsPerMinute: 100}}
		all := newToolhosts(t, 1, quotas)
		if err := all.usages[0].Begin(t.Context(), all.quotas, "red/eve"); err != nil {
			t.Fatal(err)
		}
		all.usages[0].End("red/eve")
		_ = all.usages[0].Begin(t.Context(), all.quotas, "red/eve") // asks, and learns when there is another one
		asked := all.questions
		for range 5 {
			time.Sleep(10 * time.Second) // shares are over
			if err := all.usages[0].Begin(t.Context(), all.quotas, "red/eve"); err == nil {
				t.Error("the tenant has a second call in 60 seconds")
			}
		}
		if all.questions != asked {
			t.Errorf("refused calls asked %d times", all.questions-asked)
		}
	})
}
