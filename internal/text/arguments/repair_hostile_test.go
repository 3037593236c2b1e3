//go:build !race

package arguments_test

import (
	"strings"
	"testing"
)

// TestHostileRepair checks that Repair leaves arguments unchanged if the schema would cause endless
// work or endless arguments.
func TestHostileRepair(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 5000) + `"1"` + strings.Repeat("}", 5000)
	for name, tc := range map[string]struct{ schema, text, want string }{
		"a default that holds itself": {`{"properties":{"a":{"$ref":"#","default":{}}}}`, `{}`, `{}`},
		"two that hold themselves": {
			`{"properties":{"a":{"$ref":"#","default":{}},"b":{"$ref":"#","default":{}}}}`, `{"a":{}}`, `{"a":{}}`,
		},
		"alternatives without end": {
			`{"anyOf":[{"properties":{"a":{"$ref":"#"},"b":{"type":"integer"}},"required":["z"]},
				{"properties":{"a":{"$ref":"#"},"c":{"type":"integer"}},"required":["y"]}]}`,
			strings.Repeat(`{"a":`, 12) + `{"b":"1"}` + strings.Repeat("}", 12), "",
		},
		"deep":                        {`{"properties":{"a":{"$ref":"#"}},"type":["object","integer"]}`, deep, ""},
		"bounds that cannot be kept":  {`{"properties":{"a":{"minimum":5,"maximum":3}}}`, `{"a":4}`, `{"a":4}`},
		"parts that want each other":  {`{"properties":{"a":{"allOf":[{"minimum":5},{"maximum":3}]}}}`, `{"a":4}`, `{"a":4}`},
		"an exponent":                 {`{"properties":{"a":{"type":"integer","maximum":3}}}`, `{"a":"1e99999999"}`, `{"a":"1e99999999"}`},
		"a bound beyond float64":      {`{"properties":{"a":{"minimum":1e400}}}`, `{"a":4}`, `{"a":4}`},
		"a default that does not fit": {`{"properties":{"a":{"type":"integer","default":"x"}}}`, `{}`, `{}`},
		"a default too many":          {`{"properties":{"a":{"default":1}},"maxProperties":0}`, `{}`, `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			s, p := compile(t, tc.schema), parsed(t, tc.text)
			got, _ := s.Repair(p)
			if want := tc.want; want != "" && string(got.Canonical()) != want {
				t.Errorf("%s became %s, want %s", tc.text, got.Canonical(), want)
			}
			checkLaws(t, s, p)
		})
	}
}
