package artifact_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/server/internal/toolhost/artifact"
	"github.com/toolhost/toolhost/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	alice = artifact.Owner{Principal: "uid:1", Session: "s"}
	other = artifact.Owner{Principal: "uid:1", Session: "t"}
	bob   = artifact.Owner{Principal: "uid:2", Session: "s"}
)

func open(t *testing.T, cfg artifact.Config) *artifact.Store {
	t.Helper()
	s, err := artifact.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func put(t *testing.T, s *artifact.Store, owner artifact.Owner, text string) string {
	t.Helper()
	handle, err := s.Put(owner, artifact.Content{MediaType: "text/plain", Name: "n.txt", Size: int64(len(text)), Data: strings.NewReader(text)})
	if err != nil {
		t.Fatal(err)
	}
	return handle
}

// has returns which of the handles can be read, as a string of x and -.
func has(s *artifact.Store, owner artifact.Owner, handles ...string) string {
	var b strings.Builder
	for _, handle := range handles {
		if _, err := s.Read(owner, handle, 0, 1); err == nil {
			b.WriteByte('x')
		} else {
			b.WriteByte('-')
		}
	}
	return b.String()
}

func wantKind(t *testing.T, err error, kind tool.Kind) {
	t.Helper()
	if e, ok := errors.AsType[*tool.Error](err); !ok || e.Kind != kind {
		t.Errorf("got %v, want an error of kind %s", err, kind)
	}
}

// files returns how many files of artifacts a folder has, complete or not.
func files(t *testing.T, dir string) int {
	t.Helper()
	found, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, d := range found {
		if d.Name() != ".lock" {
			n++
		}
	}
	return n
}

func TestReadsPieces(t *testing.T) {
	s := open(t, artifact.Config{Dir: filepath.Join(t.TempDir(), "a", "b")})
	handle := put(t, s, alice, "0123456789")
	for _, test := range []struct {
		offset uint64
		limit  int
		want   string
	}{
		{0, 10, "0123456789"}, {0, 3, "012"}, {8, 3, "89"}, {10, 3, ""}, {1 << 63, 3, ""}, {^uint64(0), 1 << 20, ""}, {2, 0, ""}, {0, 1 << 30, "0123456789"},
	} {
		piece, err := s.Read(alice, handle, test.offset, test.limit)
		if err != nil {
			t.Fatal(err)
		}
		if string(piece.Data) != test.want || piece.Size != 10 || piece.MediaType != "text/plain" || piece.Name != "n.txt" {
			t.Errorf("at %d, %d bytes: %+v, want %q", test.offset, test.limit, piece, test.want)
		}
	}
}

func TestBelongsToItsSession(t *testing.T) {
	s := open(t, artifact.Config{Dir: t.TempDir()})
	handle := put(t, s, alice, "secret")
	for _, owner := range []artifact.Owner{other, bob, {}} {
		_, err := s.Read(owner, handle, 0, 10)
		wantKind(t, err, tool.KindNotFound)
		_, never := s.Read(owner, "artifact-"+strings.Repeat("a", 26), 0, 10)
		if got, want := strings.ReplaceAll(err.Error(), handle, "H"), strings.ReplaceAll(never.Error(), "artifact-"+strings.Repeat("a", 26), "H"); got != want {
			t.Errorf("an artifact of somebody else is told from none:\n%s\n%s", got, want)
		}
	}
	for _, handle := range []string{"", "..", "../x", ".lock", "artifact-", strings.Repeat("x", 1<<20)} {
		_, err := s.Read(alice, handle, 0, 10)
		wantKind(t, err, tool.KindNotFound)
		if len(err.Error()) > 1000 {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
	}
}

func TestOtherUsersCannotReadFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "artifacts")
	s := open(t, artifact.Config{Dir: dir})
	handle := put(t, s, alice, "secret")
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, handle): 0o600} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode().Perm(), want)
		}
	}
}

