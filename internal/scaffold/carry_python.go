package scaffold

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/url"
	"regexp"
	"strings"
	"time"
)

const (
	pythonProject = "sdk/python/pyproject.toml"
	pythonSource  = "sdk/python/src/"
)

// carryPython returns the SDK as a wheel. The same sources always result in the same bytes.
func carryPython(sources fs.FS) ([]file, error) {
	d, err := readDistribution(sources)
	if err != nil {
		return nil, err
	}
	wheel, err := d.wheel(sources)
	return []file{{carriedDir + "/" + d.wheelName(), wheel}}, err
}

// referPython returns the line of requirements.txt for the SDK. The line contains a file or folder
// and never only a name, because pip would look up a name in a public index.
func referPython(sources fs.FS, linked string) (map[string]string, error) {
	if linked == "" {
		d, err := readDistribution(sources)
		return map[string]string{"SDK": "./" + carriedDir + "/" + d.wheelName()}, err
	}
	if strings.ContainsAny(linked, " \t#;\\'\"[]") || strings.HasPrefix(linked, "/") {
		return map[string]string{"SDK": "toolhost-sdk @ " + (&url.URL{Scheme: "file", Path: linked}).String()}, nil
	}
	return map[string]string{"SDK": linked}, nil
}

// distribution contains the metadata of the SDK from pyproject.toml.
type distribution struct {
	name, version, summary, license, python string
	dependencies                            []string
	readme                                  string
}

// readDistribution reads only lines of these forms from pyproject.toml and from the module with the
// version. It returns an error if a value has another form; a test finds that.
var (
	tomlString  = regexp.MustCompile(`(?m)^([a-z-]+) = "([^"\\]*)"$`)
	tomlStrings = regexp.MustCompile(`(?ms)^dependencies = \[\n(.*?)^\]$`)
	tomlElement = regexp.MustCompile(`(?m)^  "([^"\\]*)",$`)
	pyVersion   = regexp.MustCompile(`(?m)^__version__ = "([^"\\]*)"$`)
)

func readDistribution(sources fs.FS) (distribution, error) {
	var texts [3]string
	for i, name := range []string{pythonProject, pythonSource + "toolhost/__init__.py", "sdk/python/README.md"} {
		text, err := fs.ReadFile(sources, name)
		if err != nil {
			return distribution{}, err
		}
		texts[i] = string(text)
	}
	_, project, _ := strings.Cut(texts[0], "\n[project]\n")
	project, _, _ = strings.Cut(project, "\n[")
	values := map[string]string{}
	for _, m := range tomlString.FindAllStringSubmatch(project, -1) {
		values[m[1]] = m[2]
	}
	d := distribution{
		name: values["name"], summary: values["description"], license: values["license"], python: values["requires-python"], readme: texts[2],
	}
	if m := pyVersion.FindStringSubmatch(texts[1]); m != nil {
		d.version = m[1]
	}
	if m := tomlStrings.FindStringSubmatch(project); m != nil {
		for _, element := range tomlElement.FindAllStringSubmatch(m[1], -1) {
			d.dependencies = append(d.dependencies, element[1])
		}
	}
	if d.name == "" || d.summary == "" || d.license == "" || d.python == "" || d.version == "" || len(d.dependencies) == 0 {
		return d, fmt.Errorf("%s does not say all that a wheel needs: %+v", pythonProject, d)
	}
	return d, nil
}

// stem returns the common prefix of the names of the wheel and of its dist-info folder.
func (d distribution) stem() string { return strings.ReplaceAll(d.name, "-", "_") + "-" + d.version }

func (d distribution) wheelName() string { return d.stem() + "-py3-none-any.whl" }

// metadata returns the wheel's core metadata, version 2.4.
func (d distribution) metadata() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Metadata-Version: 2.4\nName: %s\nVersion: %s\nSummary: %s\nLicense-Expression: %s\nLicense-File: LICENSE\nRequires-Python: %s\n",
		d.name, d.version, d.summary, d.license, d.python)
	for _, dependency := range d.dependencies {
		fmt.Fprintf(&b, "Requires-Dist: %s\n", dependency)
	}
	return b.String() + "Description-Content-Type: text/markdown\n\n" + d.readme
}

// wheel returns the archive. It contains the files of the package and the dist-info folder, whose
// RECORD contains the hashes of all files.
func (d distribution) wheel(sources fs.FS) (string, error) {
	license, err := fs.ReadFile(sources, "LICENSE")
	if err != nil {
		return "", err
	}
	var files []file
	err = fs.WalkDir(sources, pythonSource+"toolhost", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(sources, name)
		files = append(files, file{strings.TrimPrefix(name, pythonSource), string(text)})
		return err
	})
	if err != nil {
		return "", err
	}
	info := d.stem() + ".dist-info/"
	files = append(files,
		file{info + "METADATA", d.metadata()},
		file{info + "WHEEL", "Wheel-Version: 1.0\nGenerator: toolhost\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		file{info + "licenses/LICENSE", string(license)})
	var record strings.Builder
	for _, f := range files {
		sum := sha256.Sum256([]byte(f.text))
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.text))
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	return zipped(append(files, file{info + "RECORD", record.String()}))
}

// zipEpoch is the earliest time that a zip archive can store.
var zipEpoch = time.Date(1980, time.January, 1, 0, 0, 0, 0, time.UTC)

// zipped returns a zip archive of the files. All files are readable by everyone and have the same
// time, so that the archive is reproducible.
func zipped(files []file) (string, error) {
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	for _, f := range files {
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: zipEpoch}
		header.SetMode(0o644)
		into, err := w.CreateHeader(header)
		if err == nil {
			_, err = into.Write([]byte(f.text))
		}
		if err != nil {
			return "", err
		}
	}
	err := w.Close()
	return archive.String(), err
}
