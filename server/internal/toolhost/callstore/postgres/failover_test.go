//go:build more

package postgres_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/storetest"
)

// pair is a server and its standby, with a database that stores reach at the one that accepts
// writes.
type pair struct {
	primary, standby *postgrestest.Server
	database         string
}

func newPair(t *testing.T) *pair {
	p := &pair{primary: postgrestest.Start(t)}
	p.database = p.primary.Create(t)
	p.primary.Do(t, p.database, "CREATE ROLE ordinary LOGIN PASSWORD 'of-the-test'; GRANT ALL ON SCHEMA public TO ordinary")
	t.Setenv("PGPASSWORD", "of-the-test")
	p.standby = p.primary.Standby(t)
	return p
}

func (p *pair) open(t *testing.T, folder string) *postgres.Store {
	cfg := config("postgres://ordinary@/"+p.database+"?host="+url.QueryEscape(p.primary.Folder()+","+p.standby.Folder()), folder)
	cfg.Patience = time.Minute // a failover takes a while
	return open(t, cfg)
}

// known waits until a node knows that the database has got as far as it is now.
func (p *pair) known(t *testing.T, at *postgrestest.Server, stores ...*postgres.Store) {
	t.Helper()
	written := at.Written(t)
	for _, s := range stores {
		eventually.Holds(t, "the position is known", func() bool { return s.Position().Bytes >= written })
	}
}

// After a failover that loses nothing, the nodes continue. One that then meets the server from
// before ends itself before it begins a call: others may have begun calls that this server does not
// have.
func TestFailover(t *testing.T) {
	p := newPair(t)
	a := p.open(t, "a")
	storetest.Must(t, begin(t, a, "x"))
	p.known(t, p.primary, a)
	p.primary.Stop() // the standby gets all of it
	p.standby.Promote(t)
	want(t, "repeating the call after a failover", begin(t, a, "x"), callstore.ErrTaken)
	p.known(t, p.standby, a)
	if at := a.Position(); at.Timeline != 2 || a.Why() != nil {
		t.Errorf("after the failover, the position is %v: %v", at, a.Why())
	}
	p.standby.Stop()
	p.primary.Resume(t)
	want(t, "a call at the server from before", begin(t, a, "z"), postgres.ErrLost)
}

// A standby that was promoted without the last commits is found by each node before its next begin,
// also by one that has lost nothing itself: by its position, or by the newest calls of others. The
// ledger gets another id, so that a call that was first sent under the former one is not executed.
func TestAFailoverThatLosesCommits(t *testing.T) {
	for name, more := range map[string]bool{"by position": true, "by newest calls": false} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t)
			if !more { // so that the nodes do not know the position
				p.primary.Do(t, p.database, "REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC")
			}
			a, b := p.open(t, "a"), p.open(t, "b")
			storetest.Must(t, begin(t, a, "x"))
			p.primary.AwaitStandby(t, p.standby)
			p.standby.Stop()
			storetest.Must(t, begin(t, a, "lost"))
			if more {
				p.primary.Do(t, p.database, "CREATE TABLE more AS SELECT generate_series(1, 200000)")
				p.known(t, p.primary, b)
			} else {
				p.open(t, "c")
				eventually.Holds(t, "the other node has looked at the nodes", func() bool {
					c, known := b.Census()
					return known && c.Up == 3
				})
			}
			id := a.ID()
			p.primary.Kill()
			p.standby.Resume(t)
			p.standby.Promote(t)
			want(t, "repeating a lost call at another node", begin(t, b, "lost"), postgres.ErrLost)
			want(t, "repeating it at its node", begin(t, a, "lost"), postgres.ErrLost)
			if now := p.standby.Do(t, p.database, "SELECT id FROM toolhost_ledger")[0][0]; now == id {
				t.Error("the ledger has the id of before")
			}
		})
	}
}
