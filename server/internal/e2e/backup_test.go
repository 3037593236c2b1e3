package e2e_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/tool"
)

// maintain runs `toolhost backup` or `toolhost restore` for the state folder of h.
func (h *toolhost) maintain(t *testing.T, args ...string) result {
	t.Helper()
	return h.do(t, append(args, "--state", h.state)...)
}

// stateReport is the output of both commands with -o json.
type stateReport struct {
	File, Digest, Ledger, Aside string
	Former                      string `json:"former_ledger"`
	Calls                       int
	Warnings                    []string
}

// done runs a command that must succeed and returns its report.
func (h *toolhost) done(t *testing.T, args ...string) (r stateReport) {
	t.Helper()
	ran := h.maintain(t, append(args, "-o", "json")...)
	ran.exits(t, 0)
	if err := json.Unmarshal([]byte(ran.stdout), &r); err != nil {
		t.Fatalf("%v\n%s%s", err, ran.stdout, ran.stderr)
	}
	return r
}

// callers is the number of callers that write while a backup is made.
const callers = 64

// A backup that is made while 64 callers write has every call that was answered before it began.
// The restored ledger answers these calls again, and executes no call from after the backup: its
// id ends with outcome_unknown, whether the caller names the former ledger or none.
func TestBackupUnderLoad(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	installStamped(t, h, "1", "", "")
	h.serve(t)
	c := h.dial(t)
	if _, err := c.ListTools(t.Context(), tool.Query{}); err != nil {
		t.Fatal(err)
	}
	former := c.LedgerID()

	var mu sync.Mutex
	var answered []*writing // in the order of their answers
	var number atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	var load sync.WaitGroup
	for range callers {
		load.Go(func() { // ends with ctx
			for ctx.Err() == nil {
				w := &writing{id: fmt.Sprintf("load-%d", number.Add(1))}
				out, err := c.Call(t.Context(), w.call())
				if err != nil {
					t.Error(err)
					return
				}
				w.answer = out.Result.Text()
				mu.Lock()
				answered = append(answered, w)
				mu.Unlock()
			}
		})
	}
	count := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(answered)
	}
	eventually.Holds(t, "calls are answered", func() bool { return count() > 2*callers })
	before := count()
	file := filepath.Join(h.home, "b.tar.gz")
	made := h.done(t, "backup", file)
	after := count()
	eventually.Holds(t, "calls are answered after the backup", func() bool { return count() > after+2*callers })
	stop()
	load.Wait()
	if made.Ledger != former {
		t.Errorf("the backup is of the ledger %s, want %s", made.Ledger, former)
	}
	h.maintain(t, "restore", file, "--replace").says(t, "in use by another toolhost")
	h.stop(t)
	h.maintain(t, "restore", file).says(t, "--replace")
	restored := h.done(t, "restore", file, "--replace", "--digest", made.Digest)
	if restored.Former != former || restored.Ledger == former || restored.Calls < before {
		t.Errorf("restored %+v, with at least %d calls of the ledger %s", restored, before, former)
	}
	if _, err := os.Stat(filepath.Join(restored.Aside, "calls.db")); err != nil {
		t.Error(err)
	}
	t.Logf("%d calls were answered before the backup, %d during it, %d after it; it has %d calls", before, after-before, len(answered)-after, restored.Calls)

	executed := h.linesWritten(t)
	h.serve(t)
	c = h.dial(t)
	lost := 0
	for i, w := range answered {
		for _, ledger := range []string{"", former} {
			call := w.call()
			call.Ledger = ledger
			out, err := c.Call(t.Context(), call)
			switch {
			case err == nil && out.Replayed && out.Result.Text() == w.answer:
			case i >= before && tool.KindOf(err) == tool.KindOutcomeUnknown:
				lost++
			default:
				t.Fatalf("call %d of %d (%d before the backup) under the ledger %q: %+v, %v", i, len(answered), before, ledger, out, err)
			}
		}
	}
	if lost < 4*callers {
		t.Errorf("only %d calls from after the backup are unknown", lost)
	}
	for id, n := range h.linesWritten(t) {
		if n != 1 || executed[id] != 1 {
			t.Errorf("%s was executed %d times", id, n)
		}
	}
	call := (&writing{id: "new"}).call()
	call.Ledger = restored.Ledger
	if out, err := c.Call(t.Context(), call); err != nil || out.Replayed {
		t.Errorf("a new call: %+v, %v", out, err)
	}
}

