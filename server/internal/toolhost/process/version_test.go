package process

import (
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/testkit/shortdir"
)

// A plugin of any version that this toolhost knows is accepted, so that plugins of the previous
// version work. Any other is refused, with both versions and a remedy.
func TestContractVersions(t *testing.T) {
	dir := shortdir.Make(t)
	socket := filepath.Join(dir, "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	for _, test := range []struct {
		plugin string
		known  []int
		want   []string // in the error; nil: it is accepted
	}{
		{"1", []int{1}, nil},
		{"1", []int{1, 2}, nil},
		{"2", []int{1, 2}, nil},
		{"3", []int{1, 2}, []string{`version "3" of toolhost's contract`, "knows [1 2]", "rebuild the plugin or upgrade toolhost"}},
		{"1", []int{2, 3}, []string{`version "1" of toolhost's contract`, "knows [2 3]"}},
		{"0", []int{1}, []string{`version "0"`, "knows [1]"}},
		{"", []int{1}, []string{`version ""`, "knows [1]"}},
		{"1.1", []int{1}, []string{`version "1.1"`, "knows [1]"}},
	} {
		got, err := checkHandshake("1|"+test.plugin+"|unix|"+socket+"|grpc", dir, test.known)
		if test.want == nil {
			if err != nil || got != socket {
				t.Errorf("version %s where %v are known: %q, %v", test.plugin, test.known, got, err)
			}
			continue
		}
		if err == nil {
			t.Errorf("version %s was taken where %v are known", test.plugin, test.known)
			continue
		}
		for _, words := range test.want {
			if !strings.Contains(err.Error(), words) {
				t.Errorf("version %s where %v are known: the error %q does not say %q", test.plugin, test.known, err, words)
			}
		}
	}
}
