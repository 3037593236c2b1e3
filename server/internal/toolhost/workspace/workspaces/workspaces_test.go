package workspaces_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/server/internal/toolhost/workspace/workspaces"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, cfg workspaces.Config) *workspaces.Store {
	t.Helper()
	cfg.Logger = slog.New(slog.DiscardHandler)
	s, err := workspaces.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func claim(t *testing.T, s *workspaces.Store, owner workspaces.Owner) *workspaces.Claim {
	t.Helper()
	c, err := s.Claim(owner)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func write(t *testing.T, path string, size int) {
	t.Helper()
	if err := os.WriteFile(path, []byte(strings.Repeat("x", size)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Each owner has its own folder, whatever the names of tenants and sessions are. No name becomes a
// part of the path.
func TestOwnersHaveTheirOwnFolders(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "workspaces")
	s := open(t, workspaces.Config{Folder: folder})
	seen := map[string]workspaces.Owner{}
	for _, owner := range []workspaces.Owner{
		{Tenant: "red"}, {Tenant: "blue"}, {Tenant: "red", Principal: "red/ada"}, {Tenant: "red", Principal: "red/ada", Session: "s"},
		{Tenant: "red", Principal: "red/ad", Session: "as"}, {Tenant: "red", Principal: "red/ada", Session: "../blue"},
		{Tenant: "red", Principal: "red/ada", Session: "/etc"}, {Tenant: "red", Session: "red/ada"}, {Tenant: "red", Principal: "red/ada", Session: "s\x00"},
		{Tenant: "red", Principal: "red/ada", Session: strings.Repeat("long", 1000)},
	} {
		c := claim(t, s, owner)
		again := claim(t, s, owner)
		if other, taken := seen[c.Path()]; taken || again.Path() != c.Path() {
			t.Errorf("%+v and %+v have the folder %s", owner, other, c.Path())
		}
		seen[c.Path()] = owner
		info, err := os.Stat(c.Path())
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("the folder of %+v: %v, %v", owner, info, err)
		}
		if rel, err := filepath.Rel(folder, c.Path()); err != nil || strings.Count(rel, "/") != 1 || strings.ContainsAny(rel, ".%\x00") || len(rel) > 60 {
			t.Errorf("the folder of %+v is %s", owner, rel)
		}
		c.Release()
		again.Release()
	}
	if _, err := workspaces.Open(workspaces.Config{Folder: folder, Logger: slog.New(slog.DiscardHandler)}); err == nil {
		t.Error("two toolhosts use one folder")
	}
}

// A workspace stays while a process uses it, and for the time in Keep after that.
func TestOldWorkspacesAreRemoved(t *testing.T) {
	now, folder := time.Now(), t.TempDir()
	cfg := workspaces.Config{Folder: folder, Keep: time.Hour, Now: func() time.Time { return now }}
	s := open(t, cfg)
	red, blue := claim(t, s, workspaces.Owner{Tenant: "red"}), claim(t, s, workspaces.Owner{Tenant: "blue"})
	outside := filepath.Join(t.TempDir(), "outside")
	write(t, outside, 1)
	if err := os.Symlink(filepath.Dir(outside), filepath.Join(red.Path(), "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(red.Path(), "closed", "in"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(red.Path(), "closed"), 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(folder, "foreign"), 0o700); err != nil {
		t.Fatal(err)
	}
	now = now.Add(2 * time.Hour)
	s.Sweep()
	there := func(path string) bool { _, err := os.Lstat(path); return err == nil }
	if !there(red.Path()) || !there(blue.Path()) {
		t.Fatal("a workspace was removed while it was in use")
	}
	red.Release()
	now = now.Add(59 * time.Minute)
	s.Sweep()
	if !there(red.Path()) {
		t.Error("the workspace was removed too early")
	}
	now = now.Add(time.Minute)
	s.Sweep()
	if there(filepath.Dir(red.Path())) || !there(blue.Path()) {
		t.Error("the old workspace was not removed, or another one was")
	}
	if !there(outside) || !there(filepath.Join(folder, "foreign")) {
		t.Error("something that is no workspace was removed")
	}
	if again := claim(t, s, workspaces.Owner{Tenant: "red"}); !there(again.Path()) {
		t.Error("the workspace is not made again")
	} else {
		again.Release()
	}
	blue.Release()
}

// A workspace that becomes larger than its quota ends the processes that can write it. The next
// ones are limited until the workspace is a tenth below the quota.
func TestQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, workspaces.Config{Folder: t.TempDir(), Quota: 1 << 20})
		red, blue := workspaces.Owner{Tenant: "red"}, workspaces.Owner{Tenant: "blue"}
		first, other := claim(t, s, red), claim(t, s, blue)
		over := func(c *workspaces.Claim) bool {
			time.Sleep(time.Minute)
			synctest.Wait()
			select {
			case <-c.Over():
				return true
			default:
				return false
			}
		}
		large := filepath.Join(first.Path(), "large")
		write(t, large, 900<<10)
		if over(first) || first.Limited() {
			t.Error("a workspace below its quota ends a process")
		}
		write(t, large, 1100<<10)
		if !over(first) || over(other) {
			t.Error("the workspace over its quota does not end its process, or another one does")
		}
		second := claim(t, s, red) // while the first process ends
		first.Release()
		if !second.Limited() || over(second) {
			t.Error("the next process may write")
		}
		write(t, large, 1000<<10)
		if over(second) {
			t.Error("the limit ends too early")
		}
		if err := os.Remove(large); err != nil {
			t.Fatal(err)
		}
		if !over(second) {
			t.Error("the limited process goes on")
		}
		second.Release()
		third := claim(t, s, red)
		if third.Limited() {
			t.Error("the workspace is small, and its process is limited")
		}
		for i := range 1100 { // files without content count, too
			write(t, filepath.Join(third.Path(), fmt.Sprint(i)), 0)
		}
		if !over(third) {
			t.Error("the number of files has no bound")
		}
		third.Release()
		if fourth := claim(t, s, red); !fourth.Limited() {
			t.Error("a new process does not see that the quota is full")
		} else {
			fourth.Release()
		}
		other.Release()
	})
}

// A symbolic link out of the workspace adds nothing to its size, and a sparse file only what it
// takes.
func TestQuotaCountsTheWorkspaceOnly(t *testing.T) {
	outside := t.TempDir()
	write(t, filepath.Join(outside, "large"), 4<<20)
	folder := t.TempDir()
	s := open(t, workspaces.Config{Folder: folder, Quota: 1 << 20})
	c := claim(t, s, workspaces.Owner{Tenant: "red"})
	for _, link := range []string{outside, filepath.Join(outside, "large"), "..", "."} {
		if err := os.Symlink(link, filepath.Join(c.Path(), fmt.Sprintf("link%d", len(link)))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(filepath.Join(c.Path(), "sparse"), 1); err == nil {
		t.Fatal("there is a file already")
	}
	write(t, filepath.Join(c.Path(), "sparse"), 0)
	if err := os.Truncate(filepath.Join(c.Path(), "sparse"), 1<<40); err != nil {
		t.Fatal(err)
	}
	c.Release()
	if again := claim(t, s, workspaces.Owner{Tenant: "red"}); again.Limited() {
		t.Error("what is outside of the workspace counts")
	} else {
		again.Release()
	}
}
