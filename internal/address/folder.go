package address

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/toolhost/toolhost/internal/store/ownership"
)

// ensureFolder creates the folder of a socket, or checks that only this user and root can replace
// the socket in an existing one.
func ensureFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the socket's folder: %w", err)
	}
	return checkFolder(dir, "choose another address")
}

// checkOwn checks that only this user and root can have put a socket into the folder. It accepts a
// missing folder, because it contains no socket.
func checkOwn(dir string) error {
	err := checkFolder(dir, "if you trust that user, name the address")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// checkFolder checks that only this user and root can replace a socket in the folder. advice
// completes the error about a folder of another user.
func checkFolder(dir, advice string) error {
	// Another user can place a symbolic link at the default path. Lstat returns the owner of the
	// link itself, and Stat below the owner of its target. Both must be trusted.
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("looking at the socket's folder: %w", err)
	}
	if err := checkOwner(dir, info, advice); err != nil {
		return err
	}
	if info, err = os.Stat(dir); err != nil {
		return fmt.Errorf("looking at the socket's folder: %w", err)
	}
	if err := checkOwner(dir, info, advice); err != nil {
		return err
	}
	if ownership.Shared(info) && info.Mode()&fs.ModeSticky == 0 {
		return fmt.Errorf("the socket's folder %s has mode %04o, so that others could replace the socket; run: chmod go-w %s", dir, info.Mode().Perm(), dir)
	}
	return nil
}

func checkOwner(dir string, info fs.FileInfo, advice string) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(stat.Uid) == os.Getuid() || stat.Uid == 0 {
		return nil
	}
	return fmt.Errorf("the socket's folder %s belongs to another user (uid %d); %s", dir, stat.Uid, advice)
}
