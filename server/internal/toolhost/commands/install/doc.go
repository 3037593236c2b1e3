// Package install holds the commands that change what a toolhost may run: `install` and
// `uninstall` change plugin folders, `lock` changes the lock file, and `trust` changes the trust
// store.
package install