// An operator who knows that no caller repeats a call ends the time in which a restored toolhost
// refuses ids without a ledger.
func TestARestoredLedgerIsAccepted(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	installStamped(t, h, "1", "", "")
	h.serve(t)
	file := filepath.Join(h.home, "b.tar.gz")
	h.done(t, "backup", file)
	h.stop(t)
	restored := h.done(t, "restore", file, "--replace")
	h.serve(t)
	if _, err := h.dial(t).Call(t.Context(), (&writing{id: "a"}).call()); tool.KindOf(err) != tool.KindOutcomeUnknown {
		t.Errorf("an unknown id: %v", err)
	}
	said := regexp.MustCompile(`restored from a backup.* lost_ledger=(\S+)`).FindStringSubmatch(h.stderr.String())
	if said == nil || said[1] != restored.Former {
		t.Fatalf("the log does not name the lost ledger %s:\n%s", restored.Former, h.stderr.String())
	}
	h.stop(t)
	h.serve(t, "--accept-lost-ledger", said[1])
	h.stop(t)
	h.serve(t)
	if strings.Contains(h.stderr.String(), "restored from a backup") {
		t.Errorf("it warns again:\n%s", h.stderr.String())
	}
	if _, err := h.dial(t).Call(t.Context(), (&writing{id: "a"}).call()); err != nil {
		t.Errorf("after the acceptance: %v", err)
	}
}

// A backup has no plugins and no copies of them. A restore to another folder says what is missing,
// and toolhost serves the files that are there.
func TestARestoreNamesMissingPlugins(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	installStamped(t, h, "1", "", "")
	h.serve(t)
	first := info(t, h, "versionplugin").Digest
	installStamped(t, h, "2", "", "")
	h.do(t, "upgrade", "versionplugin").exits(t, 0)
	second := info(t, h, "versionplugin").Digest
	h.do(t, "rollback", "versionplugin").exits(t, 0)
	file := filepath.Join(h.home, "b.tar.gz")
	h.done(t, "backup", file)
	h.stop(t)
	if again := h.done(t, "restore", file, "--replace"); len(again.Warnings) > 0 {
		t.Errorf("where the copies are, it warns: %q", again.Warnings)
	}
	gone := filepath.Join(h.plugins, "calculator")
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	h.state = filepath.Join(h.home, "other")
	moved := h.done(t, "restore", file, "--replace") // the trust records are those of the user
	warnings := strings.Join(moved.Warnings, "\n")
	for _, want := range []string{"the plugin " + gone + " (sha256:", "was rolled back to " + first, "will use the file, with the digest " + second} {
		if !strings.Contains(warnings, want) {
			t.Errorf("want %q in the warnings\n%s", want, warnings)
		}
	}
	h.serve(t)
	if now := info(t, h, "versionplugin"); now.Digest != second || now.State != tool.PluginEnabled {
		t.Errorf("%+v is in service, want %s", now, second)
	}
}

