package attachment

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	_ "image/gif"  // for DecodeConfig
	_ "image/jpeg" // for DecodeConfig
	_ "image/png"  // for DecodeConfig
	"mime"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"
)

// textType is the type of all text. What the text is written in follows from its name.
const textType = "text/plain"

// maxPixels is the largest number of pixels of an image. It is several times what cameras make.
const maxPixels = 200_000_000

// maxType is the largest number of bytes of a type with its parameters, which errors quote.
const maxType = 255

// TypeOf returns the MIME type of a content. claimed is the type that the caller says; it may be
// empty. name is for messages. The error says that the content is none that a model could read, or
// that it is not what the caller says.
func TypeOf(name, claimed string, data []byte) (string, error) {
	if err := CheckSize(name, uint64(len(data))); err != nil {
		return "", err
	}
	found, err := detect(name, data)
	if err != nil {
		return "", err
	}
	want, err := canonical(name, claimed)
	switch {
	case err != nil:
		return "", err
	case want == "" || want == found:
	case want == "application/json" && !json.Valid(data):
		return "", invalid("the attachment %s is no JSON, although its type is said to be %s", Quote(name), want)
	case found == textType && isText(want):
	default:
		return "", invalid("the attachment %s is %s, and not %s as its type says", Quote(name), found, want)
	}
	return found, nil
}

// detect returns the type that a content has.
func detect(name string, data []byte) (string, error) {
	sniffed, _, _ := strings.Cut(http.DetectContentType(data), ";")
	group, _, _ := strings.Cut(sniffed, "/")
	switch {
	case group == "image":
		return sniffed, checkImage(name, sniffed, data)
	case group == "text":
		return textType, checkText(name, data) // the sniffer reads only the beginning
	case sniffed == "application/octet-stream" && checkText(name, data) == nil:
		return textType, nil // text with an escape, such as the output of a terminal, is binary to it
	case sniffed == "audio/wave":
		return "audio/wav", nil
	}
	return sniffed, nil
}

func checkText(name string, data []byte) error {
	if !utf8.Valid(data) {
		return invalid("the attachment %s is text, but not UTF-8; convert it", Quote(name))
	}
	if bytes.IndexByte(data, 0) >= 0 {
		return invalid("the attachment %s has a zero byte, so it is neither text nor a file of a known type", Quote(name))
	}
	return nil
}

// checkImage reads the header of an image, and whether the image is whole.
func checkImage(name, mimeType string, data []byte) error {
	var wide, high int
	switch mimeType {
	case "image/png", "image/jpeg", "image/gif":
		config, _, err := image.DecodeConfig(bytes.NewReader(data))
		if err != nil {
			return invalid("the attachment %s begins as %s and is broken: %v", Quote(name), mimeType, err)
		}
		wide, high = config.Width, config.Height
	case "image/webp":
		wide, high = sizeOfWebP(data)
	default:
		return nil
	}
	if wide <= 0 || high <= 0 {
		return invalid("the attachment %s begins as %s and is broken: it has no size", Quote(name), mimeType)
	}
	if wide > maxPixels/high {
		return invalid("the attachment %s is an image of %d × %d pixels; an image may have %d pixels", Quote(name), wide, high, maxPixels)
	}
	if why := incomplete(mimeType, data); why != "" {
		return invalid("the attachment %s begins as %s and is broken: %s", Quote(name), mimeType, why)
	}
	return nil
}

// incomplete returns what an image lacks that was cut, such as by a download that ended. Empty:
// nothing that its format tells. A server would refuse such an image, and with it the conversation.
func incomplete(mimeType string, data []byte) string {
	switch mimeType {
	case "image/png":
		const signature, frame = 8, 12 // of a chunk: its length, its kind and its checksum
		for rest := data[min(signature, len(data)):]; ; {
			if len(rest) < frame {
				return "it ends before its last chunk"
			}
			kind, end := string(rest[4:8]), uint64(binary.BigEndian.Uint32(rest))+frame
			switch {
			case end > uint64(len(rest)):
				return "it ends within the chunk " + strconv.Quote(kind)
			case kind == "IEND":
				return ""
			}
			rest = rest[end:]
		}
	case "image/jpeg":
		if !bytes.Contains(data, []byte{0xff, 0xda}) {
			return "it ends before its picture"
		}
	case "image/webp":
		if size := uint64(binary.LittleEndian.Uint32(data[4:])) + 8; size > uint64(len(data)) {
			return fmt.Sprintf("it has %d of %d bytes", len(data), size)
		}
	}
	return ""
}

// sizeOfWebP returns the size of a WebP image from its first chunk; see
// https://developers.google.com/speed/webp/docs/riff_container. It is 0 if there is none.
func sizeOfWebP(data []byte) (wide, high int) {
	const header = 30
	if len(data) < header {
		return 0, 0
	}
	bits := func(at, n int) (v int) {
		for i := range n {
			v |= int(data[at+i]) << (8 * i)
		}
		return v
	}
	switch string(data[12:16]) {
	case "VP8X":
		return 1 + bits(24, 3), 1 + bits(27, 3)
	case "VP8 ":
		if bits(23, 3) == 0x2a019d {
			return bits(26, 2) & 0x3fff, bits(28, 2) & 0x3fff
		}
	case "VP8L":
		if data[20] == 0x2f {
			return 1 + bits(21, 2)&0x3fff, 1 + bits(22, 3)>>6&0x3fff
		}
	}
	return 0, 0
}

// canonical returns a claimed type without parameters, under the name that detect gives it. Empty:
// the caller says nothing.
func canonical(name, claimed string) (string, error) {
	switch {
	case claimed == "":
		return "", nil
	case len(claimed) > maxType:
		return "", invalid("the type of the attachment %s has %d bytes; it may have %d", Quote(name), len(claimed), maxType)
	}
	want, _, err := mime.ParseMediaType(claimed)
	if err != nil || !strings.Contains(want, "/") {
		return "", invalid("the type %q of the attachment %s is no MIME type", claimed, Quote(name))
	}
	switch want {
	case "application/octet-stream":
		return "", nil
	case "image/jpg":
		return "image/jpeg", nil
	case "application/x-pdf":
		return "application/pdf", nil
	case "audio/wave", "audio/x-wav":
		return "audio/wav", nil
	}
	return want, nil
}

// isText reports whether a type is one of text.
func isText(mimeType string) bool {
	group, kind, _ := strings.Cut(mimeType, "/")
	switch kind {
	case "json", "xml", "yaml", "x-yaml", "toml", "javascript", "sql", "x-sh", "x-ndjson", "graphql":
		return true
	}
	return group == "text" || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") || strings.HasSuffix(kind, "+yaml")
}
