package arguments_test

import (
	"fmt"
	"testing"
)

// TestFormatsAreAsserted checks that all drafts assert formats, unless the schema makes them
// annotations.
func TestFormatsAreAsserted(t *testing.T) {
	for format, tc := range map[string]struct{ good, bad, hint string }{
		"date":                  {"2026-02-28", "2026-02-30", "such as 2026-02-28"},
		"date-time":             {"2026-02-28T10:00:00+01:00", "2026-02-28 10:00", "such as 2026-02-28T15:04:05Z"},
		"time":                  {"10:00:00Z", "25:00:00Z", "such as 15:04:05Z"},
		"duration":              {"PT5M", "5 minutes", "such as P1DT2H"},
		"email":                 {"a@example.com", "nope", "such as name@example.com"},
		"hostname":              {"example.com", "-x-", "such as www.example.com"},
		"ipv4":                  {"192.0.2.7", "192.0.2.256", "such as 192.0.2.1"},
		"ipv6":                  {"::1", "192.0.2.1", "such as 2001:db8::1"},
		"uri":                   {"https://example.com", "example", "such as https://example.com/path"},
		"uuid":                  {"123e4567-e89b-12d3-a456-426614174000", "123e4567", "such as 123e4567-e89b"},
		"json-pointer":          {"/a/0", "a", "such as /items/0"},
		"relative-json-pointer": {"0#", "x", "such as 1/items"},
		"regex":                 {"^a$", "(", "such as ^[a-z]+$"},
		"semver":                {"anything", "", ""},
		"period":                {"anything", "", ""},
		"phone":                 {"anything", "", ""},
	} {
		for _, draft := range []string{"", `"$schema":"http://json-schema.org/draft-07/schema#",`} {
			s := compile(t, fmt.Sprintf(`{%s"properties":{"v":{"type":"string","format":%q}}}`, draft, format))
			check(t, s.Validate(parsed(t, fmt.Sprintf(`{"v":%q}`, tc.good))), "")
			if tc.bad != "" {
				check(t, s.Validate(parsed(t, fmt.Sprintf(`{"v":%q}`, tc.bad))), fmt.Sprintf("v: must be a valid %s %s", format, tc.hint))
			}
			// The validator's check of regular expressions cannot be replaced.
			if format == "regex" {
				continue
			}
			free := compile(t, fmt.Sprintf(`{%s"x-toolhost-formats":"annotation","properties":{"v":{"type":"string","format":%q}}}`, draft, format))
			check(t, free.Validate(parsed(t, fmt.Sprintf(`{"v":%q}`, tc.bad))), "")
		}
	}
}
