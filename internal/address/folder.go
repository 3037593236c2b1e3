package address

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// ensureFolder makes the folder of a socket, or checks that nobody but this user and root can put another socket in
// its place.
func ensureFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the socket's folder: %w", err)
	}
	return checkFolder(dir, "choose another address")
}

// checkOwn checks that nobody but this user and root can have put a socket into a folder. One that is missing has none.
func checkOwn(dir string) error {
	err := checkFolder(dir, "if you trust that user, name the address")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// checkFolder checks that nobody but this user and root can put another socket into a folder. advice says what to do where the
// folder belongs to somebody else.
func checkFolder(dir, advice string) error {
	// A symbolic link at the default place is a stranger's until shown otherwise: Lstat sees the link's own owner.
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
	if info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0 {
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
