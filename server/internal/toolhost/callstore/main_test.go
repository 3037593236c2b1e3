package callstore_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/tool"
)

// childEnv is the environment variable that names the function to execute instead of the tests.
const childEnv = "CALLSTORE_TEST_CHILD"

func TestMain(m *testing.M) {
	if child, ok := children()[os.Getenv(childEnv)]; ok {
		if err := child(os.Args[1:]); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

func config(t testing.TB) callstore.Config {
	return callstore.Config{Path: filepath.Join(t.TempDir(), "calls.db")}
}

func open(t testing.TB, cfg callstore.Config) *callstore.Store {
	t.Helper()
	store, err := callstore.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, store) })
	return store
}

func shut(t testing.TB, store *callstore.Store) {
	t.Helper()
	if err := store.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
}

func key(id string) callstore.Key {
	return callstore.Key{Principal: "alice", Session: "s1", ID: id}
}

func entry(id string) callstore.Entry {
	return callstore.Entry{Key: key(id), Sum: [32]byte{1, 2, 31: 3}, Tool: "send_mail", Plugin: "mail"}
}

func answer(text string) tool.Outcome {
	return tool.Outcome{Plugin: "mail", Instance: "mail-1", Result: tool.TextResult(text)}
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// wantState checks the state of an id. The empty state means that the id is not in the store.
func wantState(t testing.TB, store *callstore.Store, id string, want callstore.State) callstore.Entry {
	t.Helper()
	e, found, err := store.Find(t.Context(), key(id))
	if err != nil || found != (want != "") || e.State != want {
		t.Errorf("%s: found %v, state %q, %v; want %q", id, found, e.State, err, want)
	}
	return e
}
