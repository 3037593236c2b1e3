//go:build more

package grants_test

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/server/internal/access/authn"
	"github.com/toolhost/toolhost/server/internal/access/tokenstore"
	"github.com/toolhost/toolhost/server/internal/store/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/grants"
	"github.com/toolhost/toolhost/server/internal/toolhost/standing"
	"github.com/toolhost/toolhost/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(postgrestest.Main(m)) }

// node is what one toolhost has. grants is nil if it has files.
type node struct {
	grants    *grants.Store
	tokens    *tokenstore.Store
	approvals *standing.Store
}

// follow makes the node have what others have written. A toolhost does that each second.
func (n *node) follow(t *testing.T) {
	t.Helper()
	if n.grants != nil {
		must(t, n.grants.Refresh(t.Context()))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func shared(t *testing.T, address string, now func() time.Time) *node {
	t.Helper()
	g, err := grants.Open(t.Context(), grants.Config{Database: postgres.Config{URL: address}, Now: now})
	must(t, err)
	approvals, err := standing.Open(t.Context(), standing.Config{Shared: g.Approvals()})
	must(t, err)
	t.Cleanup(func() { must(t, errors.Join(approvals.Close(), g.Close())) })
	return &node{g, tokenstore.NewShared("toolhost", g.Tokens()), approvals}
}

// kinds returns functions that make nodes with the same tokens and approvals, one after the other.
func kinds(t *testing.T) map[string]func(t *testing.T) *node {
	address, folder := postgrestest.Database(t), t.TempDir()
	return map[string]func(t *testing.T) *node{
		"PostgreSQL": func(t *testing.T) *node { return shared(t, address, nil) },
		"file": func(t *testing.T) *node {
			approvals, err := standing.Open(t.Context(), standing.Config{Path: filepath.Join(folder, standing.File), Ledger: "one"})
			must(t, err)
			tokens := tokenstore.New("toolhost", folder)
			t.Cleanup(func() { must(t, errors.Join(approvals.Close(), tokens.Close())) })
			return &node{tokens: tokens, approvals: approvals}
		},
	}
}

func (n *node) token(t *testing.T, name string) (string, tokenstore.Record) {
	t.Helper()
	token, r, err := n.tokens.Create(t.Context(), tokenstore.Record{Name: name, Tenant: "red", Groups: []string{"dev"}, Tools: []string{"add"}, Note: "laptop \x00 ü"})
	must(t, err)
	return token, r
}

// accepts reports whether the node accepts a token. Otherwise, unchecked says that the node does
// not know whether it is valid.
func (n *node) accepts(t *testing.T, token string) (valid, unchecked bool) {
	t.Helper()
	_, err := n.tokens.Verify(t.Context(), token)
	_, unchecked = errors.AsType[*authn.UncheckedError](err)
	return err == nil, unchecked
}

func (n *node) refuses(t *testing.T, token string) {
	t.Helper()
	if valid, unchecked := n.accepts(t, token); valid || unchecked {
		t.Errorf("a token that is not valid: valid %v, unchecked %v", valid, unchecked)
	}
}

func TestTokens(t *testing.T) {
	for kind, open := range kinds(t) {
		t.Run(kind, func(t *testing.T) {
			a, b := open(t), open(t)
			first, r := a.token(t, "ci")
			second, kept := a.token(t, "cd")
			b.follow(t)
			for _, token := range []string{first, second} {
				v, err := b.tokens.Verify(t.Context(), token)
				if err != nil || v.Principal.Scope.Tools[0] != "add" || v.Principal.Groups[0] != "dev" || v.Current(t.Context()) != nil {
					t.Fatalf("the other node: %+v, %v", v, err)
				}
			}
			if _, err := b.tokens.Revoke(t.Context(), r.ID, "aaaaaaaaaa"); !errors.Is(err, tokenstore.ErrUnknown) {
				t.Errorf("revoking an unknown token: %v", err)
			}
			no := errors.New("no")
			b.tokens.Before = func(_ context.Context, _ tokenstore.Act, _ []tokenstore.Record) error { return no }
			if _, err := b.tokens.Revoke(t.Context(), r.ID); !errors.Is(err, no) {
				t.Errorf("the audit log refuses: %v", err)
			}
			b.tokens.Before = nil
			b.follow(t)
			if valid, _ := b.accepts(t, first); !valid {
				t.Error("a token is revoked by a change that failed")
			}
			revoked, err := b.tokens.Revoke(t.Context(), r.ID)
			if err != nil || len(revoked) != 1 || revoked[0].Revoked.IsZero() {
				t.Fatalf("revoked %+v, %v", revoked, err)
			}
			a.follow(t)
			a.refuses(t, first)
			if valid, _ := a.accepts(t, second); !valid {
				t.Error("another token is not valid any more")
			}
			all, err := open(t).tokens.List()
			if err != nil || len(all) != 2 {
				t.Fatalf("listed %+v, %v", all, err)
			}
			for _, r := range all {
				if want := map[bool]string{true: "valid", false: "revoked"}[r.ID == kept.ID]; r.State(time.Now()) != want || r.Hash != "" || r.Note != kept.Note {
					t.Errorf("listed %+v, want %s", r, want)
				}
			}
		})
	}
}

func (n *node) approve(t *testing.T, request string, arguments string) (tool.StandingApproval, bool, error) {
	t.Helper()
	return n.approvals.Create(t.Context(), standing.Proposal{
		Request: &tool.ApprovalRequest{RequestID: request, Principal: "red/ada", Tool: "write", Arguments: []byte(arguments), Scope: tool.ScopePrincipal},
		Approval: tool.StandingApproval{
			Principal: "red/ada", Tool: "write", Plugin: "fs", DefinitionSHA256: "d", Scope: tool.ScopePrincipal, Approver: "red/ada", Expires: time.Now().Add(time.Hour),
		},
		Spec: &tool.Spec{Name: "write"}, Limits: standing.Limits{PerPrincipal: 2, PerTenant: 9},
	})
}

// uses reports whether the node lets an approval approve a call with an argument n.
func (n *node) uses(argument any) bool {
	_, ok := n.approvals.Match(standing.Call{
		Principal: "red/ada", Tool: "write", Definition: func() string { return "d" }, Object: func() map[string]any { return map[string]any{"n": argument} },
	})
	return ok
}

func TestApprovals(t *testing.T) {
	for kind, open := range kinds(t) {
		t.Run(kind, func(t *testing.T) {
			a, b := open(t), (*node)(nil)
			if b = a; a.grants != nil { // one toolhost has the file
				b = open(t)
			}
			first, created, err := a.approve(t, "one", `{"n":"x"}`)
			if err != nil || !created || !a.uses("x") || a.uses("y") {
				t.Fatalf("created %v, %v; used %v", created, err, a.uses("x"))
			}
			if again, created, err := b.approve(t, "one", `{"n":"x"}`); err != nil || created || again.ID != first.ID {
				t.Errorf("the same request at the other node: %s, %v, %v", again.ID, created, err)
			}
			if _, _, err := b.approve(t, "one", `{"n":"y"}`); tool.KindOf(err) != tool.KindConflict {
				t.Errorf("another request with the id: %v", err)
			}
			second, _, err := b.approve(t, "", `{"n":"y"}`)
			must(t, err)
			if _, _, err := a.approve(t, "", `{"n":"z"}`); tool.KindOf(err) != tool.KindRateLimited {
				t.Errorf("more than the limit of both nodes: %v", err)
			}
			if all := a.approvals.All(func(*tool.StandingApproval) bool { return true }); len(all) != 2 || all[0].ID != second.ID {
				t.Errorf("all are %+v", all)
			}
			if shorter := b.approvals.Shorten(time.Minute); len(shorter) != 2 {
				t.Errorf("shortened %+v", shorter)
			}
			must(t, b.approvals.Write(t.Context()))
			ended, done, err := b.approvals.Revoke(t.Context(), first.ID, "red/ada")
			if err != nil || !done || ended.RevokedBy != "red/ada" || b.uses("x") || !b.uses("y") {
				t.Fatalf("revoked %+v, %v, %v", ended, done, err)
			}
			must(t, b.approvals.Reported(t.Context(), first.ID))
			a.follow(t)
			for _, n := range []*node{a, open(t)} {
				got, _ := n.approvals.Get(first.ID)
				if n.uses("x") || n.approvals.InForce(first.ID) || got.End != tool.ApprovalRevoked || got.RevokedBy != "red/ada" || !got.Ended.Equal(ended.Ended) {
					t.Errorf("another node has %+v", got)
				}
				if got, _ := n.approvals.Get(second.ID); !n.uses("y") || got.Expires.Sub(got.Created) != time.Minute || n.approvals.Len() != 1 || len(n.approvals.Unreported()) != 0 {
					t.Errorf("another node has %+v", got)
				}
			}
			if again, created, err := a.approve(t, "one", `{"n":"x"}`); err != nil || created || again.Ended.IsZero() {
				t.Errorf("a request whose approval was revoked is repeated: %+v, %v, %v", again, created, err)
			}
		})
	}
}

// What is revoked at one node is not used at another one that cannot reach the database: from 10
// seconds after its last answer, it uses nothing, and from the next answer on, it knows.
func TestRevokedWhileCutOff(t *testing.T) {
	server := postgrestest.Shared(t)
	database := server.Create(t)
	cutter := &postgrestest.Cutter{}
	var passed atomic.Int64
	clock := func() time.Time { return time.Unix(1_900_000_000+passed.Load(), 0) }
	a := shared(t, server.URL(database), nil)
	token, r := a.token(t, "ci")
	approval, _, err := a.approve(t, "one", `{"n":"x"}`)
	must(t, err)
	b := shared(t, "postgres://postgres@/"+database+"?host="+url.QueryEscape(cutter.Listen(t, server.Folder())), clock)
	if valid, _ := b.accepts(t, token); !valid || !b.uses("x") {
		t.Fatal("the node does not use what is valid")
	}
	cutter.Cuts.Store(1 << 30)
	_, err = a.tokens.Revoke(t.Context(), r.ID)
	must(t, err)
	_, _, err = a.approvals.Revoke(t.Context(), approval.ID, "red/ada")
	must(t, err)
	for _, step := range []struct {
		after int64
		used  bool
	}{{0, true}, {9, true}, {10, false}, {1000, false}} {
		passed.Store(step.after)
		if err := b.grants.Refresh(t.Context()); err == nil {
			t.Fatal("the node is not cut off")
		}
		if valid, unchecked := b.accepts(t, token); valid != step.used || unchecked == step.used {
			t.Errorf("after %d s: valid %v, unchecked %v", step.after, valid, unchecked)
		}
		if b.uses("x") != step.used || b.approvals.InForce(approval.ID) != step.used {
			t.Errorf("after %d s, the approval is used: %v", step.after, !step.used)
		}
	}
	if _, _, err := b.approve(t, "two", `{"n":"y"}`); tool.KindOf(err) != tool.KindUnavailable {
		t.Errorf("creating an approval: %v", err)
	}
	cutter.Cuts.Store(0)
	b.follow(t)
	b.refuses(t, token)
	if b.uses("x") || b.approvals.InForce(approval.ID) {
		t.Error("a revoked approval is used")
	}
}

// The wall clock can be set back, and the monotonic clock stops while a machine is suspended.
func TestBothClocksCount(t *testing.T) {
	address := postgrestest.Database(t)
	var now atomic.Pointer[time.Time]
	set := func(at time.Time) { now.Store(&at) }
	began := time.Now()
	set(began)
	b := shared(t, address, func() time.Time { return *now.Load() })
	must(t, b.grants.Close()) // it asks no more
	for _, test := range []struct {
		name string
		at   time.Time
		want bool
	}{
		{"at once", began, true},
		{"the monotonic clock", began.Add(10 * time.Second), false},
		{"the wall clock", began.Round(0).Add(10 * time.Second), false},
		{"just before", began.Add(10*time.Second - 1), true},
	} {
		if set(test.at); b.grants.Fresh() != test.want {
			t.Errorf("%s: fresh %v", test.name, !test.want)
		}
	}
}

// A toolhost writes what it knows, which may be older than what is in the database.
func TestTheFirstEndWins(t *testing.T) {
	server := postgrestest.Shared(t)
	database := server.Create(t)
	rows := shared(t, server.URL(database), nil).grants.Approvals()
	for _, test := range []struct {
		name                 string
		ended, expires       int64 // in the database
		newEnded, newExpires int64
		want                 bool // the row is written
	}{
		{"revoked", 0, 50, 7, 50, true},
		{"shortened", 0, 50, 0, 40, true},
		{"lengthened", 0, 50, 0, 60, false},
		{"shortened after the end", 7, 50, 0, 40, false},
		{"another end", 7, 50, 8, 50, false},
		{"the same end, reported", 7, 50, 7, 50, true},
	} {
		number, err := rows.Insert(t.Context(), standing.Row{ID: test.name, Expires: test.expires, Ended: test.ended, Data: []byte("old")})
		must(t, err)
		must(t, rows.Update(t.Context(), []standing.Row{{Number: number, Expires: test.newExpires, Ended: test.newEnded, Data: []byte("new")}}))
		got := server.Do(t, database, "SELECT data FROM toolhost_approvals WHERE id = '"+test.name+"'")[0][0]
		if want := map[bool]string{true: "new", false: "old"}[test.want]; got != want {
			t.Errorf("%s: the row is %s, want %s", test.name, got, want)
		}
	}
}

// A failover can lose the end of an approval. A node that knows the end keeps it, and writes it
// again.
func TestAnEndThatTheDatabaseLost(t *testing.T) {
	server := postgrestest.Shared(t)
	database := server.Create(t)
	a := shared(t, server.URL(database), nil)
	approval, _, err := a.approve(t, "one", `{"n":"x"}`)
	must(t, err)
	server.Do(t, database, "CREATE TABLE before AS SELECT * FROM toolhost_approvals")
	_, _, err = a.approvals.Revoke(t.Context(), approval.ID, "red/ada")
	must(t, err)
	server.Do(t, database, "UPDATE toolhost_approvals a SET ended = b.ended, data = b.data, changed = a.changed + 1 FROM before b WHERE a.id = b.id; UPDATE toolhost_grants SET approvals = approvals + 1")
	a.follow(t)
	if a.uses("x") || a.approvals.InForce(approval.ID) {
		t.Error("the node uses it again")
	}
	must(t, a.approvals.Write(t.Context()))
	if b := shared(t, server.URL(database), nil); b.uses("x") {
		t.Error("the database does not have the end")
	}
}

// A row that this program does not understand may have a limit that it would not apply.
func TestDamagedRows(t *testing.T) {
	server := postgrestest.Shared(t)
	for _, test := range []struct{ name, sql string }{
		{"no hash", `UPDATE toolhost_tokens SET data = regexp_replace(data, '"hash":"[^"]*"', '"hash":""')`},
		{"an approval", `UPDATE toolhost_approvals SET principal = 'blue/bob', changed = changed + 1; UPDATE toolhost_grants SET approvals = approvals + 1`},
	} {
		t.Run(test.name, func(t *testing.T) {
			database := server.Create(t)
			var passed atomic.Int64
			a := shared(t, server.URL(database), func() time.Time { return time.Unix(1_900_000_000+passed.Load(), 0) })
			token, _ := a.token(t, "ci")
			_, _, err := a.approve(t, "one", `{"n":"x"}`)
			must(t, err)
			a.follow(t)
			server.Do(t, database, test.sql+"; UPDATE toolhost_grants SET tokens = tokens + 1")
			failed := a.grants.Refresh(t.Context())
			passed.Store(10)
			if valid, unchecked := a.accepts(t, token); valid || !unchecked || failed != nil && a.uses("x") {
				t.Errorf("valid %v, unchecked %v, approval used %v; %v", valid, unchecked, a.uses("x"), failed)
			}
		})
	}
}

// A token that this program cannot read may have a limit that it would not apply, so it is refused.
// It stays in the database, and the other tokens stay valid.
func TestTokensOfANewerToolhost(t *testing.T) {
	server := postgrestest.Shared(t)
	for _, test := range []struct{ name, sql string }{
		{"another field", `UPDATE toolhost_tokens SET data = replace(data, '{"id"', '{"networks":["10.0.0.0/8"],"id"') WHERE data LIKE '%"newer"%'`},
		{"another id", `UPDATE toolhost_tokens SET id = 'b' WHERE data LIKE '%"newer"%'`},
		{"no JSON", `UPDATE toolhost_tokens SET data = '"newer"' WHERE data LIKE '%"newer"%'`},
	} {
		t.Run(test.name, func(t *testing.T) {
			database := server.Create(t)
			a := shared(t, server.URL(database), nil)
			newer, _ := a.token(t, "newer")
			usual, _ := a.token(t, "usual")
			server.Do(t, database, test.sql+"; UPDATE toolhost_grants SET tokens = tokens + 1")
			a.follow(t)
			a.refuses(t, newer)
			_, later := a.token(t, "later")
			_, err := a.tokens.Revoke(t.Context(), later.ID)
			must(t, err)
			a.follow(t)
			a.refuses(t, newer)
			if valid, _ := a.accepts(t, usual); !valid {
				t.Error("another token is refused")
			}
			server.Do(t, database, `DO $$ BEGIN ASSERT (SELECT count(*) = 1 FROM toolhost_tokens WHERE data LIKE '%"newer"%'); END $$`)
		})
	}
}
