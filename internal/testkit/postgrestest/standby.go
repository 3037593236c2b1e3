package postgrestest

import (
	"errors"
	"os"
	"syscall"
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

func (s *Server) follow(t testing.TB) (*Server, error) {
	dir, err := os.MkdirTemp("/tmp", "pg-")
	if err != nil {
		return nil, err
	}
	standby := &Server{settings: s.settings}
	if standby.cluster, err = s.cluster.Follow(t.Context(), dir); err == nil {
		err = standby.run(t.Context())
	}
	if err != nil {
		standby.end(syscall.SIGQUIT)
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return standby, nil
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
