// Package namewatch reports when names in folders begin to denote other files: by rename, by removal, or because a name was
// taken that was free. The kernel tells it through inotify, so a report comes within a fraction of a millisecond.
//
// It owns the watches and the goroutine that reads them. It does not know why a name matters, and does nothing about a change.
package namewatch
