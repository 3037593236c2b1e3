package postgrestest

import (
	"fmt"
	"os"
	"testing"
)

// Standby returns a server that follows this one, with the same roles, databases and settings, and
// stops it at the end of the test. It follows again after Resume.
func (s *Server) Standby(t testing.TB) *Server {
	t.Helper()
	standby, err := s.follow(t)
	if err != nil {
		t.Fatalf("making a standby: %v", err)
	}
	t.Cleanup(standby.remove)
	return standby
}

func (s *Server) follow(t testing.TB) (_ *Server, err error) {
	standby := &Server{bin: s.bin, settings: s.settings}
	if standby.dir, err = os.MkdirTemp("/tmp", "pg-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			standby.remove()
		}
	}()
	if err := standby.changeOwner(); err != nil {
		return nil, err
	}
	cmd := standby.command(t.Context(), "pg_basebackup", "-D", standby.data(), "-h", s.dir, "-U", superuser, "--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast", "--no-sync")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("running pg_basebackup: %w\n%s", err, out)
	}
	return standby, standby.run(t.Context())
}

// Promote makes a standby a server that accepts writes, with what it has.
func (s *Server) Promote(t testing.TB) {
	t.Helper()
	s.Do(t, superuser, "SELECT pg_promote()")
}

// AwaitStandby waits until a standby has all that this server has written.
func (s *Server) AwaitStandby(t testing.TB, standby *Server) {
	t.Helper()
	at := s.Do(t, superuser, "SELECT pg_current_wal_flush_lsn()")[0][0]
	for standby.Do(t, superuser, "SELECT pg_last_wal_replay_lsn() >= '"+at+"'")[0][0] != "t" {
	}
}