// tree returns the digests of all files below a folder.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == "lock" { // the lock has the process id
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(&all, "%s %x\n", path, sha256.Sum256(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// A backup that is damaged, of another program, or not the expected one changes nothing.
func TestADamagedBackupChangesNothing(t *testing.T) {
	t.Parallel()
	h := start(t)
	file := filepath.Join(h.home, "b.tar.gz")
	h.done(t, "backup", file)
	h.stop(t)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before := tree(t, h.state)
	damaged := filepath.Join(h.home, "damaged.tar.gz")
	for name, data := range map[string][]byte{
		"truncated": whole[:len(whole)/2],
		"flipped":   append(append(append([]byte{}, whole[:len(whole)/2]...), whole[len(whole)/2]^8), whole[len(whole)/2+1:]...),
		"empty":     {},
	} {
		write(t, damaged, string(data), 0o600)
		r := h.maintain(t, "restore", damaged, "--replace")
		r.exits(t, 3)
		r.says(t, "cannot be used")
		h.maintain(t, "restore", damaged, "--check").exits(t, 3)
		if after := tree(t, h.state); after != before {
			t.Errorf("%s: the state folder has changed:\n%s\nwant\n%s", name, after, before)
		}
	}
	r := h.maintain(t, "restore", file, "--replace", "--digest", "sha256:0123")
	r.exits(t, 3)
	r.says(t, "its digest is sha256:")
	h.maintain(t, "restore", filepath.Join(h.home, "missing")).exits(t, 2)
	h.maintain(t, "restore", file, "--check").exits(t, 0)
	if after := tree(t, h.state); after != before {
		t.Errorf("the state folder has changed:\n%s\nwant\n%s", after, before)
	}
}

// A tool can write an archive in its workspace. So a restore refuses it, whatever path names it,
// unless the operator names its digest.
func TestAnArchiveOfAToolIsRefused(t *testing.T) {
	t.Parallel()
	h := start(t)
	file, link := filepath.Join(h.workspace, "b.tar.gz"), filepath.Join(h.home, "link.tar.gz")
	made := h.done(t, "backup", file)
	h.stop(t)
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	before := tree(t, h.state)
	journal := filepath.Join(h.home, "journal", "runs.db")
	for _, path := range []string{file, link} {
		for _, args := range [][]string{{"--replace"}, {"--check"}} {
			r := h.maintain(t, append([]string{"restore", path}, args...)...)
			r.exits(t, 7)
			r.says(t, "tools may write", "--digest")
		}
		r := run(t, command(t.Context(), h.home, nil, "agentd", "restore", path, "--journal", journal))
		r.exits(t, 7)
		r.says(t, "tools may write", "--digest")
	}
	if after := tree(t, h.state); after != before {
		t.Errorf("the state folder has changed:\n%s\nwant\n%s", after, before)
	}
	h.maintain(t, "restore", file, "--check", "--digest", made.Digest).exits(t, 0)
}

// A restore into the state folder of another user is refused, because its toolhost could not use
// the files.
func TestRestoreForAnotherUserIsRefused(t *testing.T) {
	t.Parallel()
	h := start(t)
	file := filepath.Join(h.home, "b.tar.gz")
	h.done(t, "backup", file)
	h.stop(t)
	h.state = "/etc" // of root
	if os.Geteuid() == 0 {
		h.state = filepath.Join(h.home, "other")
		if err := errors.Join(os.Mkdir(h.state, 0o700), os.Chown(h.state, 65534, 65534)); err != nil {
			t.Fatal(err)
		}
	}
	r := h.maintain(t, "restore", file)
	r.exits(t, 3)
	r.says(t, "run the command as the user that runs the toolhost")
	if _, err := os.Stat(filepath.Join(h.state, "calls.db")); err == nil {
		t.Error("it restored the ledger")
	}
}

// A `toolhost backup` that is killed leaves no archive, or a whole one. The next one succeeds.
func TestKilledBackup(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	h.serve(t)
	big := filepath.Join(h.state, "artifacts", "artifact-big")
	data := make([]byte, 64<<20) // random, so that it cannot be compressed
	if _, err := rand.Read(data); err != nil {
		t.Fatal(err)
	}
	write(t, big, string(data), 0o600)
	for round := range 5 {
		file := filepath.Join(h.home, fmt.Sprintf("b%d.tar.gz", round))
		cmd := command(t.Context(), h.home, nil, "toolhost", "backup", file, "--state", h.state)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		eventually.Holds(t, "the backup writes", func() bool {
			info, err := os.Stat(filepath.Join(file+".partial", "archive"))
			return err == nil && info.Size() > int64(round)<<22
		})
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if _, err := os.Stat(file); err == nil {
			t.Fatalf("round %d: the archive exists although the backup was killed while it wrote", round)
		}
		h.done(t, "backup", file)
		if _, err := os.Stat(file + ".partial"); err == nil {
			t.Error("the files of the killed backup are left")
		}
		h.maintain(t, "restore", file, "--check").exits(t, 0)
	}
}

// A `toolhost restore` that is killed changes nothing, or toolhost does not start until the restore
// is finished.
func TestKilledRestore(t *testing.T) {
	t.Parallel()
	h := prepare(t)
	installStamped(t, h, "1", "", "")
	h.serve(t)
	if _, err := h.dial(t).Call(t.Context(), (&writing{id: "before"}).call()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(h.home, "b.tar.gz")
	h.done(t, "backup", file)
	h.stop(t)
	seen := map[bool]int{}
	signs := []string{".restoring", ".restoring/calls.db", ".restoring/ledger.id", "restore.json"}
	for round := 0; seen[true] < 3 && round < 50; round++ {
		sign := signs[min(round, len(signs)-1)]
		before := tree(t, h.state)
		killRestore(t, h, file, filepath.Join(h.state, sign))
		_, err := os.Lstat(filepath.Join(h.state, "restore.json"))
		pending := err == nil
		seen[pending]++
		if pending {
			said := h.fails(t)
			if !strings.Contains(said, "--resume") {
				t.Fatalf("round %d: it does not say how to go on:\n%s", round, said)
			}
			h.maintain(t, "restore", file, "--replace").says(t, "--resume")
			h.maintain(t, "backup", filepath.Join(h.home, "no.tar.gz")).says(t, "--resume")
			r := h.maintain(t, "restore", "--resume")
			r.exits(t, 0)
			r.says(t, "finished the restore")
		} else if strings.HasPrefix(sign, ".restoring") {
			// These are of no meaning for toolhost. The last one is a file before it gets its name.
			for _, partial := range []string{".restoring", "restore.json.new", ".toolhost-new-*"} {
				found, err := filepath.Glob(filepath.Join(h.state, partial))
				for _, path := range found {
					err = errors.Join(err, os.RemoveAll(path))
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if after := tree(t, h.state); after != before && !strings.Contains(after, "before-restore-") {
				t.Errorf("round %d: a restore that was killed before it placed files changed:\n%s\nwant\n%s", round, after, before)
			}
		}
		h.serve(t)
		if out, err := h.dial(t).Call(t.Context(), (&writing{id: "before"}).call()); err != nil || !out.Replayed {
			t.Errorf("round %d: the call from before: %+v, %v", round, out, err)
		}
		h.stop(t)
	}
	if t.Logf("%v", seen); seen[true] == 0 {
		t.Error("no restore was killed while it placed files")
	}
}

// killRestore starts a restore and kills it when a file appears. The restore may end before.
func killRestore(t *testing.T, h *toolhost, file, sign string) {
	t.Helper()
	cmd := command(t.Context(), h.home, nil, "toolhost", "restore", file, "--replace", "--state", h.state)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { // ends with the process
		defer close(ended)
		_ = cmd.Wait()
	}()
	// eventually.Holds would look too rarely, and `go test` would write a line for each os.Lstat.
	for {
		var info syscall.Stat_t
		if syscall.Lstat(sign, &info) == nil {
			break
		}
		select {
		case <-ended:
			return
		default:
		}
	}
	_ = cmd.Process.Kill() // fails if the process has just ended
	<-ended
}
