#!/bin/sh
# All checks and tests of the TypeScript SDK. `make typescript` runs this script. It installs its dependencies in the
# checkout, and again only after they have changed. Without Node or npm it prints a message and succeeds, unless CI is true.
#
#   check.sh setup      only set up, build the package in .build/typescript/package, and print that folder
#   check.sh generate   regenerate src/gen and dist, a part of `make generate`
#   check.sh api        update api.txt, the list of the public API, after an intended change
#   check.sh            all checks and tests, with the programs in the folder BIN; without BIN, it builds them
set -eu
cd "$(dirname "$0")/.."
root=$(cd ../.. && pwd)
scratch=$root/.build/typescript
go=${GO:-go}

case "${1:-}" in
generate) doing=regenerated ;;
setup) doing=built ;;
*) doing=checked ;;
esac

skip() {
	printf 'the TypeScript SDK is not %s: %s\n' "$doing" "$1" >&2
	[ "${CI:-}" != true ] || exit 1
	exit 0
}

for needed in node npm; do
	command -v "$needed" >/dev/null || skip "there is no $needed on this machine"
done
version=$(node --version)
major=${version#v}
[ "${major%%.*}" -ge 22 ] || skip "Node $version is older than 22, which the package requires"

mkdir -p "$scratch"
# Only one process at a time sets up.
if command -v flock >/dev/null; then
	exec 9>"$scratch/lock"
	flock 9
fi
wanted=$(printf '%s\n' "$version" && cat package.json package-lock.json)
if [ ! -d node_modules ] || [ "$(cat "$scratch/installed" 2>/dev/null || true)" != "$wanted" ]; then
	rm -f "$scratch/installed"
	npm ci --ignore-scripts --no-audit --no-fund --loglevel error >"$scratch/npm.log" 2>&1 || {
		cat "$scratch/npm.log" >&2
		! grep -q EUSAGE "$scratch/npm.log" || exit 1 # package-lock.json does not fit package.json
		skip "the dependencies cannot be installed"
	}
	printf '%s\n' "$wanted" >"$scratch/installed"
fi
PATH=$PWD/node_modules/.bin:$PATH

# The package in a separate folder, compiled from src also if dist is not up to date.
if [ "${1:-}" = setup ]; then
	package=$scratch/package
	built=$(find src package.json package-lock.json tsconfig.json -type f | LC_ALL=C sort | xargs cksum)
	if [ "$(cat "$scratch/built" 2>/dev/null || true)" != "$built" ]; then
		rm -rf "$package" "$scratch/built"
		mkdir -p "$package"
		cp package.json "$package/"
		ln -s "$PWD/node_modules" "$package/node_modules"
		tsc --outDir "$package/dist"
		printf '%s\n' "$built" >"$scratch/built"
	fi
	printf '%s\n' "$package"
	exit 0
fi
exec 9>&-

if [ "${1:-}" = generate ]; then
	(cd "$root" && $go tool -modfile=tools/go.mod buf generate --template sdk/typescript/buf.gen.yaml)
	exec npm run --silent build
fi

if [ "${1:-}" = api ]; then
	npm run --silent build
	exec node scripts/api.mjs
fi

rm -rf "$scratch/generated"
(cd "$root" && $go tool -modfile=tools/go.mod buf generate --template sdk/typescript/buf.gen.yaml -o "$scratch/generated")
diff -r src/gen "$scratch/generated/sdk/typescript/src/gen" || {
	echo 'sdk/typescript/src/gen differs from what proto/ generates; run make generate' >&2
	exit 1
}
if grep -n '"resolved": "http' package-lock.json >&2; then
	echo 'package-lock.json contains registry addresses; npm omits them with the .npmrc in this folder' >&2
	exit 1
fi

biome ci --colors=off . >"$scratch/biome.log" 2>&1 || {
	cat "$scratch/biome.log" >&2
	exit 1
}
# toolhost embeds dist, so the checkout contains it.
rm -rf "$scratch/dist" build
tsc --outDir "$scratch/dist"
diff -r dist "$scratch/dist" || {
	echo 'sdk/typescript/dist differs from what src compiles to; run npm run build, or make generate' >&2
	exit 1
}
tsc -p test
tsc -p examples
node scripts/dependencies.mjs --check

if [ -z "${BIN:-}" ]; then
	BIN=$scratch/bin
	mkdir -p "$BIN"
	(cd "$root/server" && $go build -ldflags='-s -w' -o "$BIN/" ./cmd/toolhost ./cmd/agentd)
fi
# More test files run concurrently than there are processors, because most tests wait for processes.
beside=
! node --help | grep -q -e --test-concurrency || beside=--test-concurrency=4
# tested LOG,FILE... runs test files.
tested() {
	log=$1
	shift
	# shellcheck disable=SC2086 # it may be empty
	TOOLHOST_BIN=$BIN node --test $beside --test-timeout=600000 "$@" >"$log" 2>&1
}
# A file with a failed test runs again alone, once. If it passes then, the script prints it as FLAKY.
tested "$scratch/test.log" build/*.test.js || {
	cat "$scratch/test.log"
	# The reporters of Node 22 and 24 name the place of a failed test in different lines.
	failed=$(sed -n "s/^ *\(location: '\|test at \).*\(build\/[^:]*\.test\.js\):.*/\2/p" "$scratch/test.log" | sort -u)
	[ -n "$failed" ] || exit 1
	for file in $failed; do
		tested "$scratch/again.log" "$file" || {
			cat "$scratch/again.log"
			exit 1
		}
		printf 'FLAKY sdk/typescript/%s\n' "$file"
	done
}
if [ "${CI:-}" = true ] && grep -q '^[#ℹ] skipped [1-9]' "$scratch/test.log"; then
	cat "$scratch/test.log"
	echo 'with CI=true no test may be skipped' >&2
	exit 1
