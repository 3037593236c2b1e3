//go:build unix

package ownership

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestShared(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	uid, gid := os.Getuid(), os.Getgid()
	me := fmt.Sprintf("me:x:%d:%d:::\n", uid, gid)
	own := fmt.Sprintf("me:x:%d:", gid)
	for name, tt := range map[string]struct {
		mode          os.FileMode
		users, groups string
		want          bool
	}{
		"nobody else may write":             {0o755, me, own, false},
		"everybody may write":               {0o777, me, own, true},
		"everybody but the group may write": {0o707, me, own, true},
		"the private group":                 {0o775, "root:x:0:0:::\n" + me, "daemon:x:1:\n" + own, false},
		"the private group names its user":  {0o775, me, own + "me", false},
		"a member":                          {0o775, me, own + "eve", true},
		"two members":                       {0o775, me, own + "me,eve", true},
		"the group of two users":            {0o775, me + fmt.Sprintf("eve:x:%d:%d:::\n", uid+1, gid), own, true},
		"a second name of the user":         {0o775, me + fmt.Sprintf("myself:x:%d:%d:::\n", uid, gid), own, false},
		"a second name of the group":        {0o775, me, own + "\n" + fmt.Sprintf("us:x:%d:eve", gid), true},
		"a group of another name":           {0o775, me, fmt.Sprintf("users:x:%d:", gid), true},
		"a group that is not listed":        {0o775, me, "daemon:x:1:", true},
		"a user who is not listed":          {0o775, "root:x:4711:4711:::\n", own, true},
		"no lists":                          {0o775, "", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			l := lists{users: filepath.Join(dir, "passwd"), groups: filepath.Join(dir, "group")}
			for file, text := range map[string]string{l.users: tt.users, l.groups: tt.groups} {
				if text != "" {
					if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := os.Chmod(file, tt.mode); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			if got := l.shared(info); got != tt.want {
				t.Errorf("shared: %v", got)
			}
		})
	}
}
