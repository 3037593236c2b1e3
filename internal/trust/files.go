package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// FileRecord is the record of a trusted configuration file.
type FileRecord struct {
	Digest string    `json:"digest"`
	When   time.Time `json:"when"`
	Text   string    `json:"text"` // the content, to show later changes
}

// File is a configuration file that was read.
type File struct {
	Path string // as the operator named it, or as Find found it
	Data []byte // the content, which the caller parses if Check returns nil
	// Named says that the operator named the file, or that it is in the operator's folder of
	// configuration. Without it, the file was found in the current folder.
	Named bool
	// Writable are the folders that plugins may write under the configuration that uses the file.
	Writable []string
}

// Check returns nil if a file may be used as configuration, else *Untrusted, or another error if
// the records cannot be read. A file may be used if its content was trusted at its path. It may
// also be used if the operator named it and no plugin can have written it: neither the file nor a
// link on the way to it is in a folder that plugins may write, or could write under an earlier
// toolhost of this user.
func (s *Store) Check(f File) error {
	r, err := s.read()
	if err != nil {
		return err
	}
	key, err := keyOf(f.Path)
	if err != nil {
		return err
	}
	known, before := r.Files[key]
	if before && known.Digest == Digest(f.Data) {
		return nil
	}
	reason := "it was found in the current folder, where a tool or the author of a repository may have put it"
	if f.Named {
		if reason = r.reachable(f); reason == "" {
			return nil
		}
	}
	help := fmt.Sprintf("read it, and if you want what it says run: toolhost trust %s", Quote(key))
	if before {
		reason = fmt.Sprintf("it has changed since it was trusted (%s)", day(known.When))
		help = fmt.Sprintf("see the change with `toolhost trust --diff %s`, and if you want it run: toolhost trust %s", Quote(key), Quote(key))
	}
	return &Untrusted{Path: f.Path, Reason: reason, Help: help + "; or name a file outside of such folders with --config"}
}

// reachable returns how a plugin could have written a file; empty if none could.
func (r *records) reachable(f File) string {
	places, err := lookups(f.Path)
	if err != nil {
		return err.Error()
	}
	for _, place := range places {
		folder := r.writable(place)
		for _, writable := range f.Writable {
			if folder == "" && within(place, writable) {
				folder = writable
			}
		}
		if folder != "" {
			return fmt.Sprintf("it is reached through %s, and tools may write, or could write earlier, in %s", place, folder)
		}
	}
	if _, err := os.Stat(f.Path); err != nil {
		return err.Error()
	}
	// Plugins run as this user. Another name of the file may be in a folder that they may write.
	if HasOtherNames(f.Path) {
		return "it has more than one name (hard links), so that it may be written under another one"
	}
	return ""
}

// Gone returns *Untrusted if a file of this name was trusted in a folder and does not exist any
// more. Without the file, its rules and limits would silently not hold.
func (s *Store) Gone(folder, name string) error {
	path := filepath.Join(folder, name)
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	r, err := s.read()
	if err != nil {
		return err
	}
	key, err := keyOf(path)
	if err != nil {
		return err
	}
	known, before := r.Files[key]
	if !before {
		return nil
	}
	return &Untrusted{
		Path:   path,
		Reason: fmt.Sprintf("it was trusted (%s), is gone, and what it said would not hold", day(known.When)),
		Help:   fmt.Sprintf("put it back, or agree to work without it: toolhost trust --revoke %s", Quote(key)),
	}
}

// TrustFile trusts the content of a file at its path.
func (s *Store) TrustFile(path string, data []byte) error {
	key, err := keyOf(path)
	if err != nil {
		return err
	}
	return s.change(func(r *records) (bool, error) {
		if r.Files == nil {
			r.Files = map[string]FileRecord{}
		}
		if known, ok := r.Files[key]; ok && known.Digest == Digest(data) {
			return false, nil
		}
		r.Files[key] = FileRecord{Digest: Digest(data), When: s.now().UTC(), Text: string(data)}
		return true, nil
	})
}

// RevokeFile removes the record of a file, and reports whether there was one.
func (s *Store) RevokeFile(path string) (was bool, err error) {
	key, err := keyOf(path)
	if err != nil {
		return false, err
	}
	err = s.change(func(r *records) (bool, error) {
		_, was = r.Files[key]
		delete(r.Files, key)
		return was, nil
	})
	return was, err
}

