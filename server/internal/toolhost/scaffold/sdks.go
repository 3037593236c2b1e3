package scaffold

import (
	"io/fs"
	"net/url"
	"strconv"
	"strings"

	"github.com/toolhost/toolhost/internal/version"
	"github.com/toolhost/toolhost/server/internal/toolhost/sdkarchive"
)

// origin says where a repository takes the SDK from. The zero value is the repository's folder
// third_party.
type origin struct {
	fetched bool   // from the public registry of the language
	linked  string // from this folder of a checkout, relative to the repository if possible

	use sdkarchive.GoUse // the packages of the Go module that the repository needs
}

// published is "yes" in a toolhost whose SDKs are in the public registries. A release that
// publishes them sets it with the linker flag -X.
var published string

// Published reports whether the public registries have the SDKs of this toolhost, so that a new
// repository need not contain one. It asks no registry.
func Published() bool { return published == "yes" }

// carriedGo is the folder of the SDK's module in a Go repository.
const carriedGo = carriedDir + "/toolhost-sdk"

// carryGo returns the SDK's module and the repository's go.sum.
func carryGo(sources fs.FS, from origin) ([]file, error) {
	module, err := sdkarchive.GoModule(sources, from.use)
	if err != nil {
		return nil, err
	}
	files := []file{{"go.sum", string(module.Sum)}}
	for _, f := range module.Files {
		files = append(files, file{carriedGo + "/" + f.Name, string(f.Data)})
	}
	return files, nil
}

// goVersion is the version of the Go module that contains the SDK.
const goVersion = "v" + version.Number

// referGo returns the values for the template of go.mod. If the repository contains the SDK, go.mod
// names all modules that the build needs, so that `go mod tidy` adds nothing. Otherwise the
// Makefile runs `go mod tidy`, which completes go.mod and go.sum.
//
// The replace directive names the version of the module. So it has no effect on a later version
// that the author takes from a registry.
func referGo(sources fs.FS, from origin) (map[string]string, error) {
	module, err := sdkarchive.GoModule(sources, from.use)
	blanks := map[string]string{"Version": version.Number, "GoVersion": module.GoVersion, "Requires": "", "Replace": ""}
	switch {
	case from.linked != "":
		linked := from.linked
		if !strings.HasPrefix(linked, "/") && !strings.HasPrefix(linked, "../") {
			linked = "./" + linked
		}
		if strings.ContainsAny(linked, " \t\"'`,()[]{}") {
			linked = strconv.Quote(linked)
		}
		blanks["Replace"] = "\nreplace " + sdkarchive.ModulePath + " => " + linked + "\n"
	case !from.fetched:
		blanks["Requires"] = "\n" + module.Requires
		blanks["Replace"] = "\nreplace " + sdkarchive.ModulePath + " " + goVersion + " => ./" + carriedGo + "\n"
	}
	return blanks, err
}

// carryPython returns the SDK as a wheel.
func carryPython(sources fs.FS, _ origin) ([]file, error) { return archived(sdkarchive.Wheel(sources)) }

// referPython returns the line of requirements.txt for the SDK. A repository that contains the SDK
// names the file and not the package, because pip would also look for the package in a public
// index, where another author may own the name.
func referPython(sources fs.FS, from origin) (map[string]string, error) {
	switch {
	case from.fetched:
		return map[string]string{"SDK": pythonSDK + "==" + version.Number}, nil
	case from.linked == "":
		wheel, err := sdkarchive.Wheel(sources)
		return map[string]string{"SDK": "./" + carriedDir + "/" + wheel.Name}, err
	case strings.ContainsAny(from.linked, " \t#;\\'\"[]") || strings.HasPrefix(from.linked, "/"):
		return map[string]string{"SDK": pythonSDK + " @ " + (&url.URL{Scheme: "file", Path: from.linked}).String()}, nil
	}
	return map[string]string{"SDK": from.linked}, nil
}

// pythonSDK is the name of the SDK in Python's registry.
const pythonSDK = "toolhost-sdk"

// carryTypeScript returns the SDK as an npm tarball.
func carryTypeScript(sources fs.FS, _ origin) ([]file, error) {
	return archived(sdkarchive.NPM(sources))
}

// referTypeScript returns the values for the template of package.json. npm copies the SDK from a
// tarball or a checkout, so that in both cases the SDK uses the repository's zod.
func referTypeScript(sources fs.FS, from origin) (map[string]string, error) {
	switch {
	case from.fetched:
		return map[string]string{"QuotedSDK": strconv.Quote(version.Number)}, nil
	case from.linked == "":
		tarball, err := sdkarchive.NPM(sources)
		return map[string]string{"QuotedSDK": strconv.Quote("file:" + carriedDir + "/" + tarball.Name)}, err
	}
	return map[string]string{"QuotedSDK": strconv.Quote("file:" + from.linked)}, nil
}

// archived returns an archive as the only file of the SDK in a repository.
func archived(archive sdkarchive.File, err error) ([]file, error) {
	return []file{{carriedDir + "/" + archive.Name, string(archive.Data)}}, err
}
