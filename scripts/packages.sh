#!/bin/sh
# Installs the packages of the SDKs from a release, each in an empty environment, and runs the examples and
# tests of the SDK with the installed package: packages.sh DIST BIN SCRATCH. BIN has toolhost and agentd. The
# dependencies come from the registries in the versions of the lock files.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
dist=$(cd "$1" && pwd)
bin=$(cd "$2" && pwd)
rm -rf "$3"
mkdir -p "$3"
scratch=$(cd "$3" && pwd)
export PYTHONDONTWRITEBYTECODE=1

# twice NAME,COMMAND... runs tests, and once more if they fail. If they pass then, it prints them as FLAKY.
twice() {
	(logged "$@") || {
		logged "$@"
		printf 'FLAKY packages.sh %s\n' "$1"
	}
}

# logged NAME,COMMAND... runs a command. It shows what the command printed only if it fails.
logged() {
	log=$scratch/$1.log
	shift
	"$@" >"$log" 2>&1 || {
		cat "$log" >&2
		exit 1
	}
}

# python NAME,PACKAGE,TESTS installs a Python package and runs tests of the source distribution without its
# sources, so that they use the installed package.
python() {
	# As in the checkout: the tests read files two folders above the SDK.
	home=$scratch/$1/sdk/python
	mkdir -p "$home"
	cp "$root/LICENSE" "$scratch/$1/"
	cp -R "$root/sdk/testdata" "$scratch/$1/sdk/"
	python3 -m venv "$home/venv"
	# pip keeps the wheel that it builds from a source distribution by its URL. The digest makes it another URL
	# for other contents.
	set -- "$@" "$(sha256sum "$2" | cut -d' ' -f1)"
	logged "$1-install" env PIP_CONSTRAINT="$scratch/constraints" "$home/venv/bin/python" -m pip install \
		--disable-pip-version-check "toolhost-sdk[otel] @ file://$2#sha256=$4" pytest
	logged "$1-check" "$home/venv/bin/python" -m pip check
	tar -xzf "$dist"/toolhost_sdk-*.tar.gz -C "$home" --strip-components=1
	# The tests let plugins read this folder, so it stays.
	rm -r "$home/src" && mkdir "$home/src"
	cd "$home"
	# shellcheck disable=SC2086 # the names are separate words
	twice "$1" env BIN="$bin" "$home/venv/bin/python" -m pytest -q $3
	printf '    %s: %s\n' "$(basename "$2")" "$(tail -1 "$scratch/$1.log")"
}

npm_package() {
	home=$scratch/npm
	sdk=$root/sdk/typescript
	mkdir "$home"
	cd "$home"
	printf '{"private":true,"type":"module"}\n' >package.json
	# shellcheck disable=SC2046 # one word for each package
	logged npm-install npm install --no-audit --no-fund --ignore-scripts --loglevel error "$dist"/toolhost-sdk-*.tgz \
		$(node -p 'Object.entries(require(process.argv[1]).devDependencies).filter(([n]) => ["typescript", "zod", "@types/node", "@opentelemetry/api"].includes(n)).map((e) => e.join("@")).join(" ")' "$sdk/package.json")
	# The tests are in the installed package: they import internal modules by a relative path, and their plugins
	# may read only the folder of the package.
	installed=node_modules/@toolhost/sdk
	mv node_modules modules
	mkdir -p node_modules/@toolhost
	mv modules/@toolhost/sdk node_modules/@toolhost/
	rmdir modules/@toolhost
	mv modules "$installed/node_modules"
	cp -R "$sdk/test" "$sdk/examples" "$sdk/scripts" "$sdk/tsconfig.json" "$sdk/api.txt" "$installed/"
	cp -R "$root/sdk/testdata" node_modules/@toolhost/
	cd "$installed"
	logged npm-compile node_modules/.bin/tsc -p test
	logged npm-examples node_modules/.bin/tsc -p examples
	twice npm env TOOLHOST_BIN="$bin" node --test --test-concurrency=4 --test-timeout=600000 build/*.test.js
	printf '    %s: %s tests passed\n' "$(basename "$dist"/toolhost-sdk-*.tgz)" "$(sed -n 's/^# pass //p' "$scratch/npm.log")"
}

go_module() {
	home=$scratch/go
	mkdir "$home"
	version=$(cat "$dist"/goproxy/github.com/toolhost/toolhost/@v/list)
	module=github.com/toolhost/toolhost
	# The go command keeps an index of each module's files by the path of its folder in the module cache, because
	# a version never changes (cmd/go/internal/modindex). The version of the sources does, so the path of the cache
	# has the digest of the module.
	set -- $(sha256sum "$dist"/goproxy/github.com/toolhost/toolhost/@v/"$version".zip)
	# The machine's module cache is a proxy, too, so that the other modules need no download.
	export GOPROXY="file://$dist/goproxy,file://$(go env GOMODCACHE)/cache/download,$(go env GOPROXY)" GONOSUMDB="$module"
	export GOMODCACHE="$home/cache-$1" GOFLAGS="-modcacherw $(go env GOFLAGS)" GOWORK=off
	cp -R "$root/examples/weather-go" "$home/weather"
	cd "$home/weather"
	cp "$root/go.sum" .
	go mod edit -dropreplace "$module" -require "$module@$version"
	logged go-tidy go mod tidy
	logged go-example go test ./...
	twice go go test "$module/tool/..." "$module/sdk/..."
	printf '    %s %s: the example and %s packages passed\n' "$module" "$version" "$(grep -c '^ok' "$scratch/go.log")"
}

# The versions of the lock file, without its hashes.
sed -n 's/^\([a-z0-9._-]*==[^ ]*\).*/\1/p' "$root/sdk/python/requirements.lock" >"$scratch/constraints"
(go_module)
(npm_package)
(python wheel "$dist"/toolhost_sdk-*.whl 'tests/test_examples.py tests/test_readme.py')
(python sdist "$dist"/toolhost_sdk-*.tar.gz '')
# Both installed the same files, so the tests of the one hold for the other.
diff -r -x __pycache__ "$scratch"/wheel/sdk/python/venv/lib/python3*/site-packages/toolhost "$scratch"/sdist/sdk/python/venv/lib/python3*/site-packages/toolhost