func TestSurvivesARestart(t *testing.T) {
	dir := t.TempDir()
	s := open(t, artifact.Config{Dir: dir})
	first, second := put(t, s, alice, "first"), put(t, s, bob, "second\n\n")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Read(alice, first, 0, 10); err == nil {
		t.Error("a closed store reads")
	}
	s = open(t, artifact.Config{Dir: dir})
	if got, err := s.Read(alice, first, 0, 10); err != nil || string(got.Data) != "first" || got.Name != "n.txt" {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := s.Read(bob, second, 0, 10); err != nil || string(got.Data) != "second\n\n" {
		t.Errorf("%+v, %v", got, err)
	}
	if got := has(s, other, first, second); got != "--" {
		t.Errorf("another session sees %s", got)
	}
}

func TestOpenRemovesLeftovers(t *testing.T) {
	dir := t.TempDir()
	s := open(t, artifact.Config{Dir: dir})
	whole, cut := put(t, s, alice, "whole"), put(t, s, alice, "to be cut")
	renamed := put(t, s, alice, "renamed")
	_ = s.Close()
	info, err := os.Stat(filepath.Join(dir, cut))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, cut), info.Size()-1); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, renamed), filepath.Join(dir, "artifact-x")); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		".writing-abc": "half", "artifact-garbage": "no header\n", "artifact-empty": "",
		"artifact-long": strings.Repeat("x", 1<<20), "somebody's": "stays",
		"artifact-newer": `{"version":2,"handle":{"of":"a later format"}}` + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s = open(t, artifact.Config{Dir: dir})
	if got := has(s, alice, whole, cut, renamed, "artifact-x", "artifact-garbage"); got != "x----" {
		t.Errorf("readable: %s", got)
	}
	if got := files(t, dir); got != 3 {
		t.Errorf("%d files are left, want the whole one, that of a newer toolhost and somebody's", got)
	}
	for _, name := range []string{whole, "artifact-newer", "somebody's"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

func TestIsAloneWithItsFolder(t *testing.T) {
	dir := t.TempDir()
	s := open(t, artifact.Config{Dir: dir})
	if second, err := artifact.Open(artifact.Config{Dir: dir}); err == nil {
		_ = second.Close()
		t.Fatal("two stores have one folder")
	} else if !strings.Contains(err.Error(), "another toolhost") {
		t.Error(err)
	}
	_ = s.Close()
	open(t, artifact.Config{Dir: dir})
}

func TestBounds(t *testing.T) {
	for _, test := range []struct {
		name  string
		cfg   artifact.Config
		sizes []int
		want  string
	}{
		{"count", artifact.Config{MaxCount: 2}, []int{1, 1, 1}, "-xx"},
		{"bytes", artifact.Config{MaxBytes: 10}, []int{4, 4, 4}, "-xx"},
		{"one for several", artifact.Config{MaxBytes: 10}, []int{3, 3, 3, 8}, "---x"},
		{"just enough", artifact.Config{MaxBytes: 10}, []int{5, 5}, "xx"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.cfg.Dir = t.TempDir()
			s := open(t, test.cfg)
			var handles []string
			for _, size := range test.sizes {
				handles = append(handles, put(t, s, alice, strings.Repeat("x", size)))
			}
			if got := has(s, alice, handles...); got != test.want {
				t.Errorf("kept %s, want %s", got, test.want)
			}
			if got := files(t, test.cfg.Dir); got != strings.Count(test.want, "x") {
				t.Errorf("%d files", got)
			}
		})
	}
}

func TestBoundsHoldAtOpen(t *testing.T) {
	dir := t.TempDir()
	s := open(t, artifact.Config{Dir: dir})
	handles := []string{put(t, s, alice, "a"), put(t, s, alice, "b"), put(t, s, alice, "c")}
	_ = s.Close()
	s = open(t, artifact.Config{Dir: dir, MaxCount: 1})
	if got := has(s, alice, handles...); got != "--x" || files(t, dir) != 1 {
		t.Errorf("kept %s in %d files", got, files(t, dir))
	}
}

func TestTooLargeForTheStoreChangesNothing(t *testing.T) {
	s := open(t, artifact.Config{Dir: t.TempDir(), MaxBytes: 10})
	kept := put(t, s, alice, "123456")
	_, err := s.Put(alice, artifact.Content{Size: 11, Data: strings.NewReader("12345678901")})
	wantKind(t, err, tool.KindUnavailable)
	if got := has(s, alice, kept); got != "x" {
		t.Error("what was there has gone")
	}
}

func TestFailedWritesLeaveNothing(t *testing.T) {
	dir := t.TempDir()
	s := open(t, artifact.Config{Dir: dir, MaxBytes: 10, MaxCount: 1})
	broken := errors.New("broken")
	for _, c := range []artifact.Content{
		{Size: 9, Data: &failing{err: broken}},
		{Size: 9, Data: strings.NewReader("short")},
		{Size: 9, Data: strings.NewReader("much too long")},
	} {
		_, err := s.Put(alice, c)
		wantKind(t, err, tool.KindUnavailable)
	}
	if files(t, dir) != 0 {
		t.Error("files are left")
	}
	if got := has(s, alice, put(t, s, alice, "1234567890")); got != "x" {
		t.Error("what failed still counts")
	}
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

func TestOldArtifactsGo(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := open(t, artifact.Config{Dir: dir, MaxAge: time.Hour})
		old := put(t, s, alice, "old")
		time.Sleep(40 * time.Minute)
		young := put(t, s, alice, "young")
		time.Sleep(20 * time.Minute)
		if got := has(s, alice, old, young); got != "-x" {
			t.Errorf("after an hour: %s", got)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if got := files(t, dir); got != 0 {
			t.Errorf("%d files are left of artifacts that are too old, without anybody's asking", got)
		}
		_ = s.Close()
	})
}

