// Package pgtest runs a real PostgreSQL server for tests, in a separate folder and on a unix socket
// only.
//
// It owns the server's process and folder.
package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// superuser is the role that may log in without a password. All other roles need theirs.
const superuser = "postgres"

// patience limits every wait.
const patience = 60 * time.Second

// Server is a running server. It is safe for concurrent use.
type Server struct {
	dir, socket string
	process     *os.Process
	exited      chan struct{} // closed when the server has ended
	output      lockedBuffer
}

// Start returns an empty server that accepts connections, and stops it at the end of the test. If
// PostgreSQL is not installed, it skips the test.
func Start(t testing.TB) *Server {
	t.Helper()
	bin := find()
	if bin == "" {
		t.Skip("PostgreSQL is not installed: there is no initdb in /usr/lib/postgresql/*/bin or the PATH; install the package postgresql to run this test")
	}
	dir, err := os.MkdirTemp("", "pg-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	s := &Server{dir: dir, socket: dir, exited: make(chan struct{})}
	identity, err := s.own()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.initialize(t.Context(), bin, identity); err != nil {
		t.Fatal(err)
	}
	if err := s.launch(bin, identity); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	s.await(t)
	return s
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
	return filepath.Dir(found[len(found)-1])
}

// own makes another user the owner of the folder, because PostgreSQL refuses to run as root.
func (s *Server) own() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	const nobody = 65534
	if err := os.Chown(s.dir, nobody, nobody); err != nil {
		return nil, fmt.Errorf("giving the server its folder: %w", err)
	}
	return &syscall.Credential{Uid: nobody, Gid: nobody}, nil
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) command(ctx context.Context, identity *syscall.Credential, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = s.dir, []string{"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "HOME=" + s.dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: identity}
	return cmd
}

func (s *Server) initialize(ctx context.Context, bin string, identity *syscall.Credential) error {
	cmd := s.command(ctx, identity, filepath.Join(bin, "initdb"), "-D", s.data(), "-U", superuser, "-E", "UTF8", "--no-sync", "--auth=trust")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("running initdb: %w\n%s", err, out)
	}
	rules := "local all " + superuser + " trust\nlocal all all scram-sha-256\n"
	if err := os.WriteFile(filepath.Join(s.data(), "pg_hba.conf"), []byte(rules), 0o600); err != nil && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

// launch starts the server. A goroutine keeps the thread that started the server, because the end
// of the thread would end the server. The goroutine ends with the server.
func (s *Server) launch(bin string, identity *syscall.Credential) error {
	cmd := s.command(context.Background(), identity, filepath.Join(bin, "postgres"), "-D", s.data(), "-k", s.socket,
		"-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=40", "-c", "max_prepared_transactions=2")
	endWithParent(cmd.SysProcAttr)
	cmd.Stdout, cmd.Stderr = &s.output, &s.output
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(s.exited)
		err := cmd.Start()
		s.process = cmd.Process
		started <- err
		if err == nil {
			_ = cmd.Wait() // the exit status does not matter after the test
		}
	}()
	return <-started
}

func (s *Server) stop() {
	_ = s.process.Signal(syscall.SIGQUIT) // the data is not needed any more
	<-s.exited
}

func (s *Server) await(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := pgconn.Connect(ctx, s.Address("postgres")+" user="+superuser)
		if err == nil {
			_ = conn.Close(ctx)
			return
		}
		select {
		case <-tick.C:
		case <-s.exited:
			t.Fatalf("the server ended:\n%s", s.output.String())
		case <-ctx.Done():
			t.Fatalf("the server does not answer: %v\n%s", err, s.output.String())
		}
	}
}

// Address returns the connection string of a database, without a user.
func (s *Server) Address(database string) string {
	return fmt.Sprintf("host=%s dbname=%s sslmode=disable", s.socket, database)
}

// Socket returns the folder of the server's socket.
func (s *Server) Socket() string { return s.socket }

// Do runs SQL as the superuser and returns the rows of the last statement.
func (s *Server) Do(t testing.TB, database, sql string) [][]string {
	t.Helper()
	return s.DoAs(t, database, superuser, "", sql)
}

// DoAs is Do for another role.
func (s *Server) DoAs(t testing.TB, database, role, password, sql string) [][]string {
	t.Helper()
	address := s.Address(database) + " user=" + role
	if password != "" {
		address += " password='" + strings.ReplaceAll(password, "'", `\'`) + "'"
	}
	conn, err := pgconn.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	results, err := conn.Exec(t.Context(), sql).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	var rows [][]string
	if len(results) > 0 {
		for _, row := range results[len(results)-1].Rows {
			var values []string
			for _, value := range row {
				values = append(values, string(value))
			}
			rows = append(rows, values)
		}
	}
	return rows
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
