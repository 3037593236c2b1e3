package mcpauth

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/server/internal/store/atomicfile"
)

// Login is the login of one principal at one MCP server, as a file has it.
type login struct {
	Version   int    `json:"version"`
	Plugin    string `json:"plugin"`
	Principal string `json:"principal"` // the key
	// URL is that of the server when the principal logged in. The tokens go to this URL only.
	URL      string      `json:"url"`
	Resource string      `json:"resource"` // what the tokens are for, in the terms of the server
	Issuer   string      `json:"issuer"`
	Client   oauthClient `json:"client"`
	// TokenEndpoint and RevocationEndpoint are those of the issuer. RevocationEndpoint may be empty.
	TokenEndpoint      string    `json:"token_endpoint"`
	RevocationEndpoint string    `json:"revocation_endpoint,omitempty"`
	AccessToken        string    `json:"access_token"`
	RefreshToken       string    `json:"refresh_token,omitempty"`
	Expires            time.Time `json:"expires,omitzero"` // of the access token; zero: not known
	Scopes             []string  `json:"scopes,omitempty"` // granted, or requested if the server did not say
	Created            time.Time `json:"created"`
	// Describes says that toolhost may read the definitions of the server's tools with the login.
	Describes bool `json:"describes,omitempty"`
}

const (
	loginVersion = 1
	// maxFile bounds the file of a login in bytes: two tokens, a client secret and some URLs.
	maxFile = 128 << 10
	// maxFiles bounds the logins that are read to find those of a principal or server.
	maxFiles = 100_000
)

// store keeps each login in a file of a folder. The name of the file is a digest, because plugins
// and principals may have any name.
type store struct{ folder string }

func (s store) path(who account) string {
	sum := sha256.Sum256([]byte(who.plugin + "\x00" + who.principal))
	return filepath.Join(s.folder, hex.EncodeToString(sum[:])+".json")
}

// load returns a login, or nil if there is none.
func (s store) load(who account) (*login, error) {
	found, err := read(s.path(who))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the login of %s at %s: %w", who.principal, who.plugin, err)
	}
	if found.Plugin != who.plugin || found.Principal != who.principal {
		return nil, fmt.Errorf("the file %s is the login of another principal", s.path(who))
	}
	return found, nil
}

func read(path string) (*login, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if err := private(info); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, err
	}
	var l login
	if len(data) > maxFile || json.Unmarshal(data, &l) != nil || l.Version != loginVersion {
		return nil, fmt.Errorf("%s is damaged; log out and log in again", path)
	}
	return &l, nil
}

// private returns an error for a file that another user could have written or can read.
func private(info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return errors.New("it is not a regular file")
	case ok && int(stat.Uid) != os.Geteuid() && os.Geteuid() != 0:
		return fmt.Errorf("it belongs to another user (uid %d)", stat.Uid)
	case info.Mode().Perm()&0o077 != 0:
		return errors.New("other users can read or change it")
	}
	return nil
}

// save replaces the file of a login as a whole, and returns when it is on the disk.
func (s store) save(l *login) error {
	data, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if len(data) > maxFile {
		return errors.New("the login is too large to be stored")
	}
	if err := os.MkdirAll(s.folder, 0o700); err != nil {
		return err
	}
	return atomicfile.Write(s.path(account{l.Plugin, l.Principal}), data, 0o600)
}

// remove deletes a login. It is no error if there is none.
func (s store) remove(who account) error {
	if err := os.Remove(s.path(who)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := atomicfile.SyncFolder(s.folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// all calls found for each login that can be read.
func (s store) all(found func(*login)) error {
	folder, err := os.Open(s.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer folder.Close()
	names, err := folder.Readdirnames(maxFiles)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	for _, name := range names {
		if filepath.Ext(name) != ".json" {
			continue
		}
		if l, err := read(filepath.Join(s.folder, name)); err == nil {
			found(l)
		}
	}
	return nil
}
