// Package namewatch reports when names in folders begin to denote other files: by a rename, by a
// removal, or because a free name was taken. The kernel reports that through inotify, within a
// fraction of a millisecond.
//
// It owns the watches and the goroutine that reads them. It does not know why a name matters, and
// does nothing about a change.
package namewatch
