// Package postgrestest runs a real PostgreSQL server for tests, in a separate folder and on a unix
// socket.
//
// It owns the server's process and folder. Tests that use it have the build tag more.
package postgrestest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/store/pgcluster"
	"github.com/toolhost/toolhost/internal/testkit/syncbuf"
)

// superuser is the role that may log in without a password. All other roles need theirs.
const superuser = pgcluster.Superuser

// patience limits every wait.
const patience = 3 * time.Minute

// Server is a server. It is safe for concurrent use, except for Stop, Resume, Restart and Kill,
// which one goroutine at a time may call.
type Server struct {
	cluster  *pgcluster.Cluster
	settings []string // as the server's options -c
	output   syncbuf.Buffer

	mu      sync.Mutex
	process *os.Process
	exited  chan struct{} // closed when the process has ended
}

// Start returns an empty server that accepts connections, and stops it at the end of the test.
// settings are settings of the server, such as "max_connections=5". If PostgreSQL is not installed,
// it skips the test, and with CI=true it fails the test.
func Start(t testing.TB, settings ...string) *Server {
	t.Helper()
	requireIt(t)
	s, err := start(t.Context(), settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.remove)
	return s
}

// requireIt skips the test, or fails it, if PostgreSQL is not installed.
func requireIt(t testing.TB) {
	t.Helper()
	if _, err := pgcluster.Find(); err != nil {
		if ok, _ := strconv.ParseBool(os.Getenv("CI")); ok {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

// start creates and starts a server. The caller removes it.
func start(ctx context.Context, settings []string) (*Server, error) {
	dir, err := os.MkdirTemp("/tmp", "pg-")
	if err != nil {
		return nil, err
	}
	s := &Server{settings: settings}
	if s.cluster, err = pgcluster.Make(ctx, dir); err == nil {
		// Roles other than the superuser have passwords.
		rules := "local replication " + superuser + " trust\nlocal all " + superuser + " trust\nlocal all all scram-sha-256\nhost all all samehost scram-sha-256\n"
		if err = os.WriteFile(filepath.Join(s.cluster.Data(), "pg_hba.conf"), []byte(rules), 0o600); errors.Is(err, fs.ErrPermission) {
			err = nil
		}
	}
	if err == nil {
		err = s.run(ctx)
	}
	if err != nil {
		s.end(syscall.SIGQUIT)
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

// run starts the process and waits until it accepts connections.
func (s *Server) run(ctx context.Context) error {
	if err := s.launch(); err != nil {
		return err
	}
	return s.await(ctx)
}

// Resume starts the server again after Stop or Kill, with the data that it had.
func (s *Server) Resume(t testing.TB) {
	t.Helper()
	if err := s.run(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Stop stops the server and waits for its end. The server ends all sessions, and writes its data.
func (s *Server) Stop() { s.end(syscall.SIGINT) }

// Restart is Stop and Resume.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	s.Stop()
	s.Resume(t)
}

// Kill stops the server as a crash would, and waits for its end. Resume recovers the data.
func (s *Server) Kill() { s.end(syscall.SIGQUIT) }

// end does nothing if the server has ended.
func (s *Server) end(signal syscall.Signal) {
	s.mu.Lock()
	process, exited := s.process, s.exited
	s.mu.Unlock()
	if process == nil {
		return
	}
	_ = process.Signal(signal) // a process that has ended needs none
	<-exited
}

// remove stops the server and removes its folder. The data is not needed any more.
func (s *Server) remove() {
	s.end(syscall.SIGQUIT)
	_ = os.RemoveAll(s.cluster.Folder)
}

// launch starts the process. A goroutine keeps the thread that started it, because the end of the
// thread would end the process. The goroutine ends with the process.
func (s *Server) launch() error {
	cmd := s.cluster.Server(append([]string{"max_connections=100", "max_prepared_transactions=2"}, s.settings...)...)
	endWithParent(cmd.SysProcAttr)
	cmd.Stdout, cmd.Stderr = &s.output, &s.output
	started, exited := make(chan error), make(chan struct{})
	go func() { // ends with the server
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(exited)
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // the exit status does not matter after the test
		}
	}()
	err := <-started
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process, s.exited = cmd.Process, exited
	return err
}

// await waits until the server accepts connections.
func (s *Server) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		_, err := s.cluster.Query(ctx, "postgres", superuser, "", "SELECT 1")
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-s.exited:
			return fmt.Errorf("the server ended:\n%s", s.output.String())
		case <-ctx.Done():
			return fmt.Errorf("the server does not answer: %w\n%s", err, s.output.String())
		}
	}
}

// URL returns the URL of a database for the superuser, as package postgres opens it.
func (s *Server) URL(database string) string { return s.cluster.URL(database) }

// Folder returns the server's folder, which has its socket. A server that listens on TCP finds
// files there, such as its certificate.
func (s *Server) Folder() string { return s.cluster.Folder }

// Address returns the connection string of a database, without a user.
func (s *Server) Address(database string) string {
	return fmt.Sprintf("host=%s dbname=%s sslmode=disable", s.cluster.Folder, database)
}

// ServeTLS makes a server that listens on TCP accept connections with TLS, with a certificate and
// its key in PEM.
func (s *Server) ServeTLS(t testing.TB, certificate, key []byte) {
	t.Helper()
	for name, content := range map[string][]byte{"server.crt": certificate, "server.key": key} {
		path := filepath.Join(s.cluster.Data(), name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		identity := s.cluster.Identity
		if identity == nil {
			continue
		}
		if err := os.Chown(path, int(identity.Uid), int(identity.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	s.Do(t, "postgres", "ALTER SYSTEM SET ssl = on")
	s.Do(t, "postgres", "SELECT pg_reload_conf()")
}

// Create creates an empty database with a new name, and returns the name.
func (s *Server) Create(t testing.TB) string {
	t.Helper()
	name := "db_" + strings.ToLower(rand.Text()[:12])
	s.Do(t, "postgres", "CREATE DATABASE "+name)
	return name
}

// Do runs SQL as the superuser and returns the rows of the last statement.
func (s *Server) Do(t testing.TB, database, sql string) [][]string {
	t.Helper()
	return s.DoAs(t, database, superuser, "", sql)
}

// DoAs is Do for another role.
func (s *Server) DoAs(t testing.TB, database, role, password, sql string) [][]string {
	t.Helper()
	rows, err := s.cluster.Query(t.Context(), database, role, password, sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return rows
}

// Written returns how many bytes of write-ahead log the server has written since it was created.
func (s *Server) Written(t testing.TB) int64 {
	t.Helper()
	n, err := strconv.ParseInt(s.Do(t, superuser, "SELECT pg_current_wal_lsn() - '0/0'")[0][0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
