// Package postgrestest runs a real PostgreSQL server for tests, in a separate folder and on a unix
// socket.
//
// It owns the server's process and folder. Tests that use it have the build tag more.
package postgrestest

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// superuser is the role that may log in without a password. All other roles need theirs.
const superuser = "postgres"

// patience limits every wait.
const patience = 3 * time.Minute

// Server is a server. It is safe for concurrent use, except for Stop, Resume, Restart and Kill,
// which one goroutine at a time may call.
type Server struct {
	dir, bin string
	identity *syscall.Credential
	settings []string // as the server's options -c
	output   lockedBuffer

	mu      sync.Mutex
	process *os.Process
	exited  chan struct{} // closed when the process has ended
}

// Start returns an empty server that accepts connections, and stops it at the end of the test.
// settings are settings of the server, such as "max_connections=5". If PostgreSQL is not installed,
// it skips the test, and with CI=true it fails the test.
func Start(t testing.TB, settings ...string) *Server {
	t.Helper()
	bin := find()
	if bin == "" {
		missing(t)
	}
	s, err := start(t.Context(), bin, settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.remove)
	return s
}

func missing(t testing.TB) {
	t.Helper()
	const message = "PostgreSQL is not installed: there is no initdb in /usr/lib/postgresql/*/bin or the PATH; install the package postgresql to run this test"
	if ok, _ := strconv.ParseBool(os.Getenv("CI")); ok {
		t.Fatal(message)
	}
	t.Skip(message)
}

// start creates and starts a server. The caller removes it.
func start(ctx context.Context, bin string, settings []string) (_ *Server, err error) {
	s := &Server{bin: bin, settings: settings}
	if s.dir, err = os.MkdirTemp("/tmp", "pg-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.remove()
		}
	}()
	if err := s.changeOwner(); err != nil {
		return nil, err
	}
	if err := s.initialize(ctx); err != nil {
		return nil, err
	}
	return s, s.run(ctx)
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
	_ = os.RemoveAll(s.dir)
}

// find returns the folder with PostgreSQL's programs, or "".
func find() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if path, err := exec.LookPath("initdb"); err == nil {
		found = append(found, path)
	}
	if len(found) == 0 {
		return ""
	}
	// A link in the PATH leads to the folder that has all programs.
	initdb, err := filepath.EvalSymlinks(found[len(found)-1])
	if err != nil {
		return ""
	}
	return filepath.Dir(initdb)
}

// changeOwner makes another user the owner of the folder, because PostgreSQL refuses to run as
// root.
func (s *Server) changeOwner() error {
	if os.Geteuid() != 0 {
		return nil
	}
	const nobody = 65534
	if err := os.Chown(s.dir, nobody, nobody); err != nil {
		return fmt.Errorf("giving the server its folder: %w", err)
	}
	s.identity = &syscall.Credential{Uid: nobody, Gid: nobody}
	return nil
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, program), args...)
	cmd.Dir, cmd.Env = s.dir, []string{"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "HOME=" + s.dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.identity}
	return cmd
}

func (s *Server) initialize(ctx context.Context) error {
	cmd := s.command(ctx, "initdb", "-D", s.data(), "-U", superuser, "-E", "UTF8", "--no-sync", "--auth=trust")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("running initdb: %w\n%s", err, out)
	}
	rules := "local replication " + superuser + " trust\nlocal all " + superuser + " trust\nlocal all all scram-sha-256\nhost all all samehost scram-sha-256\n"
	if err := os.WriteFile(filepath.Join(s.data(), "pg_hba.conf"), []byte(rules), 0o600); err != nil && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

// launch starts the process. A goroutine keeps the thread that started it, because the end of the
// thread would end the process. The goroutine ends with the process.
func (s *Server) launch() error {
	args := []string{"-D", s.data(), "-k", s.dir}
	for _, setting := range append([]string{"listen_addresses=", "fsync=off", "max_connections=100", "max_prepared_transactions=2"}, s.settings...) {
		args = append(args, "-c", setting)
	}
	cmd := s.command(context.Background(), "postgres", args...)
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
		_, err := s.query(ctx, "postgres", superuser, "", "SELECT 1")
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
func (s *Server) URL(database string) string {
	return fmt.Sprintf("postgres://%s@/%s?host=%s", superuser, database, url.QueryEscape(s.dir))
}

// Folder returns the server's folder, which has its socket. A server that listens on TCP finds
// files there, such as its certificate.
func (s *Server) Folder() string { return s.dir }

// Address returns the connection string of a database, without a user.
func (s *Server) Address(database string) string {
	return fmt.Sprintf("host=%s dbname=%s sslmode=disable", s.dir, database)
}

// ServeTLS makes a server that listens on TCP accept connections with TLS, with a certificate and
// its key in PEM.
func (s *Server) ServeTLS(t testing.TB, certificate, key []byte) {
	t.Helper()
	for name, content := range map[string][]byte{"server.crt": certificate, "server.key": key} {
		path := filepath.Join(s.data(), name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if s.identity == nil {
			continue
		}
		if err := os.Chown(path, int(s.identity.Uid), int(s.identity.Gid)); err != nil {
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
	rows, err := s.query(t.Context(), database, role, password, sql)
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

// The separators of psql's output. No test has them in its data.
const (
	endOfField = "\x1f"
	endOfRow   = "\x1e"
)

// query runs SQL with psql, so that the module of the SDK requires no driver. It returns the rows
// of the last statement.
func (s *Server) query(ctx context.Context, database, role, password, sql string) ([][]string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, "psql"), "--no-psqlrc", "--no-password", "--quiet", "--no-align", "--tuples-only",
		"--field-separator="+endOfField, "--record-separator="+endOfRow, "--set=ON_ERROR_STOP=1", "--set=SHOW_ALL_RESULTS=off",
		"--command="+sql, s.Address(database)+" user="+role)
	cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "PGPASSWORD=" + password, "PGPASSFILE=/dev/null"}
	var out, failure bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &failure
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, strings.TrimSpace(failure.String()))
	}
	text, some := strings.CutSuffix(out.String(), "\n")
	if !some {
		return nil, nil
	}
	var rows [][]string
	for row := range strings.SplitSeq(text, endOfRow) {
		rows = append(rows, strings.Split(row, endOfField))
	}
	return rows, nil
}

// lockedBuffer is a buffer that the server writes while a test reads it.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
