//go:build unix

// Package ownership answers who may change a file besides its owner.
//
// It reads modes and the machine's lists of users and groups. It decides nothing: callers refuse a
// file, or say what helps.
package ownership

import (
	"bufio"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Shared reports whether a user other than the owner of a file or folder and root may change it, by
// its mode. A group with the name of the owner and no other member counts as the owner: Debian and
// Ubuntu give each user such a group, and the umask 002, so that what the user makes can be written
// by that group (https://wiki.debian.org/UserPrivateGroups). A group that the lists of this machine
// do not name, such as one of a directory service, counts as shared. Shared does not look at the
// sticky bit of folders.
func Shared(info fs.FileInfo) bool {
	return lists{users: "/etc/passwd", groups: "/etc/group"}.shared(info)
}

// lists are the files in the formats of passwd(5) and group(5).
type lists struct{ users, groups string }

func (l lists) shared(info fs.FileInfo) bool {
	switch perm := info.Mode().Perm(); {
	case perm&0o002 != 0:
		return true
	case perm&0o020 == 0:
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || !l.private(strconv.Itoa(int(stat.Uid)), strconv.Itoa(int(stat.Gid)))
}

// private reports whether a group contains the user and nobody else.
func (l lists) private(uid, gid string) bool {
	name, members := "", ""
	known := each(l.groups, func(fields []string) bool { // name:password:gid:members
		if len(fields) == 4 && fields[2] == gid {
			if name != "" {
				return false // a second name for the group may have other members
			}
			name, members = fields[0], fields[3]
		}
		return true
	})
	if !known || name == "" || (members != "" && members != name) {
		return false
	}
	own := false
	alone := each(l.users, func(fields []string) bool { // name:password:uid:gid:…
		if len(fields) >= 4 && fields[3] == gid {
			own = own || fields[0] == name && fields[2] == uid
			return fields[2] == uid
		}
		return true
	})
	return alone && own
}

// each calls f with the fields of each line, until f returns false. It reports whether the file was
// read to its end.
func each(file string, f func(fields []string) bool) bool {
	list, err := os.Open(file)
	if err != nil {
		return false
	}
	defer list.Close()
	lines := bufio.NewScanner(list)
	for lines.Scan() {
		if !f(strings.Split(lines.Text(), ":")) {
			return false
		}
	}
	return lines.Err() == nil
}
