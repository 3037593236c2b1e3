#!/bin/sh
# Clones the checkout into a folder, with its uncommitted changes and new files as a commit: snapshot.sh FOLDER.
# The clone of a checkout without changes has the checkout's commit. The time of the commit is that of HEAD, so
# that equal checkouts have equal commits.
set -eu
cd "$(dirname "$0")/.."
git -c advice.detachedHead=false clone -q . "$1"
[ -n "$(git status --porcelain)" ] || exit 0
index=$1/.git/snapshot
cp "$(git rev-parse --git-path index)" "$index"
GIT_INDEX_FILE=$index git add --all
tree=$(GIT_INDEX_FILE=$index git write-tree)
rm "$index"
GIT_AUTHOR_DATE=$(git show -s --format=%aI HEAD)
GIT_COMMITTER_DATE=$(git show -s --format=%cI HEAD)
export GIT_AUTHOR_DATE GIT_COMMITTER_DATE
commit=$(git -c user.name=snapshot -c user.email=snapshot@localhost commit-tree -p HEAD -m 'the checkout as it is' "$tree")
git -C "$1" fetch -q "$PWD" "$commit"
git -C "$1" checkout -q --detach "$commit"
