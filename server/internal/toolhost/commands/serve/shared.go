package serve

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolhost/toolhost/internal/version"
	"github.com/toolhost/toolhost/server/internal/store/atomicfile"
	database "github.com/toolhost/toolhost/server/internal/store/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/callstore/postgres"
	"github.com/toolhost/toolhost/server/internal/toolhost/reaper"
)

// NodeFile has the id of the state folder of a node of a shared ledger. A backup does not have the
// file, so that a restored folder is another one.
const NodeFile = "node.id"

// openShared opens the ledger in PostgreSQL, which several toolhosts can use. The lock of the state
// folder is held. The caller closes the ledger after the last process of a plugin has ended.
func openShared(ctx context.Context, options *Options, bounds callstore.Bounds, keeper ledgerGuard, newest *newestCall, runtime *runtimeDir, exported exports, logger *slog.Logger) (ledgerOfCalls, error) {
	folder, err := nodeID(options.State)
	if err != nil {
		return nil, err
	}
	marked, err := callstore.ReadMark(keeper.dir)
	if err != nil {
		return nil, err
	}
	before, err := keeper.readNotes()
	if err != nil {
		return nil, err
	}
	seen, err := openRuns(filepath.Join(options.State, NodeFile), runtime, logger)
	if err != nil {
		return nil, err
	}
	mayBeNode := false
	settle := func(calls *postgres.Store) error {
		err := keeper.settleShared(calls, marked, folder, newest, before)
		mayBeNode = err == nil
		return err
	}
	name, _ := os.Hostname() // only for people
	calls, err := postgres.Open(ctx, postgres.Config{
		Database: database.Config{URL: options.Records, Log: logger}, Bounds: bounds, Begun: newest.set, Took: exported.observer.LedgerTook,
		Ledger: marked, Newest: newest.number, NotedBy: before.of(marked), Earlier: before.Earlier, Settle: settle,
		Node: postgres.Node{
			Number: seen.own.Node, Name: name, Folder: folder, Boot: seen.own.Place, Address: options.nodes, Version: version.Number, Ended: seen.ended,
			Left: func() error { return reaper.End(seen.own.Dir, seen.own.Token) },
		},
	})
	if err != nil && !mayBeNode {
		return nil, errors.Join(err, seen.withdraw())
	}
	if err != nil {
		return nil, err
	}
	if err := seen.settled(); err != nil {
		return nil, errors.Join(err, calls.Close())
	}
	return calls, nil
}

// whileNotGone returns a context that ends when this toolhost may begin no more calls: others
// answer for its calls, or the database has lost them. The caller calls stay at the end, which
// returns why.
func whileNotGone(ctx context.Context, calls ledgerOfCalls) (_ context.Context, stay func() error) {
	shared, ok := calls.(*postgres.Store)
	if !ok {
		return ctx, func() error { return nil }
	}
	ctx, cancel := context.WithCancelCause(ctx)
	go func() { // ends with stay
		select {
		case <-shared.Gone():
			cancel(shared.Why())
		case <-ctx.Done():
		}
	}()
	return ctx, func() error {
		cancel(nil)
		return shared.Why()
	}
}

// nodeID returns the id of a state folder, and chooses it the first time.
func nodeID(state string) (string, error) {
	path := filepath.Join(state, NodeFile)
	data, err := os.ReadFile(path)
	id := strings.TrimSpace(string(data))
	if errors.Is(err, fs.ErrNotExist) {
		id = rand.Text()
		err = atomicfile.Write(path, []byte(id+"\n"), 0o600)
	}
	if err == nil && id == "" {
		err = errors.New("it is empty; remove it")
	}
	if err != nil {
		return "", fmt.Errorf("reading the id of the state folder %s: %w", path, err)
	}
	return id, nil
}

// settleShared checks that the state folder belongs to the ledger of the database, and that the
// database has the newest call of this node. It then writes the number and the id of the ledger to
// the folder. marked is the id of before; empty: the folder is new. folder is the id of the folder,
// and before what it has noted.
func (k ledgerGuard) settleShared(calls *postgres.Store, marked, folder string, noted *newestCall, before notes) (err error) {
	id := calls.ID()
	what := fmt.Sprintf("%s has lost commits: the newest call of this toolhost in it is %d, and call %d was begun", calls.Name(), calls.Newest(), noted.number)
	switch {
	case marked == "":
	case calls.Lost(): // at the next start, the ledger has another id
		err = k.refusal(what, marked)
	case !calls.Is(marked):
		err = k.refusal(fmt.Sprintf("%s has the ledger %s, and the state folder belongs to the ledger %s", calls.Name(), id, marked), marked)
	case !calls.Has(noted.number):
		err = k.refusal(what, fmt.Sprintf("%s@%d", marked, noted.number))
	}
	if err != nil {
		return err
	}
	now := notes{folder, id, calls.Earlier()}
	if marked != "" && !calls.Is(marked) { // what its end has shown is noted before that is overwritten
		if err := k.writeNotes(notes{before.Folder, before.Ledger, now.Earlier}); err != nil {
			return err
		}
	}
	// The number beside each id is at most that of a call under this id.
	falls := calls.Newest() < noted.number
	if falls {
		err = noted.replace(calls.Newest())
	}
	if err == nil && marked != id {
		err = atomicfile.Write(filepath.Join(k.dir, callstore.MarkFile), []byte(id+"\n"), 0o600)
	}
	if err == nil && !falls {
		err = noted.replace(calls.Newest())
	}
	if err != nil {
		return fmt.Errorf("noting the ledger's id and its newest call: %w", err)
	}
	return k.writeNotes(now) // after the number, which must be that of a call of the folder
}

// notes is the content of callstore.NotesFile. A restored folder has another id than Folder, and a
// ledger that was moved into the database has another one than Ledger: then the number in
// callstore.NewestFile is not that of a call of this folder.
type notes struct {
	Folder  string            `json:"folder"` // its id when toolhost noted Ledger
	Ledger  string            `json:"ledger"`
	Earlier []postgres.Former `json:"earlier,omitempty"`
}

// of returns the id that the folder had when it noted a ledger. Empty: it is not known.
func (n notes) of(ledger string) string {
	if n.Ledger != ledger {
		return ""
	}
	return n.Folder
}

// readNotes returns what the folder has noted. Without a file, that is nothing.
func (k ledgerGuard) readNotes() (n notes, err error) {
	path := filepath.Join(k.dir, callstore.NotesFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return n, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &n)
	}
	if err != nil {
		return n, fmt.Errorf("reading which ledgers the state folder has used, %s: %w; remove it if it is damaged: toolhost then cannot find some losses of a database", path, err)
	}
	return n, nil
}

func (k ledgerGuard) writeNotes(n notes) error {
	data, err := json.Marshal(n)
	path := filepath.Join(k.dir, callstore.NotesFile)
	if before, _ := os.ReadFile(path); err == nil && !bytes.Equal(before, data) {
		err = atomicfile.Write(path, data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("noting which ledgers the state folder has used: %w", err)
	}
	return nil
}
