// Package trust keeps what the operator of a machine has agreed to: configuration files by path and
// content, and plugins by folder, digest and definitions.
//
// Trust follows the writer. A tool writes files of the workspace, so a file there is configuration
// only if the operator trusted exactly this content before. The records are one file per user,
// trust.json in the user's state folder, which no plugin can see. The package decides about files
// and compares definitions; it does not read configuration, look for plugins or start anything.
//
// The invariant: bytes that are used as configuration are the bytes that were checked. Callers read
// a file once, pass the bytes to Store.Check, and parse the same bytes. A caller that reads the
// file a second time for parsing breaks it.
package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/toolhost/toolhost/internal/store/ownership"
)

// Names of configuration files, which commands look for in the current folder.
const (
	ToolhostFile = "toolhost.yaml"
	AgentdFile   = "agentd.yaml"
	LockFile     = "toolhost.lock"
)

// FileNames returns the names that make a file in the current folder configuration. No plugin may
// create or change files of these names in any folder that it may write.
func FileNames() []string { return []string{ToolhostFile, AgentdFile, LockFile} }

// Dir returns the folder of a user's trust records: $XDG_STATE_HOME/toolhost, where XDG_STATE_HOME
// defaults to $HOME/.local/state. A user without a home gets a folder that is lost when the machine
// restarts. getenv looks up the environment.
func Dir(getenv func(string) string) string {
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "toolhost")
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", "toolhost")
	}
	return filepath.Join(homeless(), "state")
}

// homeless returns the folder of a user without a home. Other users can make folders in the same
// place.
func homeless() string { return filepath.Join(os.TempDir(), "toolhost-"+strconv.Itoa(os.Getuid())) }

// Secure makes the folder around the state folder of a user without a home. It returns an error if
// another user made that folder or can change it, because that user could replace the records. It
// does nothing for any other folder.
func Secure(dir string) error {
	if filepath.Dir(dir) != homeless() {
		return nil
	}
	if err := os.MkdirAll(homeless(), 0o700); err != nil {
		return fmt.Errorf("making a folder for the state: %w; set HOME or XDG_STATE_HOME", err)
	}
	return checkHomeless(dir)
}

// checkHomeless is Secure for readers: a folder that does not exist holds nothing.
func checkHomeless(dir string) error {
	folder := homeless()
	if filepath.Dir(dir) != folder {
		return nil
	}
	info, err := os.Lstat(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("looking at the folder of the state: %w", err)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return fmt.Errorf("%s is no folder, and the state would be in it; set HOME or XDG_STATE_HOME", folder)
	case ok && int(stat.Uid) != os.Getuid():
		return fmt.Errorf("%s belongs to another user (uid %d), and the state would be in it; set HOME or XDG_STATE_HOME", folder, stat.Uid)
	case ownership.Shared(info):
		return fmt.Errorf("%s can be changed by other users, and the state would be in it; set HOME or XDG_STATE_HOME", folder)
	}
	return nil
}

// Digest returns the digest of a file's content, in the form sha256:HEX.
func Digest(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Untrusted is the error for a file that may not be used. Its text names the file, the reason and
// the command that helps.
type Untrusted struct {
	Path   string
	Reason string
	Help   string
}

// Error implements error.
func (e *Untrusted) Error() string {
	return fmt.Sprintf("%s is not trusted: %s; %s", e.Path, e.Reason, e.Help)
}

// day formats the time of a decision.
func day(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 MST") }
