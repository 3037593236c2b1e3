// Package backup writes backups of toolhost's and agentd's state to archives, and restores folders
// from them.
//
// An archive is a tar file that is compressed with gzip. Its last member is the manifest, which has
// the digest of every other member. So an archive that was cut off has no manifest, and a member
// that was changed, added, removed or swapped does not match it. The digests detect damage. They do
// not detect an attacker who rewrites the whole archive; the digest of the archive does, if it is
// kept elsewhere.
//
// The package knows neither which files a program has nor what they mean. It uses tar and gzip from
// the standard library, so that every system has a program that can look into an archive.
package backup

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"time"
)

const (
	// formatName and formatVersion identify the format of an archive. The version increases when an
	// older program would misread an archive.
	formatName    = "toolhost-backup"
	formatVersion = 1
	// manifestName is the name of the last member.
	manifestName = "manifest.json"
	// maxManifest bounds the manifest in bytes. It has about 200 bytes for each file, and the
	// artifacts of a toolhost are the most files.
	maxManifest = 64 << 20
	// maxName and maxDepth bound the name of a member, and the folders in it. Each is more than every
	// name has that a program gives.
	maxName  = 1024
	maxDepth = 8
	// maxMembers bounds the members. The entry of a file in the manifest takes at least 90 bytes, so a
	// manifest of maxManifest bytes names fewer files.
	maxMembers = maxManifest / 90
	// maxTail bounds what may follow the last member. tar pads an archive with zeros to a multiple of
	// its block size, which is 10 KiB by default.
	maxTail = 1 << 20
)

// Manifest says what an archive contains and where it comes from.
type Manifest struct {
	Format  string `json:"format"`
	Version int    `json:"version"`

	Program        string    `json:"program"` // toolhost or agentd
	ProgramVersion string    `json:"program_version"`
	Time           time.Time `json:"time"` // when the backup began
	// User is the id of the user that made the backup. Principals of calls contain it.
	User    int      `json:"user"`
	Ledgers []Ledger `json:"ledgers,omitempty"`
	Files   []File   `json:"files"`
}

// Ledger is the identity of a ledger in an archive.
type Ledger struct {
	Path string `json:"path"` // the name of the ledger's member
	ID   string `json:"id"`
}

// File is one member of an archive.
type File struct {
	Path   string `json:"path"` // relative, with slashes
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"` // hexadecimal
}

// Has reports whether the archive has a file.
func (m *Manifest) Has(path string) bool {
	for i := range m.Files {
		if m.Files[i].Path == path {
			return true
		}
	}
	return false
}

// Bytes returns the size of all files together.
func (m *Manifest) Bytes() (total int64) {
	for i := range m.Files {
		total += m.Files[i].Size
	}
	return total
}

// parseManifest parses a manifest and checks its format. It reads the version first, because a
// newer program may have written fields that this one does not know.
func parseManifest(data []byte) (*Manifest, error) {
	m := &Manifest{}
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("its manifest cannot be read: %w", err)
	}
	switch {
	case m.Format != formatName:
		return nil, fmt.Errorf("its manifest has the format %.40q and not %q", m.Format, formatName)
	case m.Version > formatVersion:
		return nil, fmt.Errorf("a newer program wrote it: it has version %d, and this program knows versions up to %d", m.Version, formatVersion)
	case m.Version < 1 || m.Program == "" || m.Time.IsZero():
		return nil, fmt.Errorf("its manifest is incomplete")
	}
	return m, nil
}

// checkName refuses names that could lead out of the folder in which the members are created.
func checkName(name string) error {
	if len(name) > maxName || strings.Count(name, "/") >= maxDepth || !fs.ValidPath(name) || name == "." || strings.ContainsAny(name, "\\\x00") {
		return fmt.Errorf("it has a member with the name %.80q, which is not allowed", name)
	}
	return nil
}