func TestWhatIsReadIsWhatWasPut(t *testing.T) {
	s := open(t, artifact.Config{Dir: t.TempDir(), MaxCount: 50})
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			owner := artifact.Owner{Principal: fmt.Sprint(i)}
			for n := range 20 {
				data := bytes.Repeat([]byte{byte(i), byte(n)}, 1000)
				handle, err := s.Put(owner, artifact.Content{Size: int64(len(data)), Data: bytes.NewReader(data)})
				if err != nil {
					t.Error(err)
					return
				}
				got, err := s.Read(owner, handle, 0, 1<<20)
				if err == nil && !bytes.Equal(got.Data, data) {
					t.Errorf("%d bytes that are not what was put", len(got.Data))
				} else if err != nil {
					wantKind(t, err, tool.KindNotFound) // removed to make room for the others
				}
			}
		})
	}
	wg.Wait()
}

func TestHostileNamesAndMediaTypes(t *testing.T) {
	dir := t.TempDir()
	s := open(t, artifact.Config{Dir: dir})
	long := strings.Repeat("\x01", 1<<20) + "\xff"
	handle, err := s.Put(alice, artifact.Content{MediaType: long, Name: long, Size: 1, Data: strings.NewReader("x")})
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	s = open(t, artifact.Config{Dir: dir})
	if got := has(s, alice, handle); got != "x" {
		t.Error("not there after a restart")
	}
}

func TestConfigIsChecked(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, cfg := range []artifact.Config{{}, {Dir: t.TempDir(), MaxBytes: -1}, {Dir: t.TempDir(), MaxCount: -1}, {Dir: t.TempDir(), MaxAge: -1}, {Dir: file}} {
		if s, err := artifact.Open(cfg); err == nil {
			_ = s.Close()
			t.Errorf("opened with %+v", cfg)
		}
	}
}

// A full store removes artifacts of the tenant that has the most. A quota removes those of its
// tenant or principal, and refuses an artifact that exceeds it alone.
func TestTenantsKeepTheirShare(t *testing.T) {
	red, blue, eve := artifact.Owner{Principal: "red/ada"}, artifact.Owner{Principal: "blue/bob"}, artifact.Owner{Principal: "red/eve"}
	x := func(n int) string { return strings.Repeat("x", n) }
	s := open(t, artifact.Config{Dir: t.TempDir(), MaxBytes: 100, MaxCount: 8})
	calm := put(t, s, blue, x(30))
	first, second := put(t, s, red, x(35)), put(t, s, red, x(35))
	third := put(t, s, eve, x(35))
	if got := has(s, blue, calm) + has(s, red, first, second) + has(s, eve, third); got != "x-xx" {
		t.Errorf("kept %s of a full store, want x-xx", got)
	}
	for range 20 {
		put(t, s, red, "x")
	}
	if got := has(s, blue, calm); got != "x" {
		t.Error("a flood of small artifacts removed that of another tenant")
	}
	s = open(t, artifact.Config{Dir: t.TempDir()})
	s.Limit(func(principal string) (ofTenant, ofPrincipal int64) {
		return map[string]int64{"red/ada": 50, "red/eve": 50}[principal], map[string]int64{"red/eve": 20}[principal]
	})
	a, b, c, d := put(t, s, red, x(30)), put(t, s, eve, x(15)), put(t, s, eve, x(10)), put(t, s, blue, x(500))
	if got := has(s, red, a) + has(s, eve, b, c) + has(s, blue, d); got != "x-xx" {
		t.Errorf("kept %s with a full quota of a principal, want x-xx", got)
	}
	e := put(t, s, red, x(20))
	if got := has(s, red, a, e) + has(s, eve, c) + has(s, blue, d); got != "-xxx" {
		t.Errorf("kept %s with a full quota of a tenant, want -xxx", got)
	}
	for owner, quota := range map[artifact.Owner]string{eve: "the principal red/eve together may have 20 (its quota artifact_bytes)", red: "the tenant red together may have 50"} {
		if _, err := s.Put(owner, artifact.Content{Size: 51, Data: strings.NewReader(x(51))}); err == nil || !strings.Contains(err.Error(), quota) {
			t.Errorf("an artifact above the quota: %v", err)
		}
	}
}

// A handle can name the place of its store. Callers may invent handles.
func TestPlaceOf(t *testing.T) {
	folder := t.TempDir()
	s := open(t, artifact.Config{Dir: folder, Place: "a2345678"})
	handle := put(t, s, alice, "x")
	if place := artifact.PlaceOf(handle); place != "a2345678" {
		t.Errorf("the place in %q is %q", handle, place)
	}
	_ = s.Close()
	if again := open(t, artifact.Config{Dir: folder}); has(again, alice, handle) != "x" {
		t.Errorf("without a place, the store does not have %q", handle)
	}
	for _, handle := range []string{"", "artifact-", "artifact-abc", "artifact--a2345678", "abc-a2345678", "artifact-abc-A2345678", "artifact-abc-%2345678", "artifact-abc-a234-678", "artifact-abc-a", "artifact-abc-a234567", "artifact-abc-a23456789"} {
		if place := artifact.PlaceOf(handle); place != "" {
			t.Errorf("the place in %q is %q", handle, place)
		}
	}
}
