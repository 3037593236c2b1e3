package callstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/toolhost/toolhost/server/internal/store/sqlitefile"
)

// Restoration says that a ledger is a copy of another one, restored from a backup.
//
// The problem: the copy does not have the calls that the other ledger recorded after the backup. If
// a caller repeats one of them, the store does not know the id, and the call would execute a second
// time. The id alone does not show whether the call is new.
//
// The idea: a restored ledger gets a new id, and records which ledger it was, when the backup was
// made and when it was restored. A caller that names the former ledger says that its call may be
// older than the restoration. A caller that names the new ledger, or a time after the restoration,
// says that the call is new. A caller that names neither says nothing, so the restored ledger takes
// no unknown id from it until Ends.
//
// The invariant: of the calls with side effects, a restored ledger takes only those for which the
// caller says that they began after the restoration, until no caller may repeat an older one.
type Restoration struct {
	From     string    // the id of the ledger of which the backup was made
	Backup   time.Time // when the backup began; the ledger has all calls that had ended by then
	Restored time.Time
	// Ends is when a caller may no longer repeat a call from before the restoration, because no
	// ledger would know its id. It is KeepIDs after Restored. Zero: an operator has accepted that
	// the ledger does not have the calls from after the backup.
	Ends time.Time
}

// Restored returns how the store was restored from a backup; nil if it was not. If it was restored
// several times, the result is about the last time.
func (s *Store) Restored() *Restoration { return s.restored }

// Renewed is the identity of a restored ledger.
type Renewed struct {
	ID     string
	From   string // the id before
	Newest int64  // the number of the newest call
	Calls  int
}

// Renew turns a copy of a ledger into a ledger of its own: it gives it a new id and records the
// restoration. backup is the time of the copy. No Store may have the file open. Renew fails if the
// file is not a ledger, is damaged, or was written by a newer program.
func Renew(ctx context.Context, path string, backup, now time.Time) (Renewed, error) {
	r, err := renew(ctx, path, backup, now)
	if err != nil {
		return Renewed{}, fmt.Errorf("renewing the ledger %s: %w", path, explain(path, err))
	}
	return r, nil
}

func renew(ctx context.Context, path string, backup, now time.Time) (r Renewed, err error) {
	if err := layout().Check(ctx, path); err != nil {
		return r, err
	}
	db, err := sqlitefile.Connect(path, 1, "immediate")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := layout().Migrate(ctx, db); err != nil {
		return r, err
	}
	if r.From, _, err = readID(ctx, db); err != nil {
		return r, err
	}
	if err = checkHere(ctx, db); err != nil {
		return r, err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return r, err
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(ctx, "INSERT INTO restorations (ledger, backup, restored) VALUES (?, ?, ?)", r.From, backup.UnixNano(), now.UnixNano()); err != nil {
		return r, err
	}
	// The other ledger may have executed a free call after the backup.
	if _, err := tx.ExecContext(ctx, "UPDATE calls SET state = ?, verdict = 0 WHERE state = ?", StandsUnknown, StandsFree); err != nil {
		return r, err
	}
	err = tx.QueryRowContext(ctx, "UPDATE ledger SET id = lower(hex(randomblob(16))), noted = 1 RETURNING id").Scan(&r.ID)
	if err != nil {
		return r, err
	}
	err = tx.QueryRowContext(ctx, "SELECT max(ifnull((SELECT max(number) FROM calls), 0), (SELECT newest FROM ledger)), (SELECT count(*) FROM calls)").Scan(&r.Newest, &r.Calls)
	if err != nil {
		return r, err
	}
	return r, tx.Commit()
}

// ReadID returns the id of the ledger in a file that no Store uses. It refuses a file with another
// schema than that of a ledger.
func ReadID(ctx context.Context, path string) (string, error) {
	db, err := sqlitefile.Connect(path, 1, "deferred", "query_only(1)")
	if err != nil {
		return "", err
	}
	id, err := readCheckedID(ctx, db)
	if err = errors.Join(err, db.Close()); err != nil {
		return "", fmt.Errorf("reading the id of the ledger %s: %w", path, explain(path, err))
	}
	return id, nil
}

func readCheckedID(ctx context.Context, db *sql.DB) (string, error) {
	if err := layout().CheckSchema(ctx, db); err != nil {
		return "", err
	}
	id, _, err := readID(ctx, db)
	return id, err
}

// readRestoration returns the last restoration; nil if there was none.
func readRestoration(ctx context.Context, db *sql.DB, keep time.Duration) (*Restoration, error) {
	var from string
	var backup, restored int64
	var accepted bool
	err := db.QueryRowContext(ctx, "SELECT ledger, backup, restored, accepted FROM restorations ORDER BY number DESC LIMIT 1").
		Scan(&from, &backup, &restored, &accepted)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := &Restoration{From: from, Backup: time.Unix(0, backup).UTC(), Restored: time.Unix(0, restored).UTC()}
	if !accepted {
		r.Ends = r.Restored.Add(keep)
	}
	return r, nil
}

// AcceptRestoration records that no caller will repeat a call from after the backup, so that the
// store takes unknown ids from all callers. It may be called before the first operation only. It
// does nothing if the store was not restored.
func (s *Store) AcceptRestoration(ctx context.Context) error {
	if s.restored == nil || s.restored.Ends.IsZero() {
		return nil
	}
	db, err := sqlitefile.Connect(s.cfg.Path, 1, "immediate")
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "UPDATE restorations SET accepted = 1")
	if err = errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("accepting that the ledger was restored: %w", explain(s.cfg.Path, err))
	}
	accepted := *s.restored
	accepted.Ends = time.Time{}
	s.restored = &accepted
	return nil
}
