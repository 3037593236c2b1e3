package address_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/address"
)

func TestParse(t *testing.T) {
	tests := []struct {
		in, want string
		refused  string // part of the error message
	}{
		{in: "unix:///run/x.sock", want: "unix:///run/x.sock"},
		{in: "unix:///run/../run//x.sock", want: "unix:///run/x.sock"},
		{in: "127.0.0.1:80", want: "127.0.0.1:80"},
		{in: "127.9.9.9:0", want: "127.9.9.9:0"},
		{in: "[::1]:80", want: "[::1]:80"},
		{in: "", refused: "is empty"},
		{in: "unix://run/x.sock", refused: "three slashes"},
		{in: "unix:///", refused: "names a folder"},
		{in: "unix:///a\x00b", refused: "zero byte"},
		{in: "unix:///" + strings.Repeat("x", 110), refused: "use a shorter one"},
		{in: "0.0.0.0:80", refused: "not on loopback"},
		{in: "[::]:80", refused: "not on loopback"},
		{in: "192.0.2.1:80", refused: "not on loopback"},
		{in: ":80", refused: "ill-formed"},
		{in: "localhost:80", refused: "ill-formed"},
		{in: "127.0.0.1", refused: "ill-formed"},
		{in: "127.0.0.1:99999", refused: "ill-formed"},
		{in: "/run/x.sock", refused: "ill-formed"},
	}
	for _, test := range tests {
		t.Run(test.in, func(t *testing.T) {
			got, err := address.Parse(test.in)
			if test.refused != "" {
				if err == nil || !strings.Contains(err.Error(), test.refused) {
					t.Fatalf("Parse = %v, %v; want an error that says %q", got, err, test.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.String() != test.want {
				t.Errorf("Parse = %s, want %s", got, test.want)
			}
			if got.IsUnix() != strings.HasPrefix(test.in, "unix:") {
				t.Errorf("IsUnix = %v", got.IsUnix())
			}
		})
	}
}

func TestDefault(t *testing.T) {
	env := func(value string) func(string) string {
		return func(name string) string {
			if name != "XDG_RUNTIME_DIR" {
				t.Errorf("looked up %s", name)
			}
			return value
		}
	}
	if got, want := address.Default("toolhost", env("/run/user/7")).Path(), "/run/user/7/toolhost/toolhost.sock"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, dir := range []string{"", "relative", "/" + strings.Repeat("x", 100)} {
		got := address.Default("agentd", env(dir)).Path()
		if ok, _ := filepath.Match("/tmp/agentd-*/agentd.sock", got); !ok {
			t.Errorf("with the runtime folder %q: got %s", dir, got)
		}
	}
}
