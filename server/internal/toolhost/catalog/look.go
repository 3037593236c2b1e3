package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"os"
	"path/filepath"
)

// nearLooked bounds the files of a plugin folder that every look stats. Environments of
// interpreters have many thousands of files, which change rarely and are deeper in the folder than
// the author's files.
const nearLooked = 1000

// lookAll returns, for each source in the folders and for the lock file if it is used, a text that
// changes when the source changes. A folder that cannot be read counts as empty; Load returns the
// error.
func (x *sources) lookAll(ctx context.Context, folders *folderLooks) map[string]string {
	looks := map[string]string{}
	if x.cfg.Locked {
		if info, err := os.Stat(x.cfg.LockFile); err == nil {
			looks[x.cfg.LockFile] = stampOf(info)
		}
	}
	known := *folders
	*folders = folderLooks{}
	for _, folder := range x.cfg.Folders {
		entries, _, err := scan(ctx, folder)
		if err != nil {
			continue
		}
		for _, e := range entries {
			looks[e.source] = e.stamp + e.problem
			if e.folder {
				next := known[e.source].next(ctx, e.source)
				(*folders)[e.source], looks[e.source] = next, next.near+next.far
			}
		}
	}
	return looks
}

// folderLooks holds the latest look at each plugin folder.
type folderLooks map[string]folderLook

// folderLook is the result of the latest looks at a plugin folder. The zero value means that there
// was none.
type folderLook struct {
	near string // changes with the nearLooked files nearest to the top; of the latest look
	far  string // changes with all other files; of the latest complete look
	wait int    // looks before the next complete one
}

// next looks at a folder again. A complete look that finds a change is followed by another, so that
// two looks tell whether the files are still being written.
func (l folderLook) next(ctx context.Context, dir string) folderLook {
	near, far := sha256.New(), sha256.New()
	most := nearLooked
	if l.wait == 0 {
		most = maxFolderFiles
	}
	files := 0
	walkNearFirst(ctx, dir, func(path string) bool {
		into := near
		if files++; files > nearLooked {
			into = far
		}
		if files > most {
			return false
		}
		addStamp(into, path)
		return true
	})
	next := folderLook{near: sum(near), far: l.far, wait: l.wait - 1}
	if l.wait == 0 {
		next.far, next.wait = sum(far), 0
		if next.far == l.far {
			next.wait = files / nearLooked
		}
	}
	return next
}

func sum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

func addStamp(h hash.Hash, path string) {
	info, err := os.Lstat(path)
	if err != nil {
		fmt.Fprintf(h, "%q %v\n", path, err)
		return
	}
	fmt.Fprintf(h, "%q %s\n", path, stampInFolder(info))
}

// walkNearFirst visits the files in a folder until visit returns false: those at the top, then
// those one folder deeper, and so on, each folder in the order of names. The folder itself may be a
// link. Links in it are visited and not followed. A folder that cannot be read is visited like a
// file.
func walkNearFirst(ctx context.Context, dir string, visit func(path string) bool) {
	for level := []string{dir}; len(level) > 0; {
		var deeper []string
		for _, folder := range level {
			entries, err := os.ReadDir(folder)
			if ctx.Err() != nil || err != nil && !visit(folder) {
				return
			}
			for _, entry := range entries {
				path := filepath.Join(folder, entry.Name())
				switch {
				case passedOver(entry.Name()):
				case entry.IsDir():
					deeper = append(deeper, path)
				case !visit(path):
					return
				}
			}
		}
		level = deeper
	}
}
