package yamldoc

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// errWrong says that a text is not allowed, without a suggestion.
var errWrong = errors.New("wrong")

// scalar is a single value of a file.
type scalar struct {
	text   string
	quoted bool // it can only be a text
}

// String returns the value for an error: on one line, of bounded length, and in quotes unless it is
// a plain number.
func (s scalar) String() string {
	const longest = 60
	text := s.text
	if utf8.RuneCountInString(text) > longest {
		text = string([]rune(text)[:longest]) + "…"
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil && !s.quoted {
		return text
	}
	return strconv.Quote(text)
}

var (
	typeDuration = reflect.TypeFor[time.Duration]()
	typeSize     = reflect.TypeFor[Size]()
)

// Fill sets each field of v, a struct, and of the structs in it to its default. It panics if a
// default is not a valid value of its field.
func Fill(v reflect.Value) {
	for field, value := range v.Fields() {
		if value.Kind() == reflect.Struct {
			Fill(value)
		} else if text, ok := field.Tag.Lookup("default"); ok {
			if err := set(value, field.Tag, scalar{text: text}); err != nil {
				panic(fmt.Sprintf("yamldoc: the default of %s: %v", field.Name, err))
			}
		}
	}
}

// set sets a field from a scalar. The error says what the value is and what is allowed.
func set(v reflect.Value, tag reflect.StructTag, s scalar) error {
	err := assign(v, tag, s)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errWrong):
		return fmt.Errorf("%s is not %s", s, Describe(v.Type(), tag))
	}
	return fmt.Errorf("%s is not %s; %w", s, Describe(v.Type(), tag), err)
}

func assign(v reflect.Value, tag reflect.StructTag, s scalar) error {
	word := func(key string) bool { return s.text != "" && s.text == tag.Get(key) }
	switch {
	case v.Kind() == reflect.String:
		if allowed := strings.Split(tag.Get("oneof"), ","); allowed[0] != "" && !slices.Contains(allowed, s.text) {
			return didYouMean(suggest(s.text, allowed))
		}
		v.SetString(s.text)
		return nil
	case word("zero"):
		v.SetZero()
		return nil
	case word("auto"):
		v.SetInt(Auto)
		return nil
	case s.quoted && v.Type() != typeDuration && v.Type() != typeSize:
		return errors.New("remove the quotes")
	}
	value, err := parse(v.Type(), s.text)
	if err == nil && !within(value, tag) {
		err = errWrong
	}
	if err == nil {
		v.Set(value)
	}
	return err
}

// didYouMean returns the error for a text that probably means a word, or nothing known if it is
// empty.
func didYouMean(word string) error {
	if word == "" {
		return errWrong
	}
	return fmt.Errorf("did you mean %s?", word)
}

// parse reads a text as a value of a type other than string.
func parse(t reflect.Type, text string) (reflect.Value, error) {
	var value any
	var err error
	switch {
	case t == typeDuration:
		value, err = parseDuration(text)
	case t == typeSize:
		value, err = parseSize(text)
	case t.Kind() == reflect.Int:
		value, err = strconv.Atoi(text)
	case t.Kind() == reflect.Float64:
		value, err = strconv.ParseFloat(text, 64)
	case t.Kind() == reflect.Bool:
		value, err = parseBool(text)
	default:
		panic("yamldoc: no field may have the type " + t.String())
	}
	if errors.Is(err, strconv.ErrSyntax) || errors.Is(err, strconv.ErrRange) {
		err = errWrong
	}
	return reflect.ValueOf(value), err
}

func parseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		err = errWrong
		if d, wrong := time.ParseDuration(text + "s"); wrong == nil && d > 0 {
			err = didYouMean(FormatDuration(d))
		}
	}
	return d, err
}

func parseBool(text string) (bool, error) {
	word := strings.ToLower(text)
	switch word {
	case "yes", "y", "on":
		word = "true"
	case "no", "n", "off":
		word = "false"
	case "true", "false":
	default:
		return false, errWrong
	}
	if word != text {
		return false, didYouMean(word)
	}
	return word == "true", nil
}

// within reports whether a value is within the bounds of its field's tag. A Boolean always is.
func within(v reflect.Value, tag reflect.StructTag) bool {
	if v.Kind() == reflect.Bool {
		return true
	}
	bound := func(key string, otherwise float64) float64 {
		text := tag.Get(key)
		if text == "" {
			return otherwise
		}
		value, err := parse(v.Type(), text)
		if err != nil {
			panic(fmt.Sprintf("yamldoc: the bound %q of a %v: %v", text, v.Type(), err))
		}
		return toFloat(value)
	}
	n := toFloat(v)
	return n >= bound("min", -math.MaxFloat64) && n <= bound("max", math.MaxFloat64)
}

func toFloat(v reflect.Value) float64 {
	if v.CanFloat() {
		return v.Float()
	}
	return float64(v.Int())
}

// format writes a single value as a file writes it.
func format(v reflect.Value, tag reflect.StructTag) string {
	if v.Kind() == reflect.String && tag.Get("oneof") == "" {
		return quote(v.String())
	}
	if word := tag.Get("zero"); word != "" && v.IsZero() {
		return word
	}
	if word := tag.Get("auto"); word != "" && v.Int() == Auto {
		return word
	}
	switch value := v.Interface().(type) {
	case time.Duration:
		return FormatDuration(value)
	case float64:
		return strconv.FormatFloat(value, 'g', -1, 64)
	default:
		return fmt.Sprint(value)
	}
}

// FormatDuration is Duration.String without units of zero at the end: 1h instead of 1h0m0s.
func FormatDuration(d time.Duration) string {
	s := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(s, zero) {
			s = strings.TrimSuffix(s, zero[1:])
		}
	}
	return s
}

// Size is a number of bytes.
type Size int64

// units are the suffixes of a size, the largest first.
var units = [...]struct {
	name  string
	shift uint
}{{"TiB", 40}, {"GiB", 30}, {"MiB", 20}, {"KiB", 10}, {"B", 0}}

// String returns the size as a file writes it, with the largest unit that keeps the number whole,
// such as "512MiB".
func (s Size) String() string {
	for _, u := range units {
		if s != 0 && s%(1<<u.shift) == 0 {
			return strconv.FormatInt(int64(s>>u.shift), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10)
}

// parseSize reads a whole number of bytes, with or without a unit.
func parseSize(text string) (Size, error) {
	digits := strings.TrimRight(text, "BKMGTbkmgti ")
	suffix := text[len(digits):]
	value, err := strconv.ParseUint(digits, 10, 63)
	initial := strings.TrimSpace(suffix + "B")[:1] // 512MB, 512M, 512 MiB and 512mib all mean 512MiB to some writers
	for _, u := range units {
		switch {
		case err != nil || !strings.EqualFold(initial, u.name[:1]):
		case suffix != u.name && suffix != "":
			return 0, didYouMean(digits + u.name)
		case value <= math.MaxInt64>>u.shift:
			return Size(value << u.shift), nil
		}
	}
	return 0, errWrong
}
