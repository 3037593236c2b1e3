// Package attachment decides what a caller may attach to the prompt or a message of a run: how
// much, under which names, and as which MIME type.
//
// A caller chooses the bytes, the name and the type that it claims. The content alone decides the
// type, because a model reads the content. The package decodes no image: it reads the header, so
// that a small file with a huge picture costs nothing here. Which types a model reads, and where
// contents are kept, is known to package agent.
package attachment

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolhost/toolhost/tool"
)

// The bounds of attachments. A request of agentd has at most 16 MiB, so the contents of one message
// leave room for its text. The APIs of models accept between 5 and 50 MB for one file, and between
// 20 and 50 MB for one request, which has all contents of the run.
const (
	MaxBytes        = 10 << 20 // of one content
	MaxMessageBytes = 12 << 20 // of the contents of one prompt or message
	MaxMessage      = 20       // attachments of one prompt or message
	MaxRunBytes     = 20 << 20 // of the contents of one run
	MaxRun          = 100      // attachments of one run
	MaxName         = 255      // bytes of a name, as file systems have it
)

// CheckName returns an error unless a name is one that a file can have, without folders, and that
// shows what it is. An empty name is valid: there is none.
func CheckName(name string) error {
	switch {
	case len(name) > MaxName:
		return invalid("the name of an attachment has %d bytes; it may have %d", len(name), MaxName)
	case !utf8.ValidString(name):
		return invalid("the name %q of an attachment is not UTF-8", name)
	case strings.ContainsAny(name, `/\`), name == ".", name == "..":
		return invalid("the name %q of an attachment is a path; use only the name of the file", name)
	case strings.ContainsFunc(name, hidden):
		return invalid("the name %q of an attachment has characters that control a terminal or do not show", name)
	}
	return nil
}

// hidden reports whether a character of a name is not one that a reader sees.
func hidden(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp)
}

// CheckCount returns an error if a run with earlier attachments may not have more. The sizes are
// the bytes of the contents.
func CheckCount(earlier, more int, earlierBytes, moreBytes int64) error {
	switch {
	case more > MaxMessage:
		return invalid("there are %d attachments; a prompt or a message may have %d", more, MaxMessage)
	case moreBytes > MaxMessageBytes:
		return invalid("the attachments have %d bytes; those of a prompt or a message may have %d", moreBytes, MaxMessageBytes)
	case earlier+more > MaxRun:
		return invalid("the run would have %d attachments; a run may have %d; start another run", earlier+more, MaxRun)
	case earlierBytes+moreBytes > MaxRunBytes:
		return invalid("the attachments of the run would have %d bytes; those of a run may have %d; start another run", earlierBytes+moreBytes, MaxRunBytes)
	}
	return nil
}

// CheckSize returns an error if a content may not have n bytes. name is for the message.
func CheckSize(name string, n uint64) error {
	switch {
	case n == 0:
		return invalid("the attachment %s is empty", Quote(name))
	case n > MaxBytes:
		return invalid("the attachment %s has %d bytes; an attachment may have %d", Quote(name), n, MaxBytes)
	}
	return nil
}

// Quote returns a name for a message.
func Quote(name string) string {
	if name == "" {
		return "without a name"
	}
	return fmt.Sprintf("%q", name)
}

func invalid(format string, args ...any) error {
	return tool.Errorf(tool.KindInvalidArgument, format, args...)
}
