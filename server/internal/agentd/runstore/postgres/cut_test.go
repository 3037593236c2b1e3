//go:build more

package postgres_test

import (
	"bytes"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/internal/testkit/shortdir"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/postgres"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/storetest"
	database "github.com/toolhost/toolhost/server/internal/store/postgres"
)

// cutter passes the bytes of connections to a server. It cuts the connection whose client has sent
// a mark, when the server answers: the server has then executed what the client does not know of.
type cutter struct {
	mark []byte
	cuts atomic.Int32 // how many are still to come
	made atomic.Int32
}

// listen returns the folder with the cutter's socket.
func (c *cutter) listen(t *testing.T, server string) string {
	t.Helper()
	folder := shortdir.Make(t)
	const socket = ".s.PGSQL.5432"
	listener, err := net.Listen("unix", filepath.Join(folder, socket))
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	t.Cleanup(func() { listener.Close(); group.Wait() })
	group.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			behind, err := net.Dial("unix", filepath.Join(server, socket))
			if err != nil {
				t.Error(err)
				client.Close()
				continue
			}
			var marked atomic.Bool
			group.Go(func() {
				pass(client, behind, func(sent []byte) bool {
					if bytes.Contains(sent, c.mark) {
						marked.Store(true)
					}
					return true
				})
			})
			group.Go(func() {
				pass(behind, client, func([]byte) bool {
					if !marked.Swap(false) || c.cuts.Add(-1) < 0 {
						return true
					}
					c.made.Add(1)
					return false
				})
			})
		}
	})
	return folder
}

// pass copies bytes until one side ends or see returns false, and closes both.
func pass(from, to net.Conn, see func([]byte) bool) {
	defer from.Close()
	defer to.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if !see(buffer[:n]) {
				return
			}
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// An append whose answer is lost is done once, and Append knows that it is done.
func TestLostAnswers(t *testing.T) {
	s := postgrestest.Shared(t)
	for name, first := range map[string]uint64{"of a new run": 0, "of a run": 1} {
		t.Run(name, func(t *testing.T) {
			c := &cutter{mark: []byte(`{"n":77}`)}
			folder := c.listen(t, s.Folder())
			// One connection: the statement is prepared when the mark arrives.
			store, err := postgres.Open(t.Context(), database.Config{URL: "postgres://postgres@/" + s.Create(t) + "?host=" + url.QueryEscape(folder), PoolSize: 1})
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			storetest.Must(t, store, "warm", 0, 1)
			storetest.Must(t, store, "warm", 1, 1)
			if first > 0 {
				storetest.Must(t, store, "r", 0, int(first))
			}
			c.cuts.Store(1)
			batch := runstore.Batch{RunID: "r", After: first, Records: storetest.Records(77, 1), Head: runstore.Head{Unfinished: true}, Spent: runstore.Spent{Day: 1, Tokens: 5}}
			if err := store.Append(t.Context(), batch); err != nil {
				t.Errorf("the append: %v", err)
			}
			if c.made.Load() != 1 {
				t.Errorf("%d answers were lost, want 1", c.made.Load())
			}
			if run, err := store.Get(t.Context(), "r"); err != nil || run.LastSeq != first+1 {
				t.Errorf("the journal ends at %d: %v", run.LastSeq, err)
			}
			if spent, err := store.Spent(t.Context(), 1, runstore.Query{}); err != nil || spent.Tokens != 5 {
				t.Errorf("%d tokens, %v", spent.Tokens, err)
			}
		})
	}
}
