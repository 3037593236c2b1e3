package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/server/internal/toolhost/sdkarchive"
)

// language describes how a repository uses the SDK of its language.
type language struct {
	folder string // folder of the SDK in a checkout of toolhost
	needs  string // file that must exist in that folder
	names  string // file of a repository that names the SDK's version

	// carry returns the files that contain the SDK in a repository, for the use that the origin says.
	// sources contains toolhost's sources.
	carry func(sources fs.FS, from origin) ([]file, error)
	// refer returns the template values with which a repository takes the SDK from its origin.
	refer func(sources fs.FS, from origin) (map[string]string, error)
	// upgrade adds the changes of a repository to the repository's edits, and returns the version
	// of the SDK before the upgrade. The error is fs.ErrNotExist if the repository does not use the
	// SDK of this language.
	upgrade func(r repository) (from string, err error)
}

var languages = map[string]language{
	"go":         {folder: ".", needs: "go.mod", names: "go.mod", carry: carryGo, refer: referGo, upgrade: upgradeGo},
	"python":     {folder: "sdk/python", needs: "pyproject.toml", names: "requirements.txt", carry: carryPython, refer: referPython, upgrade: upgradePython},
	"typescript": {folder: "sdk/typescript", needs: "package.json", names: "package.json", carry: carryTypeScript, refer: referTypeScript, upgrade: upgradeTypeScript},
}

// carriedDir is the folder of a repository that contains the SDK, with slashes.
const carriedDir = "third_party"

// Languages returns the supported languages in alphabetical order.
func Languages() []string { return slices.Sorted(maps.Keys(languages)) }

// CheckLanguage returns nil if the language is supported. Otherwise it returns an error that lists
// the supported ones.
func CheckLanguage(name string) error {
	if _, ok := languages[name]; !ok {
		return fmt.Errorf("there is no language %q; use %s", name, strings.Join(Languages(), ", "))
	}
	return nil
}

// ErrNoCheckout is the error for a Config.Checkout that is not a checkout of toolhost.
var ErrNoCheckout = errors.New("it is not a checkout of toolhost; name the folder that holds toolhost's go.mod")

// sdkIn returns the absolute path of the language's SDK in a checkout.
func (l language) sdkIn(checkout string) (string, error) {
	resolved, err := filepath.Abs(checkout)
	if err == nil {
		resolved, err = filepath.EvalSymlinks(resolved)
	}
	if err != nil {
		return "", fmt.Errorf("looking for the SDK in %s: %w: %w", checkout, ErrNoCheckout, err)
	}
	text, err := os.ReadFile(filepath.Join(resolved, "go.mod"))
	folder := filepath.Join(resolved, filepath.FromSlash(l.folder))
	if err == nil {
		_, err = os.Stat(filepath.Join(folder, l.needs))
	}
	if err != nil || !strings.HasPrefix(string(text), "module "+sdkarchive.ModulePath+"\n") {
		return "", fmt.Errorf("looking for the SDK in %s: %w", checkout, ErrNoCheckout)
	}
	return folder, nil
}

// relative returns the path of folder relative to from, with slashes. from need not exist. relative
// resolves symbolic links in from first, because ".." does not undo them. It returns folder itself
// if no relative path exists.
func relative(from, folder string) string {
	existing, rest := from, ""
	for {
		resolved, err := filepath.EvalSymlinks(existing)
		if err == nil {
			from = filepath.Join(resolved, rest)
			break
		}
		parent := filepath.Dir(existing)
		if parent == existing {
			break
		}
		existing, rest = parent, filepath.Join(filepath.Base(existing), rest)
	}
	path, err := filepath.Rel(from, folder)
	if err != nil {
		return filepath.ToSlash(folder)
	}
	return filepath.ToSlash(path)
}
