// Package toolhost holds the sources of the SDKs, so that the program toolhost can put them into a
// new repository without a checkout. Only server/internal/toolhost/scaffold imports it. Programs
// and plugins import client and sdk instead.
package toolhost

import (
	"embed"
	"io/fs"
)

// Patterns name files, not folders: a folder's pattern leaves out names that begin with an
// underscore, and takes in what Python compiled beside its sources.
//
//go:embed LICENSE go.mod go.sum
//go:embed gen/go/toolhost/plugin/v1/*.go gen/go/toolhost/tool/v1/*.go gen/go/toolhost/workspace/v1/*.go
//go:embed internal/text/arguments/*.go internal/text/jsontext/*.go internal/wire/filterjson/*.go internal/wire/flow/*.go internal/text/partialjson/*.go
//go:embed internal/text/crashoutput/*.go internal/text/nearest/*.go internal/store/ownership/*.go internal/text/pattern/*.go internal/processors/*.go internal/wire/pluginwire/*.go internal/wire/toolpb/*.go internal/wire/wirecode/*.go internal/wire/workspacepb/*.go internal/store/filelock/*.go internal/wire/trace/*.go internal/version/*.go
//go:embed sdk/*.go sdk/internal/fit/*.go sdk/internal/spans/*.go sdk/internal/transport/*.go sdk/sdktest/*.go sdk/egress/*.go sdk/workspace/*.go sdk/workspace/commands/*.go sdk/workspace/remote/*.go tool/*.go
//go:embed client/*.go gen/go/agentd/v1/*.go gen/go/toolhost/decision/v1/*.go gen/go/toolhost/v1/*.go internal/address/*.go internal/identity/*.go
//go:embed internal/wire/credential/*.go internal/wire/hostpb/*.go internal/wire/link/*.go
//go:embed sdk/python/README.md sdk/python/pyproject.toml sdk/python/src/toolhost/py.typed
//go:embed sdk/python/src/toolhost/*.py sdk/python/src/toolhost/*/*.py sdk/python/src/toolhost/*/*/*.py
//go:embed sdk/python/src/toolhost/*/*/*/*.py sdk/python/src/toolhost/*/*/*/*.pyi
//go:embed sdk/python/src/toolhost/*/*/*/*/*.py sdk/python/src/toolhost/*/*/*/*/*.pyi
//go:embed sdk/typescript/README.md sdk/typescript/package.json
//go:embed sdk/typescript/dist/*.js sdk/typescript/dist/*.ts sdk/typescript/dist/*/*.js sdk/typescript/dist/*/*.ts
//go:embed sdk/typescript/dist/*/*/*/*.js sdk/typescript/dist/*/*/*/*.ts sdk/typescript/dist/*/*/*/*/*.js sdk/typescript/dist/*/*/*/*/*.ts
var sources embed.FS

// Sources returns the files that the SDKs consist of, under their paths in the repository: the Go
// packages that plugins, their tests and callers import, with their own tests, sdk/python, and
// sdk/typescript. It is safe for concurrent use.
func Sources() fs.FS { return sources }
