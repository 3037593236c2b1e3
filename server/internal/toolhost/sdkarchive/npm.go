package sdkarchive

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
)

const typeScriptSDK = "sdk/typescript/"

// NPM returns the tarball of the npm package, such as toolhost-sdk-0.1.0.tgz. It contains what
// `npm pack` puts into it: the compiled modules with their types, the manifest, the README, and the
// license. The compiled modules are among the sources, because toolhost cannot run the compiler.
func NPM(sources fs.FS) (File, error) {
	manifest, err := fs.ReadFile(sources, typeScriptSDK+"package.json")
	if err != nil {
		return File{}, err
	}
	var p struct{ Name, Version string }
	if err := json.Unmarshal(manifest, &p); err != nil {
		return File{}, fmt.Errorf("reading the SDK's package.json: %w", err)
	}
	license, err := fs.ReadFile(sources, "LICENSE")
	if err != nil {
		return File{}, err
	}
	readme, err := fs.ReadFile(sources, typeScriptSDK+"README.md")
	if err != nil {
		return File{}, err
	}
	modules, err := filesIn(sources, typeScriptSDK+"dist", typeScriptSDK, func(string) bool { return true })
	if err != nil {
		return File{}, err
	}
	data, err := tarred("package", append([]File{{"LICENSE", license}, {"README.md", readme}, {"package.json", manifest}}, modules...))
	// npm forms the file name from the scope and the name of the package in this way.
	name := strings.NewReplacer("@", "", "/", "-").Replace(p.Name) + "-" + p.Version + ".tgz"
	return File{name, data}, err
}