// TrustedFile is the record of a file with its path.
type TrustedFile struct {
	Path string
	FileRecord
}

// Files returns the files that were trusted, ordered by path.
func (s *Store) Files() ([]TrustedFile, error) {
	r, err := s.read()
	if err != nil {
		return nil, err
	}
	var files []TrustedFile
	for _, path := range slices.Sorted(maps.Keys(r.Files)) {
		files = append(files, TrustedFile{path, r.Files[path]})
	}
	return files, nil
}

// File returns the record of a file; false if there is none.
func (s *Store) File(path string) (FileRecord, bool, error) {
	r, err := s.read()
	if err != nil {
		return FileRecord{}, false, err
	}
	key, err := keyOf(path)
	if err != nil {
		return FileRecord{}, false, err
	}
	known, ok := r.Files[key]
	return known, ok, nil
}

// maxWritableIDs bounds the recorded identities of folders. The oldest are forgotten first.
const maxWritableIDs = 4096

// AddWritable records folders that plugins may write from now on. The records stay, because the
// files that a plugin wrote there outlive toolhost. A folder is recorded by its path, as long as
// the path exists, and by its identity, so that it counts also after a move or at another mount
// point.
func (s *Store) AddWritable(folders ...string) error {
	return s.change(func(r *records) (bool, error) {
		kept := slices.DeleteFunc(slices.Clone(r.Writable), func(folder string) bool {
			_, err := os.Lstat(folder)
			return errors.Is(err, fs.ErrNotExist)
		})
		ids := slices.Clone(r.WritableIDs)
		for _, folder := range folders {
			if real, err := filepath.EvalSymlinks(folder); err == nil {
				folder = real
			}
			if !slices.Contains(kept, folder) {
				kept = append(kept, folder)
			}
			if id := identify(folder); id != (identity{}) && !slices.ContainsFunc(ids, id.is) {
				ids = append(ids, id)
			}
		}
		ids = ids[max(0, len(ids)-maxWritableIDs):]
		changed := !slices.Equal(kept, r.Writable) || !slices.Equal(ids, r.WritableIDs)
		r.Writable, r.WritableIDs = kept, ids
		return changed, nil
	})
}

// writable returns the folder around a place, or the place itself, that plugins may write or could
// write earlier; "" if there is none.
func (r *records) writable(place string) string {
	for _, folder := range r.Writable {
		if within(place, folder) {
			return folder
		}
	}
	if len(r.WritableIDs) == 0 {
		return ""
	}
	for at := place; ; at = filepath.Dir(at) {
		if id := identify(at); id.Inode != 0 && slices.ContainsFunc(r.WritableIDs, id.is) {
			return at
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}

// keyOf returns the path under which a file is recorded: its name in its folder, without links on
// the way to the folder. If the file itself is a link, the key has the name of the link, because
// paths in the file are relative to that folder.
func keyOf(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("finding the folder of %s: %w", path, err)
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		folder = filepath.Dir(path) // the folder does not exist any more
	}
	return filepath.Join(folder, filepath.Base(path)), nil
}

// lookups returns the places of all names that the kernel looks up on the way to a file: each link,
// and the file itself. A process that can change one of them decides what the path denotes.
func lookups(path string) ([]string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	var places []string
	at, left := "/", strings.Split(strings.Trim(path, "/"), "/")
	for links := 0; len(left) > 0; {
		name := left[0]
		left = left[1:]
		if name == "" || name == "." {
			continue
		}
		next := filepath.Join(at, name) // ".." of a folder without links is its parent
		info, err := os.Lstat(next)
		if err != nil {
			return nil, err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		if links++; links > 40 {
			return nil, fmt.Errorf("too many links on the way to %s", path)
		}
		places = append(places, next)
		target, err := os.Readlink(next)
		if err != nil {
			return nil, err
		}
		if filepath.IsAbs(target) {
			at = "/"
		}
		left = append(strings.Split(strings.Trim(target, "/"), "/"), left...)
	}
	return append(places, at), nil
}

// within reports whether a place is a folder or in it. Links in the folder's path are followed.
func within(place, folder string) bool {
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	rel, err := filepath.Rel(folder, place)
	return err == nil && filepath.IsLocal(rel)
}

// Quote returns a path in the form that a shell needs.
func Quote(path string) string {
	harmless := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@,+%", r)
	}
	if strings.ContainsFunc(path, func(r rune) bool { return !harmless(r) }) {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}
