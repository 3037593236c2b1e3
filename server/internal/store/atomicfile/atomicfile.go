// Package atomicfile replaces files as a whole. A reader sees the earlier content or the new one,
// also after the process was killed or the machine lost its power.
//
// It is not a library's: those that are well kept do not sync the folder, so that a power failure
// undoes a change that was reported as done, or look for a faster folder for the temporary file.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Write replaces the file at path, or creates it, with the content data. See Fill.
func Write(path string, data []byte, mode fs.FileMode) error {
	return replace(path, mode, content(data), true)
}

// WriteUnsynced is Write for a file that the program checks when it reads it, and can make again.
// It does not wait for the disk: after a power failure, the file can be the earlier one, empty or
// missing.
func WriteUnsynced(path string, data []byte, mode fs.FileMode) error {
	return replace(path, mode, content(data), false)
}

// Fill replaces the file at path, or creates it. The new file has what fill writes and the
// permissions of mode, whatever the umask is. Until fill returns, only the user can open it. fill
// must not close it. When Fill returns nil, the content and the name are on the disk.
//
// The folder of the file must exist. A symbolic link at path is itself replaced; the file that it
// names stays as it was. Replacing a folder is an error.
//
// If Fill fails, the earlier file is unchanged and the temporary file is removed, with one
// exception: if only the sync of the folder fails, the new file is in its place. A process that is
// killed can leave a temporary file in the folder, whose name begins with .toolhost-new-.
//
// Concurrent calls for one path are safe: the file has the content of one of them.
func Fill(path string, mode fs.FileMode, fill func(*os.File) error) error {
	return replace(path, mode, fill, true)
}

func content(data []byte) func(*os.File) error {
	return func(file *os.File) error {
		_, err := file.Write(data)
		return err
	}
}

func replace(path string, mode fs.FileMode, fill func(*os.File) error, sync bool) error {
	temp, err := os.CreateTemp(filepath.Dir(path), ".toolhost-new-*") // of mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // there is none after the rename
	err = fill(temp)
	if err == nil {
		err = temp.Chmod(mode.Perm())
	}
	if err == nil && sync {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return err
	}
	if err := os.Rename(temp.Name(), path); err != nil || !sync {
		return err
	}
	return SyncFolder(filepath.Dir(path))
}

// SyncFolder returns when the names in a folder are on the disk: files that were created, renamed
// and removed there. It does nothing for a folder that the user must not list, and on a file system
// that syncs no folders.
func SyncFolder(dir string) error {
	folder, err := os.Open(dir)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	err = folder.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, folder.Close())
}
