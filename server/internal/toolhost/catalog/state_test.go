package catalog_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/store/rmtree"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
)

// digests returns the digests in the store.
func (r *rig) digests() []string {
	r.t.Helper()
	entries, err := os.ReadDir(filepath.Join(r.cfg.StateDir, "store"))
	if err != nil {
		r.t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, "sha256:"+entry.Name())
	}
	return names
}

// A load removes copies that are not among the latest five revisions of a plugin, and incomplete
// ones.
func TestOldCopiesGo(t *testing.T) {
	r := newRig(t)
	for _, v := range []string{"2", "3", "4", "5", "6", "7"} {
		r.write("one", version(v, spec("a")))
		r.reload()
		r.activate(r.candidate())
	}
	left := filepath.Join(r.cfg.StateDir, "store", "new-123")
	if err := errors.Join(os.MkdirAll(filepath.Join(left, "folder"), 0o700), os.Chmod(left, 0o500)); err != nil {
		t.Fatal(err)
	}
	r.reload()
	var want []string
	for _, revision := range must(r.Revisions("one"))[:5] {
		want = append(want, revision.Digest)
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, r.digests()); diff != "" {
		t.Errorf("the store (-want +got):\n%s", diff)
	}
	if must(r.Rollback("one", 0)).Info.Version != "6" {
		t.Error("the previous revision is not 6")
	}
}

// An unused copy stays for a while, because instances may still run it.
func TestOldCopiesStayForAWhile(t *testing.T) {
	r := newRig(t)
	r.cfg.Retention = 0 // the default
	r.restart()
	for _, v := range []string{"2", "3", "4", "5", "6", "7"} {
		r.write("one", version(v, spec("a")))
		r.reload()
		r.activate(r.candidate())
	}
	r.reload()
	if got := r.digests(); len(got) != 7 {
		t.Errorf("the store holds %v, want 7 revisions", got)
	}
	r.restart()
	if got := r.digests(); len(got) != 5 {
		t.Errorf("after a restart the store holds %v, want 5 revisions", got)
	}
}

// A toolhost with other folders that uses the same state later removes no records of the first
// toolhost.
func TestFoldersOfOtherTimesAreKept(t *testing.T) {
	r := newRig(t)
	first := r.cfg
	r.write("one", version("2", spec("a")))
	r.reload()
	r.activate(r.candidate())
	r.activate(must(r.Rollback("one", 0)))
	r.cfg.Folders = []string{t.TempDir()}
	r.restart()
	r.cfg = first
	asked := len(r.fake.questions())
	r.restart()
	r.want("1", 0, "an operator went back")
	if len(r.fake.questions()) != asked {
		t.Error("what was known was asked again")
	}
	r.cfg.Folders = []string{t.TempDir()}
	if err := os.Remove(filepath.Join(r.dir, "one")); err != nil {
		t.Fatal(err)
	}
	r.restart()
	if got := r.digests(); len(got) != 0 {
		t.Errorf("the store holds %v of a file that is gone", got)
	}
}

// unseal lets the owner change and remove a file.
func unseal(path string) error {
	return errors.Join(os.Chmod(filepath.Dir(path), 0o700), os.Chmod(path, 0o700))
}

