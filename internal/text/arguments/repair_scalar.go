package arguments

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolhost/toolhost/internal/text/jsontext"
)

const (
	// maxScalarText bounds the text that is read as a number or a boolean. It suffices for any
	// number that a model means.
	maxScalarText = 64
	// maxWord bounds the text that is compared with the values of an enum without regard to case.
	maxWord = 256
	// maxExponent bounds the exponents of numbers that are written out, to those of a float64.
	maxExponent = 308
	// maxBits bounds the size of minimum and maximum likewise. A float64 of the largest exponent
	// has 1,024 bits.
	maxBits = 2048
)

// scalar returns the string or number that a value becomes by the schema's own keywords. Of a value
// that fits, it changes at most the spelling of an integer.
func scalar(s *jsonschema.Schema, v any, fits bool) any {
	says := typesOf(s)
	n, isNumber := v.(json.Number)
	switch {
	case fits && !isNumber:
		return v
	case isNumber && (s.Types == nil || says["number"] || says["integer"]):
		return number(s, says, n, fits)
	case isNumber && !says["string"]:
		return truth(says, v, integer(n))
	}
	text, ok := v.(string)
	if same, found := inOtherCase(s, text); ok && found {
		return same
	}
	if moved := inForm(s, text); ok && moved != text {
		return moved
	}
	text = strings.TrimSpace(text)
	if !ok || says["string"] || text == "" || len(text) > maxScalarText {
		return v
	}
	if says["number"] || says["integer"] {
		n := json.Number(text)
		if rat(n) != nil && (says["number"] || integer(n) != "") {
			return number(s, says, n, false)
		}
	}
	return truth(says, v, strings.ToLower(text))
}

// inOtherCase returns the value of enum or const from which a text differs only by case, if there
// is exactly one.
func inOtherCase(s *jsonschema.Schema, text string) (same string, found bool) {
	var values []any
	if s.Enum != nil {
		values = s.Enum.Values
	}
	if s.Const != nil {
		values = []any{*s.Const}
	}
	for _, value := range values {
		if word, ok := value.(string); ok && len(text) <= maxWord && strings.EqualFold(word, text) {
			if found && word != same {
				return "", false
			}
			same, found = word, true
		}
	}
	return same, found
}

func typesOf(s *jsonschema.Schema) map[string]bool {
	says := map[string]bool{}
	if s.Types != nil {
		for _, name := range s.Types.ToStrings() {
			says[name] = true
		}
	}
	return says
}

// number returns n moved within the bounds, and spelled as an integer if the schema allows only
// integers.
func number(s *jsonschema.Schema, says map[string]bool, n json.Number, fits bool) any {
	whole := says["integer"] && !says["number"]
	value := rat(n)
	if value == nil {
		return n
	}
	if whole {
		text := integer(n)
		if text == "" {
			return n
		}
		n = json.Number(text)
	}
	if fits {
		return n
	}
	if low := lowest(s, whole); low != nil && value.Cmp(low) < 0 {
		return decimal(low)
	}
	if high := highest(s, whole); high != nil && value.Cmp(high) > 0 {
		return decimal(high)
	}
	return n
}

// lowest returns the least number that the bounds allow, or nil if they set none.
func lowest(s *jsonschema.Schema, whole bool) *big.Rat {
	low, above := workable(s.Minimum), workable(s.ExclusiveMinimum)
	if !whole {
		return low
	}
	if low != nil {
		low = negate(floor(negate(low))) // rounds up
	}
	if above != nil {
		if above.Add(floor(above), big.NewRat(1, 1)); low == nil || above.Cmp(low) > 0 {
			low = above
		}
	}
	return low
}

// workable returns a copy of a bound, or nil if there is none or it has more digits than a model
// could mean.
func workable(x *big.Rat) *big.Rat {
	if x == nil || max(x.Num().BitLen(), x.Denom().BitLen()) > maxBits {
		return nil
	}
	if f, _ := x.Float64(); math.IsInf(f, 0) {
		return nil
	}
	return new(big.Rat).Set(x)
}

// highest returns the greatest number that the bounds allow, or nil if they set none.
func highest(s *jsonschema.Schema, whole bool) *big.Rat {
	mirrored := &jsonschema.Schema{Minimum: negate(s.Maximum), ExclusiveMinimum: negate(s.ExclusiveMaximum)}
	return negate(lowest(mirrored, whole))
}

func negate(x *big.Rat) *big.Rat {
	if x == nil {
		return nil
	}
	return new(big.Rat).Neg(x)
}

func floor(x *big.Rat) *big.Rat {
	// Euclidean division rounds down, because denominators are positive.
	return new(big.Rat).SetInt(new(big.Int).Div(x.Num(), x.Denom()))
}

// decimal returns a bound as a decimal. It is finite, because bounds come from JSON.
func decimal(x *big.Rat) json.Number {
	digits, _ := x.FloatPrec()
	return json.Number(x.FloatString(digits))
}

// truth returns the boolean that a word means if the schema allows booleans.
func truth(says map[string]bool, v any, word string) any {
	if !says["boolean"] {
		return v
	}
	switch word {
	case "true", "1", "yes", "y":
		return true
	case "false", "0", "no", "n":
		return false
	}
	return v
}

// rat returns the value of a JSON number, or nil if n is not a number or is too long.
func rat(n json.Number) *big.Rat {
	text := string(n)
	if len(text) > maxScalarText || !json.Valid([]byte(text)) || !strings.ContainsRune("-0123456789", rune(text[0])) || !jsontext.Finite(text) {
		return nil
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		if exponent, err := strconv.Atoi(text[i+1:]); err != nil || max(exponent, -exponent) > maxExponent {
			return nil
		}
	}
	x, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil
	}
	return x
}

// integer returns the digits of n if it is a whole number, and "" otherwise.
func integer(n json.Number) string {
	if x := rat(n); x != nil && x.IsInt() {
		return x.Num().String()
	}
	return ""
}
