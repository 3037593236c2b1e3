package sdkarchive

import (
	"io/fs"
	"path"
	"strings"
)

const pythonSDK = "sdk/python/"

// Sdist returns the Python package as a source distribution, such as toolhost_sdk-0.1.0.tar.gz. It
// contains the sources, tests, examples and scripts of the SDK, and the contracts in proto/, so
// that its user can build the wheel and generate the messages.
//
// sources has no tests. The caller therefore passes the names of the files in a checkout, and a
// function that reads one of them.
func Sdist(sources fs.FS, read func(name string) ([]byte, error), checkout []string) (File, error) {
	d, err := readDistribution(sources)
	if err != nil {
		return File{}, err
	}
	files := []File{{"PKG-INFO", []byte(d.metadata())}}
	for _, name := range checkout {
		inside, ok := strings.CutPrefix(name, pythonSDK)
		switch {
		case ok && path.Base(name) != ".gitignore":
		case strings.HasPrefix(name, "proto/") && path.Ext(name) == ".proto":
			inside = name
		default:
			continue
		}
		data, err := read(name)
		if err != nil {
			return File{}, err
		}
		files = append(files, File{inside, data})
	}
	data, err := tarred(d.stem(), files)
	return File{d.stem() + ".tar.gz", data}, err
}

// PythonRequirements returns the requirements of the Python package, such as "grpcio>=1.76.0,<2".
func PythonRequirements(sources fs.FS) ([]string, error) {
	d, err := readDistribution(sources)
	return d.dependencies, err
}
