package workspaces

import (
	"io/fs"
	"os"
	"syscall"
	"time"
)

const (
	// entryBytes is what each file and folder counts at least. It bounds their number, and the time
	// of a walk.
	entryBytes = 1 << 10
	// interval is the shortest pause between two walks through a workspace. A walk that takes long is
	// followed by a longer pause.
	interval = time.Second
	// share is how many times as long as the last walk the pause is.
	share = 20
)

// Claim is the right of one process to use a workspace.
type Claim struct {
	usage   *usage
	name    string
	over    chan struct{}
	limited bool
}

// Path returns the absolute path of the workspace.
func (c *Claim) Path() string { return c.usage.path }

// Over is closed when the process has to end because of the quota: the workspace has become larger,
// or it is small enough again for a process that started as Limited.
func (c *Claim) Over() <-chan struct{} { return c.over }

// Limited reports whether the workspace was larger than its quota when the process claimed it. The
// process may remove files then, but must not be able to write any.
func (c *Claim) Limited() bool { return c.limited }

// Quota returns the most bytes of the workspace; 0: unlimited.
func (c *Claim) Quota() int64 { return c.usage.store.cfg.Quota }

// Release ends the claim. The process must be gone.
func (c *Claim) Release() {
	u := c.usage
	s := u.store
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(u.claims, c)
	if len(u.claims) > 0 {
		return
	}
	delete(s.in, c.name)
	close(u.idle)
	if err := s.write(c.name, u.owner); err != nil {
		s.cfg.Logger.Warn("the use of a workspace is not recorded", "folder", c.name, "error", err)
	}
}

// usage is a workspace that processes claim.
//
// Without root's rights, the kernel offers no quota for a folder. So a goroutine walks through the
// workspace from time to time, and ends the processes that use it when it is too large. Between two
// walks a process can write more than the quota, at most as much as the disk takes in that time. A
// walk does not see a file that was removed while a process has it open; the disk space is free
// when the process ends. The next processes cannot write, so that tools can only remove files,
// until the workspace is a tenth below its quota.
type usage struct {
	store *Store
	owner Owner
	path  string
	idle  chan struct{} // closed with the last claim

	// The mutex of the store guards these.
	claims   map[*Claim]struct{}
	measured int64 // bytes, at the last walk
}

// watch measures the workspace until the last claim is released.
func (u *usage) watch() {
	timer := time.NewTimer(interval)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-u.idle:
			return
		case <-u.store.done:
			return
		}
		began := time.Now()
		u.check(u.store.measure(u))
		timer.Reset(max(interval, share*time.Since(began)))
	}
}

// check ends the processes that the size of the workspace concerns.
func (u *usage) check(size int64) {
	s := u.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if size > s.cfg.Quota && u.measured <= s.cfg.Quota {
		s.cfg.Logger.Warn("a workspace is larger than its quota; processes that can write it end", "tenant", u.owner.Tenant,
			"principal", u.owner.Principal, "session", u.owner.Session, "path", u.path, "quota", s.cfg.Quota)
	}
	u.measured = size
	for c := range u.claims {
		if ends := !c.limited && size > s.cfg.Quota || c.limited && size <= s.cfg.Quota/10*9; ends && !c.ended() {
			close(c.over)
		}
	}
}

func (c *Claim) ended() bool {
	select {
	case <-c.over:
		return true
	default:
		return false
	}
}

// measure returns how many bytes a workspace takes on the disk. It stops soon after the quota, so
// that its time is bounded. It follows no symbolic link, also if a tool replaces a folder by one
// meanwhile.
func (s *Store) measure(u *usage) (total int64) {
	root, err := os.OpenRoot(u.path)
	if err != nil {
		return 0
	}
	defer root.Close()
	_ = fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		if total > s.cfg.Quota {
			return fs.SkipAll
		}
		total += entryBytes
		if err != nil {
			return nil // a tool has just removed it, or closed it to its owner; it counts as an entry
		}
		if info, err := e.Info(); err == nil {
			if stat, ok := info.Sys().(*syscall.Stat_t); ok && !e.IsDir() {
				total += max(stat.Blocks*512-entryBytes, 0)
			}
		}
		return nil
	})
	return total
}
