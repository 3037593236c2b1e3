//go:build more

package postgres_test

import (
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/storetest"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
)

var _ host.Homes = (*postgres.Store)(nil)

// A session has one home, the state folder of the toolhost that asked first, until it is moved.
func TestHomesOfSessions(t *testing.T) {
	server := postgrestest.Shared(t)
	database := server.Create(t)
	address := server.URL(database)
	a, b := open(t, config(address, "a")), open(t, config(address, "b"))
	home := func(s *postgres.Store, principal, session, from string) callstore.Home {
		t.Helper()
		found, err := s.Home(t.Context(), principal, session, from)
		storetest.Must(t, err)
		return found
	}
	first := home(a, "ada", "s", "")
	if again := home(a, "ada", "s", ""); !first.Here || again != first {
		t.Errorf("the first toolhost has %+v, then %+v", first, again)
	}
	other := home(b, "ada", "s", "")
	if other.Here || other.At != first.At {
		t.Errorf("the other one has %+v, want %s", other, first.At)
	}
	server.Do(t, database, "UPDATE toolhost_beats SET count = count + 1000")
	if later := home(b, "ada", "s", ""); later.Life < other.Life+1000 {
		t.Errorf("the home lives, and %+v came after %+v", later, other)
	}
	for _, key := range [][2]string{{"ada", "other"}, {"eve", "s"}} {
		if got := home(b, key[0], key[1], ""); !got.Here {
			t.Errorf("another session has %+v", got)
		}
	}
	storetest.Must(t, a.Close())
	if got := home(b, "ada", "s", ""); got.Life < other.Life+1000 {
		t.Errorf("after the end of the home, its life fell to %d", got.Life)
	}
	a = open(t, config(address, "a"))
	if got := home(a, "ada", "s", ""); !got.Here {
		t.Errorf("after a new start, the toolhost has %+v", got)
	}
	if got := home(b, "ada", "s", "77"); got.Here || got.ID != first.ID {
		t.Errorf("a move from another home gives %+v", got)
	}
	if _, err := b.Home(t.Context(), "ada", "s", "nowhere"); err == nil {
		t.Error("a session was moved from nowhere")
	}
	if got := home(b, "ada", "s", first.ID); !got.Here {
		t.Errorf("a move gives %+v", got)
	}
	if got := home(a, "ada", "s", ""); got.Here || got.At == first.At || got.ID == first.ID {
		t.Errorf("after the move, the first toolhost has %+v", got)
	}
	server.Do(t, database, "INSERT INTO toolhost_homes SELECT decode(md5(n::text), 'hex'), 'f', 1, 'm', 1 FROM generate_series(1, 600) n")
	server.Do(t, database, "UPDATE toolhost_homes SET used = used - 91 * 86400000000000")
	home(b, "ada", "s", "")                         // a use
	for sweep, want := range []string{"103", "1"} { // 500 rows at a time
		for range 1024 {
			home(b, "ada", "s", "")
		}
		if rows := server.Do(t, database, "SELECT count(*) FROM toolhost_homes"); rows[0][0] != want {
			t.Errorf("%s rows of sessions stay after sweep %d, want %s", rows[0][0], sweep, want)
		}
	}
}
