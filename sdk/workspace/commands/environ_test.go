package commands

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A command does not see variables that are meant for the plugin. It keeps the marker by which
// toolhost finds it.
func TestEnvironment(t *testing.T) {
	got, err := environ([]string{
		"PATH=/bin", "HOME=/h", "TOOLHOST_PLUGIN=cookie", "PLUGIN_CLIENT_CERT=c", "TOOLHOST_INSTANCE=mark",
		"BASH_ENV=/x", "OLDPWD=/y", "GOPROXY=off", "PAGER=less",
	}, map[string]string{"HOME": "/mine"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0", "GOPROXY=off", "HOME=/mine", "NO_COLOR=1", "PAGER=less", "PATH=/bin", "TERM=dumb", "TOOLHOST_INSTANCE=mark"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