// The catalog rebuilds a state that a crash or a person damaged.
func TestABrokenStateIsFoundOutAgain(t *testing.T) {
	state := func(r *rig, name string) string { return filepath.Join(r.cfg.StateDir, name) }
	copyOf := func(r *rig) string { return r.Snapshot().Plugin("one").Path }
	for name, tc := range map[string]struct {
		damage func(r *rig) error
		asks   bool
	}{
		"index cut":      {func(r *rig) error { return os.Truncate(state(r, "catalog.json"), 20) }, false},
		"index empty":    {func(r *rig) error { return os.Truncate(state(r, "catalog.json"), 0) }, false},
		"index is null":  {func(r *rig) error { return os.WriteFile(state(r, "catalog.json"), []byte("null"), 0o600) }, false},
		"index of other": {func(r *rig) error { return os.WriteFile(state(r, "catalog.json"), []byte(`{"version":99}`), 0o600) }, false},
		"index gone":     {func(r *rig) error { return os.Remove(state(r, "catalog.json")) }, false},
		"half an index":  {func(r *rig) error { return os.WriteFile(state(r, ".catalog.json-1"), []byte(`{"ver`), 0o600) }, false},
		"copy cut":       {func(r *rig) error { return errors.Join(unseal(copyOf(r)), os.Truncate(copyOf(r), 3)) }, false},
		"copy gone":      {func(r *rig) error { return errors.Join(unseal(copyOf(r)), os.Remove(copyOf(r))) }, false},
		"store gone":     {func(r *rig) error { return rmtree.Remove(state(r, "store")) }, true},
		"about cut": {func(r *rig) error {
			about := filepath.Join(filepath.Dir(filepath.Dir(copyOf(r))), "about.json")
			return errors.Join(unseal(about), os.Truncate(about, 10))
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.Close()
			asked := len(r.fake.questions())
			if err := tc.damage(r); err != nil {
				t.Fatal(err)
			}
			r.restart()
			r.want("1", 0, "")
			if again := len(r.fake.questions()) > asked; again != tc.asks {
				t.Errorf("asked again: %v, want %v", again, tc.asks)
			}
			if data, err := os.ReadFile(copyOf(r)); err != nil || string(data) != version("1", spec("a")) {
				t.Errorf("the copy holds %q, %v", data, err)
			}
		})
	}
}

// A failed write leaves the old index, and the error says that the next process will not know the
// decision.
func TestTheIndexIsReplacedWhole(t *testing.T) {
	r := newRig(t)
	r.write("one", version("2", spec("a")))
	r.reload()
	index := filepath.Join(r.cfg.StateDir, "catalog.json")
	before := must(os.ReadFile(index))
	if !json.Valid(before) {
		t.Fatalf("the index holds %s", before)
	}
	// A folder in place of the file: renaming over it fails, also for root.
	if err := os.Remove(index); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(index, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	err := r.Activate(r.candidate(), catalog.Order{})
	if err == nil || !strings.Contains(err.Error(), catalog.ErrNotKept.Error()) {
		t.Errorf("activating without a disk: %v", err)
	}
	r.want("2", 0, "")
	_ = filepath.WalkDir(r.cfg.StateDir, func(path string, _ fs.DirEntry, _ error) error {
		if strings.Contains(path, "catalog.json-") {
			t.Errorf("left behind: %s", path)
		}
		return nil
	})
	if err := os.RemoveAll(index); err != nil {
		t.Fatal(err)
	}
	if err := r.Adopt(); err != nil {
		t.Errorf("deciding with a disk again: %v", err)
	}
	r.restart()
	r.want("2", 0, "")
}

// Only one catalog can use a state folder, because two catalogs would remove each other's copies.
// The lock ends with the catalog's process.
func TestOneCatalogueForOneState(t *testing.T) {
	r := newRig(t)
	_, err := catalog.Open(r.cfg)
	if err == nil {
		t.Fatal("a second catalogue opened the state folder")
	}
	for _, words := range []string{r.cfg.StateDir, "process " + strconv.Itoa(os.Getpid()), "--state"} {
		if !strings.Contains(err.Error(), words) {
			t.Errorf("the error %q does not say %q", err, words)
		}
	}
	r.restart()
	r.want("1", 0, "")
}

// A closed catalog loads nothing, because another catalog may use its state folder by then.
func TestAClosedCatalogueLoadsNothing(t *testing.T) {
	r := newRig(t)
	r.Close()
	r.Close()
	if err := r.Load(t.Context()); err == nil || !strings.Contains(err.Error(), "is closed") {
		t.Errorf("loading: %v", err)
	}
	if _, err := r.Upgrade(t.Context(), "one"); err == nil || !strings.Contains(err.Error(), "is closed") {
		t.Errorf("upgrading: %v", err)
	}
	r.want("1", 0, "")
}
