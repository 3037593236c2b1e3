package attachment_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/attachment"
	"github.com/toolhost/toolhost/tool"
)

// picture returns a real image in a format.
func picture(t *testing.T, format string) []byte {
	t.Helper()
	var out bytes.Buffer
	img := image.NewGray(image.Rect(0, 0, 3, 2))
	var err error
	switch format {
	case "png":
		err = png.Encode(&out, img)
	case "jpeg":
		err = jpeg.Encode(&out, img, nil)
	case "gif":
		err = gif.Encode(&out, img, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// hugePNG is the header of a PNG that would need many gigabytes of memory to decode.
func hugePNG(wide, high uint32) []byte {
	chunk := binary.BigEndian.AppendUint32([]byte("IHDR"), wide)
	chunk = append(binary.BigEndian.AppendUint32(chunk, high), 8, 6, 0, 0, 0)
	data := append([]byte("\x89PNG\r\n\x1a\n"), 0, 0, 0, 13)
	return binary.BigEndian.AppendUint32(append(data, chunk...), crc32.ChecksumIEEE(chunk))
}

// webp returns the container of a WebP image of 16384 × 2 pixels, with a chunk of one of its kinds.
func webp(kind string) []byte {
	chunk := map[string]string{
		"VP8X": "\x0a\x00\x00\x00\x00\x00\x00\x00\xff\x3f\x00\x01\x00\x00",
		"VP8L": "\x0a\x00\x00\x00\x2f\xff\x7f\x00\x00\x00\x00\x00\x00\x00",
		"VP8 ": "\x0a\x00\x00\x00\x00\x00\x00\x9d\x01\x2a\xff\x3f\x02\x00",
		"VP9 ": "\x0a\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
	}[kind]
	return []byte("RIFF\x16\x00\x00\x00WEBP" + kind + chunk)
}

func TestTheContentDecidesTheType(t *testing.T) {
	for name, test := range map[string]struct {
		data          []byte
		claimed, want string
	}{
		"png":                      {picture(t, "png"), "", "image/png"},
		"png as said":              {picture(t, "png"), "image/png", "image/png"},
		"jpeg":                     {picture(t, "jpeg"), "image/jpg", "image/jpeg"},
		"gif":                      {picture(t, "gif"), "image/gif", "image/gif"},
		"webp, extended":           {webp("VP8X"), "image/webp", "image/webp"},
		"webp, lossless":           {webp("VP8L"), "", "image/webp"},
		"webp, lossy":              {webp("VP8 "), "", "image/webp"},
		"pdf":                      {[]byte("%PDF-1.7\n…"), "application/x-pdf", "application/pdf"},
		"pdf without a claim":      {[]byte("%PDF-1.7\n…"), "application/octet-stream", "application/pdf"},
		"text":                     {[]byte("Grüße, 世界\n"), "", "text/plain"},
		"text with a charset":      {[]byte("a,b\n"), "text/csv; charset=utf-8", "text/plain"},
		"html is text":             {[]byte("<html><body>x"), "text/html", "text/plain"},
		"json is text":             {[]byte(`{"a":1}`), "application/json", "text/plain"},
		"svg is text":              {[]byte(`<?xml version="1.0"?><svg/>`), "image/svg+xml", "text/plain"},
		"output of a terminal":     {[]byte("\x1b[31mred\x1b[0m\n"), "", "text/plain"},
		"text, late strange bytes": {[]byte(strings.Repeat("x", 600) + "ü"), "", "text/plain"},
		"wav":                      {[]byte("RIFF\x24\x00\x00\x00WAVEfmt "), "audio/x-wav", "audio/wav"},
		"zip":                      {[]byte("PK\x03\x04............"), "", "application/zip"},
	} {
		if got, err := attachment.TypeOf(name, test.claimed, test.data); got != test.want || err != nil {
			t.Errorf("%s: %q, %v; want %q", name, got, err, test.want)
		}
	}
}

func TestRefusesWhatIsNotAsSaid(t *testing.T) {
	for name, test := range map[string]struct {
		data          []byte
		claimed, want string
	}{
		"nothing":                     {nil, "", "is empty"},
		"too large":                   {make([]byte, attachment.MaxBytes+1), "", "an attachment may have 10485760"},
		"text as an image":            {[]byte("hello"), "image/png", "is text/plain, and not image/png"},
		"an image as text":            {picture(t, "png"), "text/plain", "is image/png, and not text/plain"},
		"a jpeg as png":               {picture(t, "jpeg"), "image/png", "is image/jpeg, and not image/png"},
		"a program as a pdf":          {[]byte("\x7fELF\x02\x01\x01\x00\x00\x00"), "application/pdf", "and not application/pdf"},
		"no json":                     {[]byte(`{"a":`), "application/json", "is no JSON"},
		"no type":                     {[]byte("x"), "text", "is no MIME type"},
		"a long type":                 {[]byte("x"), "text/" + strings.Repeat("x", 251), "has 256 bytes; it may have 255"},
		"latin-1":                     {[]byte("Gr\xfc\xdfe, viel Text"), "", "not UTF-8"},
		"utf-16":                      {[]byte("\xff\xfeh\x00i\x00"), "text/plain", "not UTF-8"},
		"late bytes that are no text": {[]byte(strings.Repeat("x", 600) + "\xff"), "", "not UTF-8"},
		"a late zero":                 {[]byte(strings.Repeat("x", 600) + "\x00"), "", "a zero byte"},
		"a cut png":                   {picture(t, "png")[:14], "", "is broken"},
		"a cut jpeg":                  {picture(t, "jpeg")[:4], "", "is broken"},
		"a gif without a size":        {[]byte("GIF89a\x00\x00\x00\x00\x00\x00\x00"), "", "is broken"},
		"a webp without a frame":      {webp("VP9 "), "", "is broken"},
		"a bomb":                      {hugePNG(100_000, 100_000), "", "100000 × 100000 pixels"},
	} {
		got, err := attachment.TypeOf("f.bin", test.claimed, test.data)
		if got != "" && err == nil || tool.KindOf(err) != tool.KindInvalidArgument || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %q, %v; want an error with %q", name, got, err, test.want)
		}
	}
}

func TestNames(t *testing.T) {
	for _, good := range []string{"", "a.png", "Rechnung März (2).pdf", "..x", strings.Repeat("n", attachment.MaxName)} {
		if err := attachment.CheckName(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"a/b", `a\b`, "..", ".", "/etc/passwd", "a\x1b[2Jb", "a\nb", "a\u202egnp.exe", "a\u200bb", "a\u2028b", "\xff", strings.Repeat("n", attachment.MaxName+1)} {
		err := attachment.CheckName(bad)
		if tool.KindOf(err) != tool.KindInvalidArgument {
			t.Errorf("%q is a name: %v", bad, err)
		} else if strings.ContainsAny(err.Error(), "\x1b\n\u202e\u200b\u2028") {
			t.Errorf("the message has the characters of the name %q", bad)
		}
	}
}

func FuzzTypeOf(f *testing.F) {
	for _, seed := range []string{"hello", "%PDF-", "GIF89a", "\x89PNG\r\n\x1a\n", string(webp("VP8L")), string(hugePNG(1, 1))} {
		f.Add([]byte(seed), "image/png")
	}
	f.Fuzz(func(t *testing.T, data []byte, claimed string) {
		found, err := attachment.TypeOf("f", claimed, data)
		if err == nil && found == "text/plain" && bytes.IndexByte(data, 0) >= 0 {
			t.Error("binary data is text")
		}
	})
}

// An image that was cut is refused, wherever it was cut, as far as its format tells
// (claude-code#57323).
func TestACutImageIsRefused(t *testing.T) {
	whole := picture(t, "png")
	for end := 33; end < len(whole); end++ { // the header is whole
		if _, err := attachment.TypeOf("x.png", "", whole[:end]); err == nil || !strings.Contains(err.Error(), "is broken: it ends") {
			t.Fatalf("a PNG of %d of %d bytes: %v", end, len(whole), err)
		}
	}
	whole = picture(t, "jpeg")
	scan := bytes.Index(whole, []byte{0xff, 0xda})
	if _, err := attachment.TypeOf("x.jpg", "", whole[:scan]); err == nil || !strings.Contains(err.Error(), "is broken") {
		t.Errorf("a JPEG without its picture: %v", err)
	}
	cut := append([]byte(nil), webp("VP8X")...)
	cut[4]++
	if _, err := attachment.TypeOf("x.webp", "", cut); err == nil || !strings.Contains(err.Error(), "is broken: it has 30 of 31 bytes") {
		t.Errorf("a WebP that ends early: %v", err)
	}
	// What follows the last chunk belongs to no image, and viewers ignore it.
	if _, err := attachment.TypeOf("x.png", "", append(picture(t, "png"), "more"...)); err != nil {
		t.Errorf("a PNG with something behind it: %v", err)
	}
}
