package terminal

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/server/internal/terminal/cli"
	"github.com/toolhost/toolhost/tool"
)

// Waiting is what waits for a decision, the one that ends first first.
type Waiting struct {
	Decisions []client.InboxDecision
	Missing   []string // why others are missing; see client.InboxPage
}

// InboxWatcher watches decisions: AgentClient.WatchInbox, and Client.WatchInbox.
type InboxWatcher func(ctx context.Context, watch client.InboxWatch) iter.Seq2[client.InboxChange, error]

// Follow returns what waits, again whenever it changes, and at a terminal each second, because
// times pass. It ends with ctx, or with the first error.
func Follow(ctx context.Context, p cli.Process, filter client.InboxFilter, watch InboxWatcher) iter.Seq2[Waiting, error] {
	return func(yield func(Waiting, error) bool) {
		type step struct {
			client.InboxChange
			err error
		}
		ctx, cancel := context.WithCancel(ctx)
		steps := make(chan step)
		go func() { // ends with ctx or the watch; the deferred function waits for it
			defer close(steps)
			for change, err := range withoutEnd(ctx, filter, watch) {
				select {
				case steps <- step{change, err}:
				case <-ctx.Done():
					return
				}
			}
		}()
		defer func() {
			cancel()
			for range steps { // until it is closed
			}
		}()
		var each <-chan time.Time
		if cli.IsTerminal(p.Stdout) {
			seconds := time.NewTicker(time.Second)
			defer seconds.Stop()
			each = seconds.C
		}
		known, missing, complete := map[string][]client.InboxDecision{}, []string(nil), false
		for {
			select {
			case s, more := <-steps:
				if !more || ctx.Err() != nil {
					return
				}
				if s.err != nil {
					yield(Waiting{}, s.err)
					return
				}
				if s.Restart {
					clear(known)
				}
				known[s.Source] = s.Decisions
				if len(s.Decisions) == 0 {
					delete(known, s.Source)
				}
				missing, complete = s.Unavailable, s.Complete
			case <-each:
			}
			if complete && !yield(Waiting{inOrder(known), missing}, nil) {
				return
			}
		}
	}
}

// withoutEnd goes on with a watch that has begun, also after a lost connection.
func withoutEnd(ctx context.Context, filter client.InboxFilter, watch InboxWatcher) iter.Seq2[client.InboxChange, error] {
	return func(yield func(client.InboxChange, error) bool) {
		for position := ""; ; {
			begun, last := false, errors.New("the server that was followed has stopped")
			for change, err := range watch(ctx, client.InboxWatch{InboxFilter: filter, Position: position}) {
				if last = cmp.Or(err, last); err != nil {
					break
				}
				if begun, position = true, cmp.Or(change.Position, position); !yield(change, nil) {
					return
				}
			}
			if kind := tool.KindOf(last); kind == tool.KindDenied || kind == tool.KindInvalidArgument {
				position = "" // of other rights
			}
			if !begun {
				yield(client.InboxChange{}, last)
				return
			}
			if !cli.Wait(ctx, time.Second) {
				return
			}
		}
	}
}

// inOrder returns the decisions of all sources as a list of the server has them.
func inOrder(known map[string][]client.InboxDecision) []client.InboxDecision {
	return slices.SortedFunc(func(yield func(client.InboxDecision) bool) {
		for _, decisions := range known {
			for _, d := range decisions {
				if !yield(d) {
					return
				}
			}
		}
	}, func(a, b client.InboxDecision) int {
		never := func(t time.Time) int { return map[bool]int{true: 1}[t.IsZero()] }
		return cmp.Or(cmp.Compare(never(a.Expires), never(b.Expires)), a.Expires.Compare(b.Expires), a.Requested.Compare(b.Requested), cmp.Compare(a.Name, b.Name))
	})
}
