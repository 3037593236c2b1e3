package callstore_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/tool"
)

// makeCalls begins, ends and forgets calls, and prints what the store has answered, until it is
// killed.
func makeCalls(args []string) error {
	path, round := args[0], args[1]
	store, err := callstore.Open(context.Background(), callstore.Config{Path: path})
	if err != nil {
		return err
	}
	var group errgroup.Group
	for caller := range 8 {
		group.Go(func() error {
			ctx := context.Background()
			for n := 0; ; n++ {
				id := fmt.Sprint(round, "-", caller, "-", n)
				if err := store.Begin(ctx, entry(id)); err != nil {
					return err
				}
				fmt.Println("begun", id)
				if n%5 == 4 {
					if err := store.Forget(ctx, key(id)); err != nil {
						return err
					}
					fmt.Println("forgotten", id)
					continue
				}
				if err := store.End(ctx, key(id), answer("of "+id)); err != nil {
					return err
				}
				fmt.Println("ended", id)
			}
		})
	}
	return group.Wait()
}

// TestKill kills a process at random moments. Everything that the store has answered is true
// afterwards, and no call is left running.
func TestKill(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	cfg := config(t)
	acknowledged := map[string]string{}
	var unknown, ended int
	const rounds = 20 // server/internal/e2e kills whole toolhosts fifty times
	for round := range rounds {
		news := map[string]string{}
		killAfter(t, cfg.Path, round, random.IntN(80), news)
		store, err := callstore.Open(t.Context(), cfg)
		must(t, err)
		for id, word := range news {
			acknowledged[id] = word
			if word == "ended" {
				ended++
			}
		}
		// At the end, the test checks calls of earlier rounds again.
		checkAcknowledged(t, store, news)
		running, err := store.List(t.Context(), callstore.Query{State: tool.CallRunning})
		must(t, err)
		if len(running) > 0 {
			t.Errorf("round %d: %d calls are under way: %v", round, len(running), ids(running))
		}
		if round == rounds-1 {
			checkAcknowledged(t, store, acknowledged)
			all, err := store.List(t.Context(), callstore.Query{State: tool.CallFailed})
			must(t, err)
			unknown = len(all)
		}
		must(t, store.Close())
	}
	t.Logf("%d ids, of which %d have ended and %d are unknown", len(acknowledged), ended, unknown)
	if ended == 0 || unknown == 0 {
		t.Errorf("the test proves nothing: %d calls have ended, %d are unknown", ended, unknown)
	}
}

// killAfter runs a process that makes calls, kills it after a number of lines, and records the last
// line about each id.
func killAfter(t *testing.T, path string, round, lines int, acknowledged map[string]string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], path, fmt.Sprint(round))
	cmd.Env = append(os.Environ(), childEnv+"=calls")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	scanner := bufio.NewScanner(out)
	killed := false
	kill := func() {
		killed = true
		if err := cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
	}
	if lines == 0 {
		kill()
	}
	for n := 0; scanner.Scan(); {
		word, id, _ := strings.Cut(scanner.Text(), " ")
		if word == "error:" {
			t.Errorf("round %d: %s", round, scanner.Text())
			continue
		}
		acknowledged[id] = word
		if n++; n == lines {
			kill()
		}
	}
	if err := scanner.Err(); err != nil && err != io.EOF {
		t.Error(err)
	}
	_ = cmd.Wait()
	if !killed {
		t.Fatalf("round %d: the process ended by itself", round)
	}
}

func checkAcknowledged(t *testing.T, store *callstore.Store, acknowledged map[string]string) {
	t.Helper()
	for id, word := range acknowledged {
		e, found, err := store.Find(t.Context(), key(id))
		must(t, err)
		switch {
		case word == "begun" && (!found || e.State == callstore.StateBegun):
			// The call may have ended, or been forgotten, without a line about it.
			if !found && !forgets(id) || found {
				t.Errorf("%s had begun: found %v, %q", id, found, e.State)
			}
		case word == "ended" && (!found || e.State != callstore.StateEnded || e.Outcome == nil || e.Outcome.Result.Text() != "of "+id):
			t.Errorf("%s had ended: found %v, %q, %+v", id, found, e.State, e.Outcome)
		case word == "forgotten" && found:
			t.Errorf("%s was forgotten, and is %q", id, e.State)
		}
	}
}

// forgets reports whether makeCalls forgets the id.
func forgets(id string) bool {
	n := 0
	_, _ = fmt.Sscan(id[strings.LastIndex(id, "-")+1:], &n)
	return n%5 == 4
}
