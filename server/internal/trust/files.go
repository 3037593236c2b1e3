package trust

import (
	"encoding/json"
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
// also be used if the operator named it and no plugin can have written it. For that, neither the
// file nor a link in its path may be in a folder that plugins may write, or could write under an
// earlier toolhost of this user.
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

// CheckArchive returns *Untrusted if a plugin can have written an archive of a backup: neither the
// file nor a link in its path may be in a folder that plugins could write under a toolhost of this
// user. The restored state decides which files are trusted and which calls were executed.
func (s *Store) CheckArchive(path string) error {
	r, err := s.read()
	if err != nil {
		return err
	}
	reason := r.reachable(File{Path: path})
	if reason == "" {
		return nil
	}
	return &Untrusted{Path: path, Reason: reason, Help: "name the digest that was printed when the backup was made: --digest sha256:HEX"}
}

// reachable returns how a plugin could have written a file; empty if none could.
func (r *records) reachable(f File) string {
	places, err := lookups(f.Path)
	if err != nil {
		return err.Error()
	}
	for _, place := range places {
		folder := r.writable(place)
		if folder == "" {
			folder = around(place, f.Writable)
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
// more. Without this check, toolhost would silently start without the file's rules and limits.
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
			return err != nil && !errors.Is(err, fs.ErrPermission) // also for a path that no folder can have
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

// Writable returns the folder around a path, or the path itself, that plugins may write or could
// write earlier. Empty: there is none.
func (s *Store) Writable(path string) (string, error) {
	r, err := s.read()
	if err != nil {
		return "", err
	}
	return r.writable(RealFolder(path)), nil
}

// Merge returns the content of a file of records that a backup has, for a restore that replaces the
// records in use. Both are the content of such files. The result has the folders of both that
// plugins could write: a folder that became writable after the backup still has the files that
// plugins wrote there. Everything else is as in the backup.
func Merge(restored, inUse []byte) ([]byte, error) {
	var r, used records
	if err := r.decode(restored); err != nil {
		return nil, fmt.Errorf("the trust records of the backup cannot be used: %w", err)
	}
	if err := used.decode(inUse); err != nil {
		return nil, fmt.Errorf("the trust records in use are damaged: %w", err)
	}
	for _, folder := range used.Writable {
		if !slices.Contains(r.Writable, folder) {
			r.Writable = append(r.Writable, folder)
		}
	}
	for _, id := range used.WritableIDs {
		if !slices.ContainsFunc(r.WritableIDs, id.is) {
			r.WritableIDs = append(r.WritableIDs, id)
		}
	}
	r.WritableIDs = r.WritableIDs[max(0, len(r.WritableIDs)-maxWritableIDs):]
	return json.MarshalIndent(&r, "", " ")
}

// writable returns the folder around a place, or the place itself, that plugins may write or could
// write earlier; "" if there is none.
func (r *records) writable(place string) string {
	for _, folder := range r.Writable {
		if within(place, folder) {
			return folder
		}
	}
	return recognize(place, r.WritableIDs)
}

// recognize returns the place, or the innermost folder around it, that has one of the identities;
// "" if there is none.
func recognize(place string, ids []identity) string {
	if len(ids) == 0 {
		return ""
	}
	for at := place; ; at = filepath.Dir(at) {
		if id := identify(at); id.Inode != 0 && slices.ContainsFunc(ids, id.is) {
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
// and the file itself. A process that can change one of them decides what the path denotes. If the
// path leads to nothing, the last place is that of the file that would be created there.
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
		if errors.Is(err, fs.ErrNotExist) {
			return append(places, filepath.Join(append([]string{next}, left...)...)), nil
		}
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

// Around returns the first of the folders through which a path leads, or "". A process that can
// write this folder decides what the path denotes. Around considers the file, which need not exist,
// and each symbolic link on the way to it. It recognizes a folder by its path and by its identity,
// so that neither a bind mount nor another spelling of the path conceals the folder. A place in one
// of the hidden folders does not count, because the process has no access to it.
func Around(path string, folders, hidden []string) (string, error) {
	places, err := lookups(path)
	if err != nil {
		return "", fmt.Errorf("following the links of %s: %w", path, err)
	}
	for _, place := range places {
		if folder := around(place, folders); folder != "" && around(place, hidden) == "" {
			return folder, nil
		}
	}
	return "", nil
}

// around returns the first of the folders that a place is in, or "".
func around(place string, folders []string) string {
	for _, folder := range folders {
		if within(place, folder) || recognize(place, []identity{identify(folder)}) != "" {
			return folder
		}
	}
	return ""
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
