package yamldoc_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
)

type renamed struct {
	Limit struct {
		Most int `yaml:"max_calls" was:"calls" default:"7"`
	} `yaml:"limits"`
	Name string `yaml:"name" required:"true" was:"title"`
	Open bool   `yaml:"open" default:"false" deprecated:"an entry of doors"`
}

func decodeRenamed(text string) (renamed, *yamldoc.Decoder) {
	var v renamed
	d := yamldoc.NewDecoder("f.yaml")
	d.Decode([]byte(text), reflect.ValueOf(&v).Elem())
	return v, d
}

// A deprecated key works, and the decoder names the key that replaces it.
func TestADeprecatedKeyWorksAndIsReported(t *testing.T) {
	v, d := decodeRenamed("limits:\n  calls: 9\ntitle: n\n")
	if v.Limit.Most != 9 || v.Name != "n" || len(d.Errs) > 0 {
		t.Errorf("%+v, %v", v, d.Errs)
	}
	want := "f.yaml:2:10: limits.calls: the key is deprecated, and a later release will refuse it; write limits.max_calls instead\n" +
		"f.yaml:3:8: title: the key is deprecated, and a later release will refuse it; write name instead"
	if got := yamldoc.Deprecations[renamed]("f.yaml", []byte("limits:\n  calls: 9\ntitle: n\n")); got.Error() != want {
		t.Errorf("the messages are\n%v\nwant\n%s", got, want)
	}
	if _, d := decodeRenamed("limits: {max_calls: 9}\nname: n\n"); len(d.Deprecated)+len(d.Errs) > 0 {
		t.Errorf("the present keys: %v, %v", d.Deprecated, d.Errs)
	}
}

// A key without a successor of the same form says in its tag what to write.
func TestADeprecatedKeyWithATag(t *testing.T) {
	v, d := decodeRenamed("name: n\nopen: true\n")
	want := "f.yaml:2:7: open: the key is deprecated, and a later release will refuse it; write an entry of doors instead"
	if !v.Open || d.Deprecated.Error() != want {
		t.Errorf("%+v, the messages are %v, want %s", v, d.Deprecated, want)
	}
}

func TestADeprecatedKeyBesideItsReplacementIsAnError(t *testing.T) {
	_, d := decodeRenamed("name: n\ntitle: m\n")
	if d.First() == nil || !strings.Contains(d.First().Error(), "title: the key is deprecated, and the file has name too") {
		t.Errorf("the errors are %v", d.Errs)
	}
}

// An error for an unknown key does not offer a deprecated one.
func TestADeprecatedKeyIsNotOffered(t *testing.T) {
	_, d := decodeRenamed("titel: m\nname: n\n")
	if d.First() == nil || strings.Contains(d.First().Error(), "title") {
		t.Errorf("the errors are %v", d.Errs)
	}
}
