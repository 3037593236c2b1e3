//go:build more

package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/internal/testkit/syncbuf"
	"github.com/toolhost/toolhost/internal/testkit/testca"
	"github.com/toolhost/toolhost/server/internal/store/postgres"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(postgrestest.Main(m)) }

func open(t *testing.T, cfg postgres.Config) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

// run runs statements with Do.
func run(ctx context.Context, db *postgres.DB, statements ...string) error {
	return db.Do(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		for _, statement := range statements {
			if _, err := conn.Exec(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
}

func value(t *testing.T, db *postgres.DB, query string) (text string) {
	t.Helper()
	err := db.Do(t.Context(), func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, query).Scan(&text)
	})
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return text
}

// Each connection has the bounds of the configuration, and commits are durable.
func TestSettings(t *testing.T) {
	s := postgrestest.Shared(t)
	name := s.Create(t)
	s.Do(t, "postgres", "ALTER DATABASE "+name+" SET synchronous_commit = off")
	db := open(t, postgres.Config{URL: s.URL(name) + "&statement_timeout=0", Application: "unit", LockTimeout: 1500 * time.Millisecond})
	for setting, want := range map[string]string{
		"application_name": "unit", "statement_timeout": "10s", "lock_timeout": "1500ms",
		"idle_in_transaction_session_timeout": "10s", "synchronous_commit": "on", "client_encoding": "UTF8",
	} {
		if got := value(t, db, "SELECT current_setting('"+setting+"')"); got != want {
			t.Errorf("%s is %s, want %s", setting, got, want)
		}
	}
}

func TestTransactions(t *testing.T) {
	db := open(t, postgres.Config{URL: postgrestest.Database(t)})
	if err := run(t.Context(), db, "CREATE TABLE notes (n int PRIMARY KEY)"); err != nil {
		t.Fatal(err)
	}
	insert := func(n int, then error) error {
		return db.InTx(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "INSERT INTO notes VALUES ($1)", n); err != nil {
				return err
			}
			return then
		})
	}
	ours := errors.New("ours")
	if err := insert(1, ours); !errors.Is(err, ours) {
		t.Error(err)
	}
	if err := insert(1, nil); err != nil {
		t.Error(err)
	}
	if err := insert(1, nil); !errors.Is(err, postgres.ErrConflict) || postgres.MayHaveRun(err) {
		t.Errorf("the second row: %v", err)
	}
	if n := value(t, db, "SELECT count(*)::text FROM notes"); n != "1" {
		t.Errorf("%s rows", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(ctx, db, "SELECT 1"); !errors.Is(err, context.Canceled) || errors.Is(err, postgres.ErrUnavailable) {
		t.Errorf("a caller that left: %v", err)
	}
	db.Close()
	if err := run(t.Context(), db, "SELECT 1"); !errors.Is(err, postgres.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// A statement, a lock and the wait for a connection are bounded, and none of them counts as a
// database that is gone.
func TestBounds(t *testing.T) {
	db := open(t, postgres.Config{URL: postgrestest.Database(t), PoolSize: 2, StatementTimeout: 200 * time.Millisecond, LockTimeout: 50 * time.Millisecond})
	if err := run(t.Context(), db, "SELECT pg_sleep(600)"); !errors.Is(err, postgres.ErrTimeout) || postgres.MayHaveRun(err) {
		t.Errorf("a slow statement: %v", err)
	}
	if err := run(t.Context(), db, "CREATE TABLE notes (n int)"); err != nil {
		t.Fatal(err)
	}
	err := db.InTx(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "LOCK TABLE notes"); err != nil {
			return err
		}
		if err := run(ctx, db, "SELECT * FROM notes"); !errors.Is(err, postgres.ErrTimeout) {
			t.Errorf("a locked table: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	err = db.Do(t.Context(), func(ctx context.Context, _ *pgx.Conn) error {
		return db.Do(ctx, func(context.Context, *pgx.Conn) error { return run(t.Context(), db, "SELECT 1") })
	})
	if !errors.Is(err, postgres.ErrTimeout) || postgres.MayHaveRun(err) || !strings.Contains(err.Error(), "in use") {
		t.Errorf("without a connection: %v", err)
	}
	if err := run(t.Context(), db, "SELECT 1"); err != nil || !db.Gone().IsZero() {
		t.Errorf("afterwards: %v, gone since %v", err, db.Gone())
	}
}

// A DB notices that the server has gone and that it is back, also if nothing uses the DB.
func TestServerComesBack(t *testing.T) {
	s := postgrestest.Start(t)
	var log syncbuf.Buffer
	db := open(t, postgres.Config{URL: s.URL("postgres"), Log: slog.New(slog.NewTextHandler(&log, nil))})
	session, err := db.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close(context.Background())
	s.Kill()
	if _, err := session.Exec(t.Context(), "SELECT 1"); !errors.Is(postgres.Error(err), postgres.ErrUnavailable) {
		t.Errorf("a session that has ended: %v", err)
	}
	if err := run(t.Context(), db, "SELECT 1"); !errors.Is(err, postgres.ErrUnavailable) || db.Gone().IsZero() {
		t.Errorf("without a server: %v, gone since %v", err, db.Gone())
	}
	s.Resume(t)
	eventually.Holds(t, "the database is back", func() bool { return db.Gone().IsZero() })
	if err := run(t.Context(), db, "SELECT 1"); err != nil {
		t.Error(err)
	}
	if text := log.String(); strings.Count(text, "the database is gone") != 1 || strings.Count(text, "the database is back") != 1 {
		t.Errorf("the log is\n%s", text)
	}
}

func TestRefusesReadOnlyServers(t *testing.T) {
	s := postgrestest.Start(t, "default_transaction_read_only=on")
	_, err := postgres.Open(t.Context(), postgres.Config{URL: s.URL("postgres")})
	if !errors.Is(err, postgres.ErrUnavailable) || !strings.Contains(err.Error(), "read only") {
		t.Error(err)
	}
}

// With TLS, the server has to prove its name.
func TestTLS(t *testing.T) {
	const address = "127.84.76.83"
	s := postgrestest.Start(t, "listen_addresses="+address)
	ca, other := testca.New(t), testca.New(t)
	s.Do(t, "postgres", "CREATE ROLE ada LOGIN PASSWORD 's3same'")
	certificate, key := ca.Issue(t, address)
	s.ServeTLS(t, certificate, key)
	at := func(password, parameters string) error {
		db, err := postgres.Open(t.Context(), postgres.Config{URL: "postgres://ada:" + password + "@" + address + "/postgres?" + parameters})
		if err != nil {
			return err
		}
		defer db.Close()
		if encrypted := value(t, db, "SELECT ssl::text FROM pg_stat_ssl WHERE pid = pg_backend_pid()"); encrypted != "true" {
			t.Errorf("%s: encrypted: %s", parameters, encrypted)
		}
		return nil
	}
	eventually.Shows(t, "the server has its certificate", func() (bool, any) {
		err := at("s3same", "sslmode=verify-full&sslrootcert="+url.QueryEscape(ca.Path))
		return err == nil, err
	})
	for parameters, want := range map[string]string{
		"sslmode=verify-full&sslrootcert=" + url.QueryEscape(other.Path): "certificate",
		"sslmode=verify-full": "certificate",
	} {
		if err := at("s3same", parameters); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", parameters, err)
		}
	}
	err := at("wr0ng", "sslmode=verify-full&sslrootcert="+url.QueryEscape(ca.Path))
	if err == nil || !strings.Contains(err.Error(), "password authentication failed") || strings.Contains(err.Error(), "wr0ng") {
		t.Errorf("the wrong password: %v", err)
	}
	certificate, key = ca.Issue(t, "another.example")
	s.ServeTLS(t, certificate, key)
	eventually.Shows(t, "the name of the server is checked", func() (bool, any) {
		err := at("s3same", "sslmode=verify-full&sslrootcert="+url.QueryEscape(ca.Path))
		return err != nil && strings.Contains(err.Error(), address), err
	})
}

// A password comes from the environment, too.
func TestPasswordOfTheEnvironment(t *testing.T) {
	s := postgrestest.Shared(t)
	role := "role_" + s.Create(t)
	s.Do(t, "postgres", "CREATE ROLE "+role+" LOGIN PASSWORD 's3same'")
	address := strings.Replace(s.URL("postgres"), "postgres@", role+"@", 1)
	if _, err := postgres.Open(t.Context(), postgres.Config{URL: address}); err == nil {
		t.Error("the server asks for no password")
	}
	t.Setenv("PGPASSWORD", "s3same")
	open(t, postgres.Config{URL: address})
	file := t.TempDir() + "/passwords"
	if err := os.WriteFile(file, []byte(fmt.Sprintf("*:*:*:%s:s3same\n", role)), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PGPASSWORD", "")
	open(t, postgres.Config{URL: address + "&passfile=" + url.QueryEscape(file)})
}