fi
printf '    Node %s\n' "$(node --version)"
sed -n 's/^[#ℹ] \(tests\|pass\|fail\) /    &/p' "$scratch/test.log"

# The package as npm publishes it: its metadata, its types, and its installation in an empty folder.
rm -rf "$scratch/packed"
mkdir -p "$scratch/packed/empty"
npm pack --ignore-scripts --loglevel error --pack-destination "$scratch/packed" >/dev/null
tarball=$(ls "$scratch"/packed/*.tgz)
publint --strict "$tarball" >"$scratch/publint.log" 2>&1 || {
	cat "$scratch/publint.log" >&2
	exit 1
}
attw --profile esm-only --no-color "$tarball" >"$scratch/attw.log" 2>&1 || {
	cat "$scratch/attw.log" >&2
	exit 1
}
cd "$scratch/packed/empty"
printf '{"private":true,"type":"module"}\n' >package.json
npm install --no-audit --no-fund --loglevel error "$tarball" >"$scratch/install.log" 2>&1 || {
	# Without a registry there is nothing to install from.
	cat "$scratch/install.log" >&2
	[ "${CI:-}" != true ] || exit 1
	exit 0
}
[ ! -e node_modules/zod ] || {
	echo 'the package installs zod, which only authors of tools need' >&2
	exit 1
}
for entry in '' /client /proto /redirect-stdout; do
	node -e "await import('@toolhost/sdk$entry')" --input-type=module || exit 1
done

# A plugin in plain JavaScript, whose types come from the declarations of the package.
sdk=$root/sdk/typescript
cp "$sdk"/test/javascript/*.mjs .
npm install --no-audit --no-fund --loglevel error --ignore-scripts "zod@$(node -p "require('$sdk/node_modules/zod/package.json').version")" >"$scratch/install.log" 2>&1 || {
	cat "$scratch/install.log" >&2
	exit 1
}
tsc --noEmit --allowJs --checkJs --strict --skipLibCheck --module nodenext --target es2023 --lib es2023,esnext.disposable \
	--typeRoots "$sdk/node_modules/@types" --types node ./*.mjs || exit 1
node --test ./*.test.mjs >"$scratch/javascript.log" 2>&1 || {
	cat "$scratch/javascript.log" >&2
	exit 1
}
echo '    the package is complete, installs in an empty folder, and works in plain JavaScript'
