package scaffold

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/toolhost/toolhost/server/internal/toolhost/sdkarchive"
	"github.com/toolhost/toolhost/tool"
)

//go:embed all:templates
var templates embed.FS

// suffix is the suffix of all templates. It keeps Go and other tools from treating a template as a
// source file.
const suffix = ".tmpl"

// hidden contains the files and folders whose names begin with a dot in a repository. Their
// templates have names without the dot, because git and npm would apply them to this repository
// otherwise.
var hidden = map[string]string{"gitignore": ".gitignore", "github": ".github", "npmrc": ".npmrc"}

// Config describes the repository to write. Name, Language, Dir and Sources are required.
type Config struct {
	Name     string // name of the plugin or caller; see CheckName
	Language string // one of Languages
	Dir      string // folder to write; it must be empty or missing
	Sources  fs.FS  // sources of the SDKs, from toolhost.Sources
	Caller   bool   // whether the repository contains a program that calls tools, instead of a plugin

	// Online makes the repository name the SDK's release in the public registry of its language,
	// from which a build fetches the SDK. Otherwise the repository contains the SDK. A repository
	// names no file outside of itself in both cases.
	Online bool
	// Checkout is a checkout of toolhost whose SDK the repository links, by a relative path if
	// possible. It must be empty if Online is true.
	Checkout string
}

// CheckName returns an error if the plugin or caller cannot have the name. The name must be valid
// for a plugin. That of a plugin must be short enough for the name of the tool, which begins with
// it.
func (c Config) CheckName() error {
	name := c.Name
	if err := tool.CheckName(name); err != nil || c.Caller {
		return err
	}
	if err := tool.CheckName(toolName(name)); err != nil {
		return fmt.Errorf("the name %q is too long, because that of the plugin's tool begins with it; use at most %d characters",
			name, len(name)-(len(toolName(name))-longestName))
	}
	return nil
}

// longestName is the maximum length that tool.CheckName accepts.
const longestName = 64

// toolName returns the name of the new plugin's tool. It contains the name of the plugin, because
// tool names are unique within a toolhost.
func toolName(plugin string) string {
	return strings.ToLower(strings.ReplaceAll(plugin, "-", "_")) + "_count_words"
}

// Write writes the repository and returns its files in order, relative to c.Dir. It overwrites
// nothing: it returns ErrNotEmpty before it writes if c.Dir contains anything. If c.Checkout is not
// a checkout, the error wraps ErrNoCheckout.
func Write(c Config) ([]string, error) {
	if err := c.CheckName(); err != nil {
		return nil, err
	}
	files, err := render(c)
	if err != nil {
		return nil, err
	}
	if err := checkEmpty(c.Dir); err != nil {
		return nil, err
	}
	var names []string
	for _, f := range files {
		into := filepath.Join(c.Dir, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(into), 0o755); err != nil {
			return nil, fmt.Errorf("writing the repository: %w", err)
		}
		if err := writeNew(into, f.text); err != nil {
			return nil, fmt.Errorf("writing the repository: %w", err)
		}
		names = append(names, f.name)
	}
	return names, nil
}

// ErrNotEmpty is the error for a Config.Dir that already contains files.
var ErrNotEmpty = errors.New("the folder is not empty")

func checkEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("looking at the folder: %w", err)
	case len(entries) > 0:
		return fmt.Errorf("%s: %w, it holds %s; name another with --dir", dir, ErrNotEmpty, entries[0].Name())
	}
	return nil
}

// writeNew writes a new file. It fails if the file exists.
func writeNew(path, text string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

// file is one file of a repository.
type file struct {
	name string // path relative to the repository, with slashes
	text string
}

// blanks returns a replacer for the placeholders <%…%> of the templates. There are so few that the
// package does not need text/template.
func (c Config) blanks(sdk map[string]string) *strings.Replacer {
	// The prefix makes the name of the package differ from that of the SDK's package.
	pkg, description, manifest := c.kind()+"-"+strings.ToLower(c.Name), "A plugin of toolhost that counts words.", " && cp src/plugin.yaml build/"+c.Name+"/"
	if c.Caller {
		description, manifest = "Calls the tools of a toolhost.", ""
	}
	pairs := []string{
		"<%Name%>", c.Name, "<%Kind%>", c.kind(), "<%Tool%>", toolName(c.Name),
		"<%QuotedPackage%>", strconv.Quote(pkg), "<%QuotedDescription%>", strconv.Quote(description), "<%CopyManifest%>", manifest,
	}
	for name, value := range sdk {
		pairs = append(pairs, "<%"+name+"%>", value)
	}
	return strings.NewReplacer(pairs...)
}

// kind returns what the repository contains.
func (c Config) kind() string {
	if c.Caller {
		return "caller"
	}
	return "plugin"
}

// render returns the files of a repository, ordered by name. Each language has a folder with the
// templates of both kinds, and one for each kind. If a file has a template in two of them, such as
// the Makefile, its text is that of both.
func render(c Config) ([]file, error) {
	if err := CheckLanguage(c.Language); err != nil {
		return nil, err
	}
	files, sdk, err := c.sdk(languages[c.Language])
	if err != nil {
		return nil, err
	}
	blanks := c.blanks(sdk)
	for _, folder := range []string{"both", c.kind()} {
		root := path.Join("templates", c.Language, folder)
		err = fs.WalkDir(templates, root, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			text, err := fs.ReadFile(templates, name)
			if err != nil {
				return err
			}
			added := file{target(strings.TrimPrefix(name, root+"/")), blanks.Replace(string(text))}
			if at := slices.IndexFunc(files, func(f file) bool { return f.name == added.name }); at >= 0 {
				files[at].text += added.text
			} else {
				files = append(files, added)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("making the files of a %s: %w", c.kind(), err)
		}
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	return files, nil
}

// sdk returns the files of the SDK and the template values that refer to it. There are no files if
// the SDK is linked.
func (c Config) sdk(l language) (files []file, blanks map[string]string, err error) {
	from, where := origin{fetched: c.Online, use: sdkarchive.ForPlugins}, ""
	if c.Caller {
		from.use = sdkarchive.ForCallers
	}
	switch {
	case c.Checkout != "":
		folder, err := l.sdkIn(c.Checkout)
		if err != nil {
			return nil, nil, err
		}
		from.linked = relative(c.Dir, folder)
		where = "The SDK is in a checkout of toolhost, `" + from.linked + "`. Only machines with that checkout can build this repository."
	case c.Online:
		where = "The build fetches toolhost's SDK from the public registry, in the version that `" + l.names + "` names."
	default:
		if files, err = l.carry(c.Sources, from); err != nil {
			return nil, nil, fmt.Errorf("making a copy of the SDK: %w", err)
		}
		where = "The folder `" + carriedDir + "` contains toolhost's SDK, so that the build fetches it from no registry. Commit that folder too."
	}
	if blanks, err = l.refer(c.Sources, from); err != nil {
		return nil, nil, fmt.Errorf("referring to the SDK: %w", err)
	}
	blanks["Where"] = where
	return files, blanks, nil
}

// target returns the path in the repository of the file that a template produces.
func target(name string) string {
	parts := strings.Split(strings.TrimSuffix(name, suffix), "/")
	for i, part := range parts {
		parts[i] = cmp.Or(hidden[part], part)
	}
	return strings.Join(parts, "/")
}
