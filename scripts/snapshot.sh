#!/bin/sh
# Clones the checkout into a folder, with its uncommitted changes and new files as a commit: snapshot.sh FOLDER.
# The clone of a checkout without changes has the checkout's commit. The dates of the commit are those of HEAD, so
# that equal checkouts have equal commits. The checkout's own repository stays as it is.
set -eu
cd "$(dirname "$0")/.."
clone() { git --git-dir="$folder/.git" --work-tree=. -c user.name=snapshot -c user.email=snapshot@localhost "$@"; }
folder=$1
git clone -q --no-checkout . "$folder"
# The index of the checkout does not count: it may be that of another commit.
clone add --all
if clone diff --cached --quiet HEAD; then
	git -C "$folder" reset -q --hard
	exit 0
fi
GIT_AUTHOR_DATE=$(git show -s --format=%aI HEAD)
GIT_COMMITTER_DATE=$(git show -s --format=%cI HEAD)
export GIT_AUTHOR_DATE GIT_COMMITTER_DATE
clone commit -q --no-verify -m 'the checkout as it is'
git -C "$folder" reset -q --hard
