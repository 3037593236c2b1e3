// Package trust keeps what the operator of a machine has agreed to: configuration files by path and content, and plugins
// by folder, digest and definitions.
//
// Trust follows the writer. A tool writes files of the workspace, so a file there is configuration only if the operator
// trusted exactly this content before. The records are one file per user, trust.json in the user's state folder, which no
// plugin can see. The package decides about files and compares definitions; it does not read configuration, look for
// plugins or start anything.
//
// The invariant: bytes that are used as configuration are the bytes that were checked. Callers read a file once, pass the
// bytes to Store.Check, and parse the same bytes. A caller that reads the file a second time for parsing breaks it.
package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Names of configuration files, which are looked for in the current folder.
const (
	ToolhostFile = "toolhost.yaml"
	AgentdFile   = "agentd.yaml"
	LockFile     = "toolhost.lock"
)

// FileNames returns the names under which a file in the current folder is configuration. No plugin may create or change
// files of these names, in whichever folder it may write.
func FileNames() []string { return []string{ToolhostFile, AgentdFile, LockFile} }

// Dir returns the folder of a user's trust records: $XDG_STATE_HOME/toolhost, where XDG_STATE_HOME is $HOME/.local/state if
// it is not set. A user without a home gets a folder that does not outlive the machine's next start. getenv looks up the
// environment.
func Dir(getenv func(string) string) string {
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "toolhost")
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", "toolhost")
	}
	return filepath.Join(os.TempDir(), "toolhost-"+strconv.Itoa(os.Getuid()), "state")
}

// Digest returns the digest of a file's content, in the form sha256:HEX.
func Digest(content []byte) string {
	sum := sha256.Sum256(content)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Untrusted is the error that a file may not be used. Its text names the file, the reason and the command that helps.
type Untrusted struct {
	Path   string
	Reason string
	Help   string
}

// Error implements error.
func (e *Untrusted) Error() string {
	return fmt.Sprintf("%s is not trusted: %s; %s", e.Path, e.Reason, e.Help)
}

// day is how the time of a decision is shown.
func day(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 MST") }
