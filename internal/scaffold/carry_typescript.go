package scaffold

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

const (
	typeScriptSDK     = "sdk/typescript/"
	carriedTypeScript = carriedDir + "/toolhost-sdk"
)

// npmPackage contains the fields of the SDK's package.json that users of the package need. It
// leaves out the development dependencies, because npm would install them for a package that is
// part of the repository.
type npmPackage struct {
	Name             string          `json:"name"`
	Version          string          `json:"version"`
	Description      string          `json:"description"`
	License          string          `json:"license"`
	Type             string          `json:"type"`
	Engines          json.RawMessage `json:"engines"`
	Exports          json.RawMessage `json:"exports"`
	Dependencies     json.RawMessage `json:"dependencies"`
	PeerDependencies json.RawMessage `json:"peerDependencies"`
	PeerMeta         json.RawMessage `json:"peerDependenciesMeta"`
}

// carryTypeScript returns the SDK's sources. The repository compiles them with its own compiler, so
// that toolhost needs no Node.
func carryTypeScript(sources fs.FS) ([]file, error) {
	manifest, err := fs.ReadFile(sources, typeScriptSDK+"package.json")
	if err != nil {
		return nil, err
	}
	var p npmPackage
	if err := json.Unmarshal(manifest, &p); err != nil {
		return nil, fmt.Errorf("reading the SDK's package.json: %w", err)
	}
	if manifest, err = json.MarshalIndent(p, "", "  "); err != nil {
		return nil, err
	}
	license, err := fs.ReadFile(sources, "LICENSE")
	if err != nil {
		return nil, err
	}
	files := []file{
		{carriedTypeScript + "/LICENSE", string(license)},
		{carriedTypeScript + "/package.json", string(manifest) + "\n"},
	}
	err = fs.WalkDir(sources, strings.TrimSuffix(typeScriptSDK, "/"), func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || name == typeScriptSDK+"package.json" {
			return err
		}
		text, err := fs.ReadFile(sources, name)
		files = append(files, file{carriedTypeScript + "/" + strings.TrimPrefix(name, typeScriptSDK), string(text)})
		return err
	})
	return files, err
}

// referTypeScript returns the values for the templates of package.json and .npmrc. npm links an SDK
// inside of the repository and copies one from a checkout, so that in both cases the SDK uses the
// repository's zod. The package of a checkout builds itself when npm copies it.
func referTypeScript(_ fs.FS, linked string) (map[string]string, error) {
	if linked != "" {
		return map[string]string{"QuotedSDK": strconv.Quote("file:" + linked), "InstallLinks": "true", "Prepare": ""}, nil
	}
	return map[string]string{
		"QuotedSDK": strconv.Quote("file:" + carriedTypeScript), "InstallLinks": "false",
		"Prepare": "    \"prepare\": \"tsc --noCheck --project " + carriedTypeScript + "\",\n",
	}, nil
}
