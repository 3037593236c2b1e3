package sqlite

import (
	"context"
	"database/sql"
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
// lock without taking it. The offset of a run's byte is its number, which no other run ever gets.
// The kernel goes through a list of all locks of the file for each request, and joins locks of
// adjacent bytes: the runs that a process creates one after the other are one lock. The file stays
// empty and must never be removed. Otherwise two processes could lock two files of the same name
// and not see each other.
type claims struct {
	path string

	mu      sync.Mutex
	file    *os.File         // nil until first used
	claimed map[string]int64 // the numbers of the claimed runs
}

// Claim implements runstore.Claims. The kernel takes no claim from a process that lives, so the
// epoch is 0.
func (s *Store) Claim(runID string) (epoch uint64, err error) {
	if s.claims.holds(runID) {
		return 0, nil
	}
	number, err := s.number(context.Background(), runID)
	if errors.Is(err, sql.ErrNoRows) {
		err = runstore.ErrNotFound
	}
	if err != nil {
		return 0, fmt.Errorf("claiming run %s: %w", runID, err)
	}
	return 0, s.claims.claim(runID, number)
}

func (c *claims) holds(runID string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, held := c.claimed[runID]
	return held
}

// claim claims the run with the number. Several may claim it at the same time: for the same
// process, the lock is the same.
func (c *claims) claim(runID string, number int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, held := c.claimed[runID]; held {
		return nil
	}
	if err := c.open(os.O_CREATE); err != nil {
		return fmt.Errorf("claiming run %s: %w", runID, err)
	}
	if err := c.checkOlder(); err != nil {
		return fmt.Errorf("claiming run %s: %w", runID, err)
	}
	lock := lockOf(number, unix.F_WRLCK)
	switch err := unix.FcntlFlock(c.file.Fd(), setLock, &lock); {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EACCES):
		return runstore.AlreadyClaimed(runID)
	case err != nil:
		return fmt.Errorf("claiming run %s: locking %s: %w", runID, c.path, err)
	}
	if c.claimed == nil {
		c.claimed = make(map[string]int64)
	}
	c.claimed[runID] = number
	return nil
}

// ClaimAll implements runstore.Claims.
func (s *Store) ClaimAll(runIDs []string) (map[string]uint64, error) {
	claimed := make(map[string]uint64, len(runIDs))
	for _, id := range runIDs {
		switch epoch, err := s.Claim(id); {
		case err == nil:
			claimed[id] = epoch
		case !errors.Is(err, runstore.ErrClaimed):
			return claimed, err
		}
	}
	return claimed, nil
}

// Release implements runstore.Claims.
func (s *Store) Release(runID string, _ uint64) {
	c := &s.claims
	c.mu.Lock()
	defer c.mu.Unlock()
	number, held := c.claimed[runID]
	if !held || c.file == nil {
		return
	}
	delete(c.claimed, runID)
	lock := lockOf(number, unix.F_UNLCK)
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
	if s.claims.holds(runID) {
		return true, nil
	}
	number, err := s.number(context.Background(), runID)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("looking for the process of run %s: %w", runID, err)
	}
	return s.claims.isClaimed(runID, number)
}

// isClaimed reports whether a process has claimed the run with the number.
func (c *claims) isClaimed(runID string, number int64) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, held := c.claimed[runID]; held {
		return true, nil
	}
	switch err := c.open(0); {
	case errors.Is(err, os.ErrNotExist): // no process has claimed a run of this journal yet
		return false, nil
	case err != nil:
		return false, fmt.Errorf("looking for the process of run %s: %w", runID, err)
	}
	lock := lockOf(number, unix.F_WRLCK)
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

// olderLocks is where the locks of agentds of before begin: at digests of 62 bits of the ids, where
// no number of a run is.
const olderLocks = 1 << 40

// checkOlder returns an error if an agentd of before works on the journal, which does not see the
// claims of this one.
func (c *claims) checkOlder() error {
	lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart, Start: olderLocks}
	if err := unix.FcntlFlock(c.file.Fd(), getLock, &lock); err != nil {
		return fmt.Errorf("looking for the locks of an older agentd: %s: %w", c.path, err)
	}
	if lock.Type != unix.F_UNLCK {
		return fmt.Errorf("an older agentd works on runs of this journal (it locks %s); end it first, because it does not see what this one works on", c.path)
	}
	return nil
}

// lockOf returns a lock on the byte of a run.
func lockOf(number int64, kind int16) unix.Flock_t {
	return unix.Flock_t{Type: kind, Whence: io.SeekStart, Start: number, Len: 1}
}
