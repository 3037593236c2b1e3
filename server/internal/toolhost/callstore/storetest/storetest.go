// Package storetest is the conformance suite of callstore.Calls. It checks what the ledger of a
// toolhost relies on.
package storetest

import (
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/tool"
)

// Store is a store under test.
type Store interface {
	callstore.Calls
	io.Closer
}

// Config sets a store under test. The zero value has the default bounds and the clock of the
// system.
type Config struct {
	callstore.Bounds
	Now func() time.Time
}

// Harness makes the stores under test.
type Harness struct {
	// New returns an empty store, which ends with the test.
	New func(t testing.TB, cfg Config) Store
	// Reopen closes a store that New or Reopen returned for this test, and returns one with the same
	// calls and configuration, as a later process has it.
	Reopen func(t testing.TB, store Store) Store
}

// Run runs the suite.
func Run(t *testing.T, h Harness) {
	for name, test := range map[string]func(*testing.T, Harness){
		"BeginEndFind":          testBeginEndFind,
		"Keys":                  testKeys,
		"Refusals":              testRefusals,
		"NotEndedIsUnknown":     testNotEndedIsUnknown,
		"OneBeginWins":          testOneBeginWins,
		"Closed":                testClosed,
		"CloseBeside":           testCloseBeside,
		"Leaving":               testLeaving,
		"List":                  testList,
		"ListOfTenants":         testListOfTenants,
		"ListCancelled":         testListCancelled,
		"KeepIDs":               testKeepIDs,
		"KeepResults":           testKeepResults,
		"TooManyIDs":            testTooManyIDs,
		"QuotaOfIDs":            testQuotaOfIDs,
		"ResultsHaveABound":     testResultsHaveABound,
		"TenantsKeepResults":    testTenantsKeepResults,
		"OutcomesSurvive":       testOutcomesSurvive,
		"TooLargeAnOutcome":     testTooLargeAnOutcome,
		"AnotherPlugin":         testAnotherPlugin,
		"Identity":              testIdentity,
		"Happened":              testHappened,
		"DidNotHappen":          testDidNotHappen,
		"NotKnown":              testNotKnown,
		"OnlyUnknownIsSettled":  testOnlyUnknownIsSettled,
		"Superseded":            testSuperseded,
		"NotSuperseded":         testNotSuperseded,
		"SupersededCount":       testSupersededCount,
		"ArgumentsHaveABound":   testArgumentsHaveABound,
		"Model":                 testModel,
		"Histories":             testHistories,
		"NothingSharedInMemory": testNothingShared,
	} {
		t.Run(name, func(t *testing.T) { test(t, h) })
	}
}

// clock is a clock that changes only when the test moves it.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Unix(1_700_000_000, 0).UTC()} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Key returns the key of a call of one principal and session.
func Key(id string) callstore.Key {
	return callstore.Key{Principal: "alice", Session: "s1", ID: id}
}

// Entry returns a call for BeginWithin.
func Entry(id string) callstore.Entry {
	return callstore.Entry{Key: Key(id), Sum: [32]byte{1, 2, 31: 3}, Tool: "send_mail", Plugin: "mail"}
}

// Answer returns an outcome with a text.
func Answer(text string) tool.Outcome {
	return tool.Outcome{Plugin: "mail", Instance: "mail-1", Result: tool.TextResult(text)}
}

func begin(t testing.TB, store Store, e callstore.Entry) error {
	t.Helper()
	return store.BeginWithin(t.Context(), e, callstore.Quota{})
}

// Must fails the test if one of the errors is not nil.
func Must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// WantState checks the state of an id. The empty state means that the id is not in the store.
func WantState(t testing.TB, store callstore.Calls, id string, want callstore.State) callstore.Entry {
	t.Helper()
	e, found, err := store.Find(t.Context(), Key(id))
	if err != nil || found != (want != "") || e.State != want {
		t.Errorf("%s: found %v, state %q, %v; want %q", id, found, e.State, err, want)
	}
	return e
}

// nudge makes the store remove what is due: each write does so before anything else.
func nudge(t testing.TB, store Store) {
	t.Helper()
	Must(t, store.Forget(t.Context(), Key("no such call")))
}
