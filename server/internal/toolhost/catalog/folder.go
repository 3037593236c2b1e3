package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/toolhost/toolhost/server/internal/store/rmtree"
)

// Hard bounds of a plugin folder. toolhost does not use a folder with more files or bytes.
const (
	maxFolderFiles = 200_000
	maxFolderBytes = 4 << 30
	maxLeave       = 100 // links out of the folder; each launch protects their targets
	maxLeaveWarned = 5   // those of them that warnings name
)

// passedOver reports whether files and folders of a name, at any depth, are no part of a plugin. A
// change of their content does not change the plugin.
func passedOver(name string) bool { return name == ".git" || name == "__pycache__" }

// item is a file, folder or link in a plugin folder.
type item struct {
	path   string // relative, with slashes
	mode   fs.FileMode
	size   int64
	target string // of a link
}

// listing is the content of a plugin folder, ordered by path.
type listing struct {
	items []item
	stamp string   // changes with the folder
	files int      // all items but folders
	bytes int64    // of files
	leave []string // some of the links that lead out of the folder
}

// list walks a folder without following links: the target of a link that leads out is no part of
// the plugin.
func list(ctx context.Context, root *os.Root) (*listing, error) {
	l := &listing{}
	stamps := sha256.New()
	err := fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if name != "." && passedOver(entry.Name()) {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := root.Lstat(name)
		if err != nil {
			return err
		}
		// The line has no time of a folder, because that would also change with files that are
		// passed over.
		if info.IsDir() {
			fmt.Fprintf(stamps, "%q %o\n", name, info.Mode())
		} else {
			fmt.Fprintf(stamps, "%q %s\n", name, stampInFolder(info))
		}
		if name == "." {
			return nil
		}
		return l.add(root, name, info)
	})
	if err != nil {
		return nil, err
	}
	l.stamp = "folder:" + hex.EncodeToString(stamps.Sum(nil))
	return l, nil
}

func (l *listing) add(root *os.Root, name string, info fs.FileInfo) error {
	it := item{path: name, mode: info.Mode()}
	switch info.Mode().Type() {
	case fs.ModeDir:
	case 0:
		it.size = info.Size()
		l.bytes += it.size
		l.files++
	case fs.ModeSymlink:
		target, err := root.Readlink(name)
		if err != nil {
			return err
		}
		it.target = target
		l.files++
		if filepath.IsAbs(target) {
			if len(l.leave) == maxLeave {
				return fmt.Errorf("more than %d links lead out of the folder; put the files themselves there", maxLeave)
			}
			l.leave = append(l.leave, name)
		} else if !filepath.IsLocal(path.Join(path.Dir(name), target)) {
			return fmt.Errorf("the link %s leads out of the folder by a relative path, which a copy cannot follow; "+
				"make it absolute, or put the file itself there", name)
		}
	default:
		return fmt.Errorf("%s is neither a file nor a folder nor a link; remove it", name)
	}
	l.items = append(l.items, it)
	if l.files > maxFolderFiles || l.bytes > maxFolderBytes {
		return fmt.Errorf("it is too large for a plugin: more than %d files or %d GiB", maxFolderFiles, maxFolderBytes>>30)
	}
	return nil
}

// takeFolder copies and hashes a folder, and returns its digest. It only hashes a folder that is
// too large to copy.
//
// The digest is that of a list with a line for each item, ordered by path: its type, whether it is
// executable, the digest of its content or the target of a link, and its path. Owners, times and
// the other mode bits are no part of it, so that the same files have the same digest everywhere.
func (s *store) takeFolder(ctx context.Context, found entry, l *listing, inPlace bool) (string, error) {
	root, err := os.OpenRoot(found.source)
	if err != nil {
		return "", err
	}
	defer root.Close()
	temp, err := os.MkdirTemp(s.dir, tempPattern)
	if err != nil {
		return "", err
	}
	defer rmtree.Remove(temp)
	copied := filepath.Join(temp, "folder")
	if err := os.Mkdir(copied, 0o700); err != nil {
		return "", err
	}
	hash := sha256.New()
	hash.Write([]byte("toolhost folder 1\n"))
	for _, it := range l.items {
		into := filepath.Join(copied, filepath.FromSlash(it.path))
		if inPlace {
			into = os.DevNull
		}
		line, err := s.takeItem(ctx, root, it, into)
		if err != nil {
			return "", err
		}
		hash.Write([]byte(line))
	}
	if !inPlace {
		if err := sealFolders(copied, l); err != nil {
			return "", err
		}
	}
	after, err := list(ctx, root)
	if err != nil {
		return "", err
	}
	if after.stamp != l.stamp {
		return "", errChanging
	}
	digest := "sha256:" + hex.EncodeToString(hash.Sum(nil))
	return digest, s.keep(digest, found.source, copied, about{Files: l.files, Bytes: l.bytes, InPlace: inPlace, Leave: l.leave})
}

// sealFolders makes the folders of a copy read-only, the deepest first.
func sealFolders(copied string, l *listing) error {
	for _, it := range slices.Backward(l.items) {
		if it.mode.IsDir() {
			if err := os.Chmod(filepath.Join(copied, filepath.FromSlash(it.path)), 0o500); err != nil {
				return err
			}
		}
	}
	return nil
}

// takeItem copies one item, or only reads it if into is the null device, and returns its line of
// the list.
func (s *store) takeItem(ctx context.Context, root *os.Root, it item, into string) (string, error) {
	copying := into != os.DevNull
	switch it.mode.Type() {
	case fs.ModeDir:
		if copying {
			if err := os.Mkdir(into, 0o700); err != nil {
				return "", err
			}
		}
		return fmt.Sprintf("d %q\n", it.path), nil
	case fs.ModeSymlink:
		if copying {
			if err := os.Symlink(it.target, into); err != nil {
				return "", err
			}
		}
		return fmt.Sprintf("l %q %q\n", it.target, it.path), nil
	}
	in, err := root.Open(it.path)
	if err != nil {
		return "", err
	}
	defer in.Close()
	kind, mode := "f", fs.FileMode(0o400)
	if it.mode.Perm()&0o111 != 0 {
		kind, mode = "x", 0o500
	}
	hash := sha256.New()
	if copying {
		_, err = copyFile(ctx, into, in, mode, hash)
	} else {
		_, err = io.Copy(hash, &contextReader{ctx, in})
	}
	sum := hex.EncodeToString(hash.Sum(nil))
	if err == nil && copying && it.size > 0 {
		err = s.shared.Adopt(ctx, into, sum, mode)
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %s %q\n", kind, sum, it.path), nil
}
