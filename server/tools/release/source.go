package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"github.com/toolhost/toolhost/internal/version"
)

// source is the checkout that a release is built from.
type source struct {
	root    string    // absolute
	version string    // without a leading v
	commit  string    // the commit's hash, with the suffix -dirty if files differ from the commit
	time    time.Time // the commit's time, or $SOURCE_DATE_EPOCH
	files   []string  // what a commit of the checkout would contain, relative to root, with slashes
}

// dirty reports whether files differ from the commit.
func (s source) dirty() bool { return strings.HasSuffix(s.commit, "-dirty") }

// label is the version in the names of the archives with programs. It marks a build that its commit
// does not describe.
func (s source) label() string {
	if s.dirty() {
		return s.version + "+dirty"
	}
	return s.version
}

// readSource checks that the checkout around the working directory can be released as the version,
// and describes it. If dirty is true, the checkout may have uncommitted changes and promises that
// are not recorded.
func readSource(ctx context.Context, wanted string, dirty bool) (source, error) {
	if err := checkVersion(wanted); err != nil {
		return source{}, err
	}
	root, err := git(ctx, ".", "rev-parse", "--show-toplevel")
	if err != nil {
		return source{}, fmt.Errorf("a release needs a git checkout: %w", err)
	}
	s := source{root: root, version: wanted}
	if s.commit, err = git(ctx, root, "rev-parse", "HEAD"); err != nil {
		return source{}, fmt.Errorf("a release needs a commit: %w", err)
	}
	changed, err := git(ctx, root, "status", "--porcelain")
	if err != nil {
		return source{}, err
	}
	if changed != "" {
		if !dirty {
			return source{}, fmt.Errorf("the checkout has uncommitted changes; commit them, or mark the release with DIRTY=yes:\n%s", changed)
		}
		s.commit += "-dirty"
	}
	if s.time, err = sourceTime(ctx, root, os.Getenv("SOURCE_DATE_EPOCH")); err != nil {
		return source{}, err
	}
	if s.files, err = listFiles(ctx, root); err != nil {
		return source{}, err
	}
	if err := s.checkVersions(); err != nil || dirty {
		return s, err
	}
	return s, s.checkRecords()
}

// listFiles lists what a commit of the whole checkout would contain: the tracked files, and the new
// ones that no .gitignore names. A checkout without changes has no new ones.
func listFiles(ctx context.Context, root string) ([]string, error) {
	listed, err := git(ctx, root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	var files []string
	for name := range strings.SplitSeq(strings.TrimSuffix(listed, "\x00"), "\x00") {
		// A deleted file is listed until the deletion is committed.
		if _, err := os.Lstat(filepath.Join(root, name)); err == nil {
			files = append(files, name)
		}
	}
	// Git lists the new files first.
	slices.Sort(files)
	return files, nil
}

// preRelease are the pre-releases that the registries of all languages can express.
var preRelease = regexp.MustCompile(`^-(alpha|beta|rc)\.(0|[1-9][0-9]*)$`)

// checkVersion returns an error if the version is not a semantic version that all registries
// accept.
func checkVersion(v string) error {
	switch {
	case v == "":
		return errors.New("name the version to release, such as VERSION=0.1.0")
	case strings.HasPrefix(v, "v"):
		return fmt.Errorf("VERSION=%s begins with a v, which belongs to the tag only; write %s", v, strings.TrimPrefix(v, "v"))
	case !semver.IsValid("v"+v) || semver.Canonical("v"+v) != "v"+v:
		return fmt.Errorf("VERSION=%s is not a semantic version without build metadata, such as 0.1.0 or 0.2.0-rc.1", v)
	}
	if pre := semver.Prerelease("v" + v); pre != "" && !preRelease.MatchString(pre) {
		return fmt.Errorf("VERSION=%s: a pre-release ends with -alpha.N, -beta.N or -rc.N, because Python has no other", v)
	}
	return nil
}

// pythonVersion returns the version as Python's packages write it, such as 0.2.0rc1.
func pythonVersion(v string) string {
	return strings.NewReplacer("-alpha.", "a", "-beta.", "b", "-rc.", "rc").Replace(v)
}

// checkVersions returns an error if a part of the sources has another version than the release.
func (s source) checkVersions() error {
	var manifest struct{ Version string }
	text, err := os.ReadFile(filepath.Join(s.root, "sdk/typescript/package.json"))
	if err == nil {
		err = json.Unmarshal(text, &manifest)
	}
	if err != nil {
		return err
	}
	python, err := os.ReadFile(filepath.Join(s.root, "sdk/python/src/toolhost/__init__.py"))
	if err != nil {
		return err
	}
	found := regexp.MustCompile(`(?m)^__version__ = "(.*)"$`).FindSubmatch(python)
	if found == nil {
		return errors.New("sdk/python/src/toolhost/__init__.py has no __version__")
	}
	for _, place := range []struct{ file, has, wanted string }{
		{"internal/version", version.Number, s.version},
		{"sdk/typescript/package.json", manifest.Version, s.version},
		{"sdk/python/src/toolhost/__init__.py", string(found[1]), pythonVersion(s.version)},
	} {
		if place.has != place.wanted {
			return fmt.Errorf("%s has the version %s, and the release needs %s there", place.file, place.has, place.wanted)
		}
	}
	return nil
}

// sourceTime returns the time that the files of the release have. epoch is a number of seconds
// since 1970 or empty; see https://reproducible-builds.org/specs/source-date-epoch/.
func sourceTime(ctx context.Context, root, epoch string) (time.Time, error) {
	if epoch == "" {
		var err error
		if epoch, err = git(ctx, root, "show", "-s", "--format=%ct", "HEAD"); err != nil {
			return time.Time{}, err
		}
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH=%s is not a number of seconds", epoch)
	}
	return time.Unix(seconds, 0).UTC(), nil
}

func git(ctx context.Context, root string, args ...string) (string, error) {
	return output(exec.CommandContext(ctx, "git", append([]string{"-C", root}, args...)...))
}

// output runs a command and returns what it printed, without the newline at the end. The error
// contains what the command printed to standard error.
func output(cmd *exec.Cmd) (string, error) {
	var failure strings.Builder
	cmd.Stderr = &failure
	printed, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(failure.String()))
	}
	return strings.TrimSuffix(string(printed), "\n"), nil
}
