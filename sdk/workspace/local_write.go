package workspace

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	maxLinks = 40 // the limit of Linux for one path
	// temporaryPrefix begins the name of a temporary file. Its length leaves room in a name of 255
	// bytes, whatever the name of the target is.
	temporaryPrefix = ".toolhost-write-"
)

// WriteFile implements Writer.
func (l *Local) WriteFile(ctx context.Context, name string, content []byte, o WriteOptions) (Change, error) {
	rel, err := l.begin(ctx, "write", name)
	if err != nil {
		return Change{}, err
	}
	target, err := l.target(rel, name)
	if err != nil {
		return Change{}, err
	}
	folder, _ := filepath.Split(target)
	if folder != "" && o.IfVersion == "" {
		if err := l.root.MkdirAll(filepath.Clean(folder), 0o777); err != nil {
			return Change{}, explain("make the folders of", name, err)
		}
	}
	old, err := l.replaceable(target, name, o)
	if err != nil {
		return Change{}, err
	}
	temporary := folder + temporaryPrefix + rand.Text()
	info, err := l.writeTemporary(temporary, content, old)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		_, err = l.replaceable(target, name, o) // check again as late as possible
	}
	if err == nil {
		err = l.root.Rename(temporary, target)
	}
	if err != nil {
		_ = l.root.Remove(temporary) // if this fails, err explains the file that remains
		return Change{}, explain("write", name, err)
	}
	change := Change{After: infoOf(info)}
	change.After.Name = filepath.Base(target)
	if renamed, err := l.root.Lstat(target); err == nil && os.SameFile(info, renamed) {
		change.After = infoOf(renamed) // a rename may change the version
	}
	if old != nil {
		change.Before = infoOf(old)
	}
	return change, nil
}

// target follows links at the end of a path, so that a write through a link changes the file that
// the link points to.
func (l *Local) target(rel, name string) (string, error) {
	target := rel
	for range maxLinks {
		if namesFolder(filepath.ToSlash(target)) {
			return "", errorf(ErrFolder, "%q names a folder; give the path of a file", name)
		}
		info, err := l.root.Lstat(target)
		if errors.Is(err, fs.ErrNotExist) {
			return target, nil
		}
		if err != nil {
			return "", explain("write", name, err)
		}
		if info.Mode().Type() != fs.ModeSymlink {
			return target, nil
		}
		link, err := l.root.Readlink(target)
		if err != nil {
			return "", explain("write", name, err)
		}
		if filepath.IsAbs(link) {
			return "", absoluteLink(name, link)
		}
		folder, _ := filepath.Split(target)
		target = folder + link
	}
	return "", tooManyLinks(name)
}

func absoluteLink(name, target string) error {
	return errorf(ErrOutside, "%q is a link with the absolute target %q; only links with a relative target inside the workspace are followed", name, target)
}

func tooManyLinks(name string) error {
	return errorf(fs.ErrInvalid, "%q leads through more than %d links", name, maxLinks)
}

// replaceable returns the current file at the target, or nil if there is none. The error says why
// it must not be replaced.
func (l *Local) replaceable(target, name string, o WriteOptions) (fs.FileInfo, error) {
	info, err := l.root.Lstat(target)
	switch {
	case errors.Is(err, fs.ErrNotExist) && o.IfVersion == "":
		return nil, nil
	case err != nil:
		return nil, explain("write", name, err)
	}
	if err := writable(name, infoOf(info), o); err != nil {
		return nil, err
	}
	return info, nil
}

// writable refuses a file that must not be replaced.
func writable(name string, info Info, o WriteOptions) error {
	switch {
	case info.Mode.IsDir():
		return errorf(ErrFolder, "%q is a folder; give the path of a file", name)
	case !info.Mode.IsRegular():
		return errorf(ErrIrregular, "%q is no regular file but a %s, which cannot be written", name, Kind(info.Mode))
	case info.Mode.Perm()&0o200 == 0:
		return errorf(fs.ErrPermission, "%q is read-only (%s)", name, info.Mode)
	case o.IfVersion != "" && o.IfVersion != info.Version:
		return errorf(ErrChanged, "%q was changed by another writer meanwhile", name)
	}
	return nil
}

// writeTemporary writes a temporary file in the folder of the target. A rename then replaces the
// target, so that neither a reader nor a crash finds half of the content.
func (l *Local) writeTemporary(temporary string, content []byte, old fs.FileInfo) (fs.FileInfo, error) {
	file, err := l.root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	_, err = file.Write(content)
	if err == nil && old != nil {
		err = file.Chmod(old.Mode().Perm())
	}
	if err == nil {
		err = file.Sync()
	}
	var info fs.FileInfo
	if err == nil {
		info, err = file.Stat()
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	return info, err
}
