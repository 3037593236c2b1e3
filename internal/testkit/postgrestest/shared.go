package postgrestest

import (
	"context"
	"sync"
	"testing"
)

// shared is the server that all tests of a package use, because a server takes seconds to start.
// Tests share no databases. It is the only state of this package, and Main ends it.
var shared struct {
	mu     sync.Mutex
	server *Server
	err    error
}

// Shared returns the server of the test's package, and starts it if there is none yet. The
// package's TestMain must run the tests with Main. Tests that stop the server, or change it as a
// whole, use Start.
func Shared(t testing.TB) *Server {
	t.Helper()
	requireIt(t)
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.server == nil && shared.err == nil {
		// The server outlives the test, so the end of the test's context must not end its start.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
		defer cancel()
		shared.server, shared.err = start(ctx, nil)
	}
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.server
}

// Database returns the URL of a new, empty database of the shared server.
func Database(t testing.TB) string {
	t.Helper()
	s := Shared(t)
	return s.URL(s.Create(t))
}

// Main returns what runs the tests of a package and then stops the shared server. A package passes
// it to os.Exit(Main(m).Run()) or to goleak.VerifyTestMain.
func Main(m interface{ Run() int }) interface{ Run() int } { return runner{m} }

type runner struct{ tests interface{ Run() int } }

func (r runner) Run() int {
	code := r.tests.Run()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.server != nil {
		shared.server.remove()
	}
	return code
}
