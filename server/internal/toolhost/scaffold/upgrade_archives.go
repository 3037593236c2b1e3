package scaffold

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

var (
	// namedWheel and namedRelease match the lines of requirements.txt that `toolhost new` writes,
	// including text that an author added to them. The first group is the version.
	namedWheel   = regexp.MustCompile(`(?m)^(?:\./)?third_party/toolhost_sdk-([^-\s]+)-\S+\.whl`)
	namedRelease = regexp.MustCompile(`(?mi)^toolhost[-_.]sdk[ \t]*==[ \t]*([^\s;#,]+)`)
	// namedPackage matches all other lines that name the package or a checkout of it.
	namedPackage = regexp.MustCompile(`(?mi)^(?:toolhost[-_.]sdk\b.*|.*\bsdk/python/?)$`)

	carriedWheel = regexp.MustCompile(`^toolhost_sdk-[^/]*\.whl$`)
)

// upgradePython edits the line of requirements.txt that names the SDK, and the wheel.
func upgradePython(r repository) (from string, err error) {
	text, err := r.read("requirements.txt")
	if err != nil {
		return "", err
	}
	at := namedWheel.FindSubmatchIndex(text)
	if at == nil {
		at = namedRelease.FindSubmatchIndex(text)
	}
	if at == nil {
		if line := namedPackage.Find(text); line == nil {
			return "", fs.ErrNotExist
		} else if strings.Contains(string(line), "sdk/python") {
			return "", ErrLinked
		} else {
			return "", fmt.Errorf("%w: requirements.txt names the SDK by %q; name one version with ==", ErrUnknown, line)
		}
	}
	blanks, err := referPython(r.sources, r.origin())
	if err != nil {
		return "", err
	}
	r.edits["requirements.txt"] = []byte(string(text[:at[0]]) + blanks["SDK"] + string(text[at[1]:]))
	return string(text[at[2]:at[3]]), r.replaceCarried(carryPython, func(name string) bool { return carriedWheel.MatchString(path.Base(name)) })
}

var (
	// namedTarball and namedNPM match the forms in which package.json names a version of the SDK.
	namedTarball = regexp.MustCompile(`^file:(?:\./)?third_party/toolhost-sdk-(.+)\.tgz$`)
	namedNPM     = regexp.MustCompile(`^[\^~=]?([0-9]\S*)$`)

	carriedTarball = regexp.MustCompile(`^toolhost-sdk-[^/]*\.tgz$`)
)

// npmSDK is the name of the SDK in the npm registry.
const npmSDK = "@toolhost/sdk"

// upgradeTypeScript edits the version of the SDK in package.json and in npm's lock file, and the
// tarball. It removes the lock file's entry with the checksum of the earlier SDK. The next `npm
// install` adds the entry again.
func upgradeTypeScript(r repository) (from string, err error) {
	text, err := r.read("package.json")
	if err != nil {
		return "", err
	}
	named, ok := memberOf(text, "dependencies", npmSDK)
	var value string
	if !ok || json.Unmarshal(text[named.value:named.end], &value) != nil {
		return "", fs.ErrNotExist
	}
	if m := namedTarball.FindStringSubmatch(value); m != nil {
		from = m[1]
	} else if m := namedNPM.FindStringSubmatch(value); m != nil {
		from = m[1]
	} else if strings.HasPrefix(value, "file:") || strings.HasPrefix(value, "link:") {
		return "", ErrLinked
	} else {
		return "", fmt.Errorf("%w: package.json names the SDK by %q; name one version", ErrUnknown, value)
	}
	blanks, err := referTypeScript(r.sources, r.origin())
	if err != nil {
		return "", err
	}
	quoted := []byte(blanks["QuotedSDK"])
	r.edits["package.json"] = named.replaced(text, quoted)
	if err := r.replaceCarried(carryTypeScript, func(name string) bool { return carriedTarball.MatchString(path.Base(name)) }); err != nil {
		return "", err
	}
	return from, r.unlock(quoted)
}

// unlock edits npm's lock file if another edit changes the SDK. Otherwise the lock file is valid.
func (r repository) unlock(quotedSDK []byte) error {
	changes, err := r.changesAnything()
	if err != nil || !changes {
		return err
	}
	lock, err := r.read("package-lock.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	if at, ok := memberOf(lock, "packages", "", "dependencies", npmSDK); ok {
		lock = at.replaced(lock, quotedSDK)
	}
	if at, ok := memberOf(lock, "packages", "node_modules/"+npmSDK); ok {
		lock = at.removed(lock)
	}
	r.edits["package-lock.json"] = lock
	return nil
}
