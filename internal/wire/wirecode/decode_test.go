package wirecode_test

import (
	"bytes"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	pluginv1 "github.com/toolhost/toolhost/gen/go/toolhost/plugin/v1"
	"github.com/toolhost/toolhost/internal/wire/wirecode"
)

// agree checks that the generated code accepts and refuses the same bytes as
// google.golang.org/protobuf, and decodes them to the same message.
func agree(t *testing.T, kind message, encoded []byte) {
	t.Helper()
	want := empty(kind)
	wantErr := proto.Unmarshal(encoded, want)
	got := empty(kind)
	err := wirecode.Decode(encoded, got)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%T from %x: %v; protobuf says %v", kind, encoded, err, wantErr)
	}
	if err == nil && !proto.Equal(got, want) {
		t.Fatalf("%T from %x is\n%v, want\n%v", kind, encoded, got, want)
	}
	if wantErr == nil {
		roundTrip(t, want)
	}
}

// FuzzDecode compares the generated code with google.golang.org/protobuf for arbitrary bytes.
func FuzzDecode(f *testing.F) {
	for i, m := range filled(8) {
		encoded, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(byte(i%len(kinds)), encoded)
	}
	for _, encoded := range odd {
		f.Add(byte(0), []byte(encoded))
	}
	f.Fuzz(func(t *testing.T, kind byte, encoded []byte) { agree(t, kinds[int(kind)%len(kinds)], encoded) })
}

// odd are unusual encodings.
var odd = map[string]string{
	"field 0":                        "\x00\x01",
	"a number too large for a field": "\x80\x80\x80\x80\x10\x01",
	"a tag that does not end":        "\x80",
	"a tag longer than it need be":   "\x88\x00\x05",
	"a group, not known":             "\xcb\x3e\x08\x01\xcc\x3e",
	"a group that does not end":      "\xcb\x3e\x08\x01",
	"the end of no group":            "\x0c",
	"a group in place of a message":  "\x13\x08\x01\x14",
	"kind 6":                         "\x0e",
	"kind 7":                         "\x0f",
	"a number that does not end":     "\x08\xff\xff",
	"a number of eleven bytes":       "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
	"a number of more than 32 bits":  "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
	"a number with a length":         "\x0a\x01\x05",
	"a message as a number":          "\x10\x01",
	"a length behind the end":        "\x12\x05\x0a",
	"a length of 64 bits":            "\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
	"a length inside, behind it":     "\x12\x02\x0a\x05\x08\x01\x08\x01\x08\x01",
	"fixed, too short":               "\x49\x01\x02",
	"32 bits, not known":             "\xcd\x3e\x01\x02\x03\x04",
	"text that is no UTF-8":          "\x12\x03\x0a\x01\xff",
	"a start twice":                  "\x12\x03\x0a\x01a\x12\x03\x12\x01b",
	"a start, then a cancel":         "\x12\x03\x0a\x01a\x2a\x03\x0a\x01b",
	"a start, a cancel, a start":     "\x12\x03\x0a\x01a\x2a\x00\x12\x03\x12\x01b",
	"an empty start":                 "\x12\x00",
	"an entry without a key":         "\x12\x09\x42\x07\x1a\x05\x12\x03abc",
	"an entry without a value":       "\x12\x07\x42\x05\x1a\x03\x0a\x01a",
	"an entry with more":             "\x12\x0a\x42\x08\x1a\x06\x0a\x01a\x18\x01\x1f",
	"an entry, its key a number":     "\x12\x06\x42\x04\x1a\x02\x08\x01",
	"an entry, its key no UTF-8":     "\x12\x07\x42\x05\x1a\x03\x0a\x01\xff",
	"a secret that is no UTF-8":      "\x12\x07\x42\x05\x22\x03\x12\x01\xff",
	"a time with more":               "\x12\x06\x2a\x04\x08\x05\x18\x07",
	"a time with more, twice":        "\x12\x06\x2a\x04\x08\x05\x18\x07\x12\x06\x2a\x04\x10\x05\x18\x08",
}

func TestOddMessages(t *testing.T) {
	for name, encoded := range odd {
		t.Run(name, func(t *testing.T) { agree(t, &pluginv1.ConnectRequest{}, []byte(encoded)) })
	}
}

func TestMessagesCutShortOrChanged(t *testing.T) {
	for _, m := range filled(2) {
		encoded, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		for i := range min(len(encoded), 2000) {
			agree(t, m, encoded[:i])
			changed := bytes.Clone(encoded)
			changed[i] ^= 1 << (i % 8)
			agree(t, m, changed)
		}
	}
}

func TestNestedAsDeeplyAsProtobufAllows(t *testing.T) {
	const more = 8
	for levels := protowire.DefaultRecursionLimit - 4; levels <= protowire.DefaultRecursionLimit; levels++ {
		for _, inner := range []string{"", "\x12\x00", "\x12\x02\x2a\x00", "\x12\x04\x42\x02\x1a\x00"} { // a start, its timeout, and a value of its context
			encoded := nested(levels, more, []byte(inner))
			agreeOnError(t, levels, inner, encoded)
		}
	}
}

// nested returns a message nested in itself levels times. It builds from the inside, which takes a
// moment instead of a minute.
func nested(levels int, field protowire.Number, inner []byte) []byte {
	heads := make([][]byte, 0, levels)
	size := len(inner)
	for range levels {
		head := protowire.AppendVarint(protowire.AppendTag(nil, field, protowire.BytesType), uint64(size))
		heads = append(heads, head)
		size += len(head)
	}
	encoded := make([]byte, 0, size)
	for i := range heads {
		encoded = append(encoded, heads[len(heads)-1-i]...)
	}
	return append(encoded, inner...)
}

func agreeOnError(t *testing.T, levels int, inner string, encoded []byte) {
	t.Helper()
	want := proto.Unmarshal(encoded, &pluginv1.ConnectRequest{})
	err := wirecode.Decode(encoded, &pluginv1.ConnectRequest{})
	if (err == nil) != (want == nil) {
		t.Errorf("%d levels around %x: %v; protobuf says %v", levels, inner, err, want)
	}
}
