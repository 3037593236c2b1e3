package sqlite

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
)

// ClaimsSuffix follows the journal's name in the name of the file with the locks.
const ClaimsSuffix = ".claims"

// claims are locks on single bytes of a file beside the journal, one byte for each run. The kernel
// drops a lock when its process ends, so a claim cannot outlive the work, and a reader can test a
// lock without taking it. One file serves any number of runs: the offset of a run's byte is a
// digest of its id, and its 62 bits make collisions improbable. The file stays empty and must never
// be removed. Otherwise two processes could lock two files of the same name and not see each other.
type claims struct {
	path string

	mu      sync.Mutex
	file    *os.File // nil until first used
	claimed map[string]struct{}
}

// Claim implements runstore.Claims.
func (s *Store) Claim(runID string) error {
	c := &s.claims
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, held := c.claimed[runID]; held {
		return nil
	}
	if err := c.open(os.O_CREATE); err != nil {
		return fmt.Errorf("claiming run %s: %w", runID, err)
	}
	lock := lockOf(runID, unix.F_WRLCK)
	switch err := unix.FcntlFlock(c.file.Fd(), setLock, &lock); {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EACCES):
		return runstore.AlreadyClaimed(runID)
	case err != nil:
		return fmt.Errorf("claiming run %s: locking %s: %w", runID, c.path, err)
	}
	if c.claimed == nil {
		c.claimed = make(map[string]struct{})
	}
	c.claimed[runID] = struct{}{}
	return nil
}

// ClaimAll implements runstore.Claims.
func (s *Store) ClaimAll(runIDs []string) (map[string]bool, error) {
	claimed := make(map[string]bool, len(runIDs))
	for _, id := range runIDs {
		switch err := s.Claim(id); {
		case err == nil:
			claimed[id] = true
		case !errors.Is(err, runstore.ErrClaimed):
			return claimed, err
		}
	}
	return claimed, nil
}

// Release implements runstore.Claims.
func (s *Store) Release(runID string) {
	c := &s.claims
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, held := c.claimed[runID]; !held || c.file == nil {
		return
	}
	delete(c.claimed, runID)
	lock := lockOf(runID, unix.F_UNLCK)
	_ = unix.FcntlFlock(c.file.Fd(), setLock, &lock) // unlocking an own lock does not fail
}

// Claimed implements runstore.Claims.
func (s *Store) Claimed(runIDs []string) (map[string]bool, error) {
	claimed := make(map[string]bool, len(runIDs))
	for _, id := range runIDs {
		is, err := s.isClaimed(id)
		if err != nil {
			return nil, err
		}
		if is {
			claimed[id] = true
		}
	}
	return claimed, nil
}

func (s *Store) isClaimed(runID string) (bool, error) {
	c := &s.claims
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, held := c.claimed[runID]; held {
		return true, nil
	}
	if err := c.open(0); errors.Is(err, os.ErrNotExist) {
		return false, nil // no process has claimed a run of this journal yet
	} else if err != nil {
		return false, fmt.Errorf("looking for the process of run %s: %w", runID, err)
	}
	lock := lockOf(runID, unix.F_WRLCK)
	if err := unix.FcntlFlock(c.file.Fd(), getLock, &lock); err != nil {
		return false, fmt.Errorf("looking for the process of run %s: %s: %w", runID, c.path, err)
	}
	return lock.Type != unix.F_UNLCK, nil
}

// open opens the file unless it is open. flag is os.O_CREATE or 0. The caller holds mu.
func (c *claims) open(flag int) error {
	if c.file != nil {
		return nil
	}
	info, err := os.Lstat(c.path)
	if err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file; it must be the file with the locks of runs, so remove what is there", c.path)
	}
	c.file, err = os.OpenFile(c.path, flag|os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	return err
}

// close gives up all claims.
func (c *claims) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.claimed = nil
	if c.file == nil {
		return nil
	}
	err := c.file.Close()
	c.file = nil
	return err
}

// lockOf returns a lock on the byte of a run.
func lockOf(runID string, kind int16) unix.Flock_t {
	sum := sha256.Sum256([]byte(runID))
	return unix.Flock_t{Type: kind, Whence: io.SeekStart, Start: int64(binary.BigEndian.Uint64(sum[:]) >> 2), Len: 1}
}
