package charset_test

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/toolhost/toolhost/plugins/fs/charset"
)

func TestDetectAndDecode(t *testing.T) {
	tests := []struct{ content, encoding, text string }{
		{"", "UTF-8", ""},
		{"größer\n", "UTF-8", "größer\n"},
		{"BMW is no bitmap", "UTF-8", "BMW is no bitmap"},
		{"%!PS-Adobe-3.0\n", "UTF-8", "%!PS-Adobe-3.0\n"},
		{"colour \x1b[31mred\x1b[0m\f\n", "UTF-8", "colour \x1b[31mred\x1b[0m\f\n"},
		{"ends inside \xe2\x82", "Windows-1252", "ends inside â‚"},
		{"\xef\xbb\xbfwith a mark", "UTF-8 with a byte order mark", "with a mark"},
		{"\xff\xfeh\x00\xe4\x00\x0a\x00", "UTF-16LE", "hä\n"},
		{"\xfe\xff\x00h\x00\xe4\x00\x0a", "UTF-16BE", "hä\n"},
		{"\xff\xfe\x3d\xd8\x00\xde", "UTF-16LE", "😀"},
		{"h\x00i\x00\x0d\x00\x0a\x00", "UTF-16LE", "hi\r\n"},
		{"\x00h\x00i\x00\x0a", "UTF-16BE", "hi\n"},
		{"caf\xe9 \x80 5\n", "Windows-1252", "café € 5\n"},
	}
	for _, test := range tests {
		e, mediaType, ok := charset.Detect([]byte(test.content), true)
		if !ok || e.String() != test.encoding {
			t.Errorf("%q: got %v, %v, %s; want %s", test.content, e, ok, mediaType, test.encoding)
			continue
		}
		if text, err := e.Decode([]byte(test.content)); err != nil || text != test.text {
			t.Errorf("%q: got %q, %v; want %q", test.content, text, err, test.text)
		}
		read, err := io.ReadAll(e.Reader(iotest.OneByteReader(strings.NewReader(test.content))))
		if err != nil || string(read) != test.text {
			t.Errorf("%q, byte by byte: got %q, %v; want %q", test.content, read, err, test.text)
		}
		if back, err := e.Encode(test.text); err != nil || string(back) != test.content {
			t.Errorf("%q: encoded again it is %q, %v", test.content, back, err)
		}
	}
}

// An incomplete character at the end of head is no fault, unless head is the whole data.
func TestDetectAllowsForTheCut(t *testing.T) {
	for whole, want := range map[bool]string{true: "Windows-1252", false: "UTF-8"} {
		if e, _, ok := charset.Detect([]byte("cut inside \xe2\x82"), whole); !ok || e.String() != want {
			t.Errorf("whole %v: got %v, %v; want %s", whole, e, ok, want)
		}
	}
}

func TestDetectRefusesWhatIsNoText(t *testing.T) {
	for content, want := range map[string]string{
		"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR": "image/png",
		"\x7fELF\x02\x01\x01\x00\x00":         "application/octet-stream",
		"%PDF-1.7\nno NUL here\n":             "application/pdf",
		"\xff\xd8\xff\xe0 jpeg":               "image/jpeg",
		"text\x00":                            "application/octet-stream",
		"text\x01":                            "application/octet-stream",
		"\xff\xfe\x00\x00h\x00\x00\x00":       "application/octet-stream",
		"a\x00\x00\x00b\x00\x00\x00":          "application/octet-stream",
		"\x01\x00\x02\x00\x03\x00":            "application/octet-stream",
		"\x1f\x8b\x08\xf0":                    "application/x-gzip",
	} {
		if e, got, ok := charset.Detect([]byte(content), true); ok || got != want {
			t.Errorf("%q: got %v, %q, %v; want %q", content, e, got, ok, want)
		}
	}
}

func TestWhatCannotBeEncodedIsRefused(t *testing.T) {
	for content, text := range map[string]string{"caf\xe9": "日本", "\xff\xfea\x00": "a\xff"} {
		e, _, _ := charset.Detect([]byte(content), true)
		if got, err := e.Encode(text); err == nil {
			t.Errorf("%v: encoded %q as %q", e, text, got)
		}
	}
	e, _, _ := charset.Detect([]byte("\xff\xfea\x00"), true)
	for _, content := range []string{"\xff\xfe\x00\xd8", "\xff\xfea", "a\x00"} {
		if text, err := e.Decode([]byte(content)); err == nil {
			t.Errorf("decoded %q as %q", content, text)
		}
	}
}

// For all bytes: decoding and encoding give the same bytes, and reading gives the same text as
// decoding.
func FuzzRoundTrip(f *testing.F) {
	for _, seed := range []string{"", "abc\n", "\xef\xbb\xbfx", "\xff\xfea\x00", "\xfe\xff\x00a", "caf\xe9", "a\x00b\x00", "\xff\xfe\x00\xd8", "\xff", "\xef\xbb", "\xef\xbb\xbf\xe9"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		e, mediaType, ok := charset.Detect(content, true)
		if ok == (mediaType != "") {
			t.Fatalf("text: %v, media type: %q", ok, mediaType)
		}
		if !ok {
			return
		}
		text, err := e.Decode(content)
		if err != nil {
			return
		}
		if !e.Plain() && e.String()[:5] != "UTF-8" && !utf8.ValidString(text) {
			t.Fatalf("%v: %q is not UTF-8", e, text)
		}
		if back, err := e.Encode(text); err != nil || !bytes.Equal(back, content) {
			t.Fatalf("%v: %q became %q, %v", e, content, back, err)
		}
		if read, err := io.ReadAll(e.Reader(bytes.NewReader(content))); err != nil || string(read) != text {
			t.Fatalf("%v: decoded as %q, read as %q, %v", e, text, read, err)
		}
	})
}
