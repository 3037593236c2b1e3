package arguments

import (
	"regexp"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// utc is the offset of a time that has none. A format that asks for one leaves no other choice that
// is the same on every machine, and models mean it in most cases. The list of repairs tells the
// model.
const utc = "Z"

// moment matches a date, a time, or both, as models and programs write them: with a blank for T,
// without seconds, without an offset, or with one of ISO 8601 that RFC 3339 does not have.
var moment = regexp.MustCompile(`^(?:(\d{4}-\d\d-\d\d)(?:[Tt ]|$))?(?:(\d\d:\d\d)(:\d\d(?:\.\d+)?)?)? ?(Z|z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?$`)

// inForm returns a text as the schema's format date-time, time, or date wants it, or the text
// itself if it says less or more than the format.
func inForm(s *jsonschema.Schema, text string) string {
	if s.Format == nil || len(text) > maxScalarText {
		return text
	}
	m := moment.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return text
	}
	date, clock, offset := m[1], m[2]+m[3], m[4]
	if clock != "" && m[3] == "" {
		clock += ":00"
	}
	switch {
	case s.Format.Name == "date-time" && date != "" && clock != "":
		return date + "T" + clock + rfc3339(offset)
	case s.Format.Name == "time" && date == "" && clock != "":
		return clock + rfc3339(offset)
	case s.Format.Name == "date" && date != "" && strings.Trim(clock, "0:.") == "" && (offset == "" || rfc3339(offset) == utc):
		return date // of a day that begins: the time says nothing
	}
	return text
}

// rfc3339 returns an offset in the form of RFC 3339.
func rfc3339(offset string) string {
	switch {
	case offset == "" || strings.Trim(offset, "+-0:") == "" || offset[0] != '+' && offset[0] != '-':
		return utc
	case len(offset) == len("+02"):
		return offset + ":00"
	default:
		return offset[:3] + ":" + strings.TrimPrefix(offset[3:], ":")
	}
}

// whyInForm says why inForm returned another text.
func whyInForm(from, to string) string {
	m := moment.FindStringSubmatch(strings.TrimSpace(from))
	if m != nil && m[4] == "" && strings.HasSuffix(to, utc) {
		return "it had no offset, which the format asks for, and is taken for UTC"
	}
	return "it was written in another form than the format's"
}
