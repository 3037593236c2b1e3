package backup_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/store/backup"
)

// stateToReplace returns a folder with an old and a new state, and the placement that replaces the
// one by the other.
func stateToReplace(t *testing.T) (dir, marker string, p *backup.Placement) {
	t.Helper()
	dir = t.TempDir()
	staging := filepath.Join(dir, "staging")
	if err := os.MkdirAll(filepath.Join(staging, "artifacts"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "calls.db"), "old")
	write(t, filepath.Join(dir, "audit"), "old")
	write(t, filepath.Join(staging, "calls.db"), "new")
	write(t, filepath.Join(staging, "artifacts", "a"), "new")
	p = &backup.Placement{Archive: "b", Staging: staging}
	for _, name := range []string{"calls.db", "audit", "missing"} {
		p.Aside = append(p.Aside, backup.Move{From: filepath.Join(dir, name), To: filepath.Join(dir, "aside", name)})
	}
	for _, name := range []string{"calls.db", "artifacts"} {
		p.Place = append(p.Place, backup.Move{From: filepath.Join(staging, name), To: filepath.Join(dir, name)})
	}
	return dir, filepath.Join(dir, "marker"), p
}

var replaced = map[string]string{
	"calls.db": "new", filepath.Join("artifacts", "a"): "new",
	filepath.Join("aside", "calls.db"): "old", filepath.Join("aside", "audit"): "old",
}

func TestCarry(t *testing.T) {
	dir, marker, p := stateToReplace(t)
	if err := p.Carry(marker); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(replaced, content(t, dir)); diff != "" {
		t.Error(diff)
	}
	if done, err := backup.Resume(marker); done != nil || err != nil {
		t.Errorf("there is something to resume: %v, %v", done, err)
	}
}

// A placement that ends after any of its steps is finished by Resume.
func TestResumeAfterEachStep(t *testing.T) {
	for done := range 6 {
		dir, marker, p := stateToReplace(t)
		mark := func() {
			t.Helper()
			text, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			write(t, marker, string(text))
		}
		move := func(m backup.Move) func() {
			return func() {
				t.Helper()
				if err := os.MkdirAll(filepath.Dir(m.To), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.Rename(m.From, m.To); err != nil {
					t.Fatal(err)
				}
			}
		}
		mark()
		for _, step := range []func(){
			move(p.Aside[0]), move(p.Aside[1]), func() { p.Placed = true; mark() }, move(p.Place[0]), move(p.Place[1]), func() { os.RemoveAll(p.Staging) },
		}[:done+1] {
			step()
		}
		if !backup.Pending(marker) {
			t.Fatal("there is no marker")
		}
		if got, err := backup.Resume(marker); err != nil || got.Archive != "b" {
			t.Fatalf("after %d steps: %v, %v", done, got, err)
		}
		if diff := cmp.Diff(replaced, content(t, dir)); diff != "" {
			t.Errorf("after %d steps:\n%s", done, diff)
		}
	}
}

// If a file of the new state is lost, the marker stays, so that no program starts with a part of
// it.
func TestResumeRefusesALostFile(t *testing.T) {
	_, marker, p := stateToReplace(t)
	if err := os.Remove(p.Place[0].From); err != nil {
		t.Fatal(err)
	}
	if err := p.Carry(marker); err == nil || !backup.Pending(marker) {
		t.Errorf("error %v", err)
	}
}
