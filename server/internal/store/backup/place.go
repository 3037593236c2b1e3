package backup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/toolhost/toolhost/server/internal/store/atomicfile"
)

// Placement moves verified files of a backup to their places, and the files that are there out of
// the way.
//
// The problem: no system call replaces several files at once. If a process were killed between two
// of the renames, a program could start with the files of two states, or with none and thus with an
// empty ledger. The idea: before the first rename, a marker file has the whole plan. The programs
// refuse to start while the marker exists, and Resume finishes the plan. A plan has two phases, so
// that a repeated rename cannot take a new file for an old one: all old files are moved aside
// first, and the marker says when that is done. Each phase can be repeated, because it skips files
// that are moved already. The invariant: a program that finds no marker finds the files of one
// state only.
type Placement struct {
	Archive string `json:"archive"`
	// Aside moves the old files to a folder that keeps them. A file that does not exist is skipped.
	Aside []Move `json:"aside,omitempty"`
	// Place moves the new files to their places.
	Place  []Move `json:"place"`
	Placed bool   `json:"placing,omitempty"` // the first phase is done
	// Staging is the folder of the new files. It is removed in the end.
	Staging string `json:"staging"`
}

// Move is one rename, within a file system. Both paths are absolute.
type Move struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Carry writes the marker and moves the files. The caller must hold the lock of the state, and must
// have synced the content of the new files. If it fails after the marker exists, Resume continues.
func (p *Placement) Carry(marker string) error {
	if err := syncTree(p.Staging); err != nil {
		return err
	}
	if err := p.mark(marker); err != nil {
		return err
	}
	return p.finish(marker)
}

// Pending reports whether a placement was interrupted.
func Pending(marker string) bool {
	_, err := os.Lstat(marker)
	return err == nil
}

// Resume finishes an interrupted placement and returns it; nil if there is none.
func Resume(marker string) (*Placement, error) {
	text, err := os.ReadFile(marker)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	p := &Placement{}
	if err == nil {
		err = json.Unmarshal(text, p)
	}
	if err == nil {
		err = p.finish(marker)
	}
	if err != nil {
		return nil, fmt.Errorf("finishing the interrupted restore of %s: %w", marker, err)
	}
	return p, nil
}

// mark replaces the marker. It is on the disk when mark returns.
func (p *Placement) mark(marker string) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return atomicfile.Write(marker, text, 0o600)
}

func (p *Placement) finish(marker string) error {
	if !p.Placed {
		if err := moveAll(p.Aside, true); err != nil {
			return err
		}
		p.Placed = true
		if err := p.mark(marker); err != nil {
			return err
		}
	}
	if err := moveAll(p.Place, false); err != nil {
		return err
	}
	if err := os.RemoveAll(p.Staging); err != nil {
		return err
	}
	if err := os.Remove(marker); err != nil {
		return err
	}
	return atomicfile.SyncFolder(filepath.Dir(marker))
}

// moveAll carries out the moves that are still to do. optional says that a file may never have
// existed. Otherwise a missing file must be in its new place.
func moveAll(moves []Move, optional bool) error {
	folders := map[string]bool{}
	for _, m := range moves {
		if err := os.MkdirAll(filepath.Dir(m.To), 0o700); err != nil {
			return err
		}
		_, err := os.Lstat(m.From)
		if errors.Is(err, fs.ErrNotExist) {
			if _, placed := os.Lstat(m.To); placed != nil && !optional {
				return fmt.Errorf("%s is lost", m.From)
			}
			continue
		}
		if err == nil {
			err = os.Rename(m.From, m.To)
		}
		if err != nil {
			return err
		}
		folders[filepath.Dir(m.To)], folders[filepath.Dir(m.From)] = true, true
	}
	for folder := range folders {
		if err := atomicfile.SyncFolder(folder); err != nil {
			return err
		}
	}
	return nil
}

// syncTree returns when all names below a folder are on the disk.
func syncTree(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		return atomicfile.SyncFolder(path)
	})
}
