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
	for i := range v.NumField() {
		field, tag := v.Field(i), v.Type().Field(i).Tag
		if field.Kind() == reflect.Struct {
			Fill(field)
		} else if text, ok := tag.Lookup("default"); ok {
			if err := set(field, tag, scalar{text: text}); err != nil {
				panic(fmt.Sprintf("yamldoc: the default of %s: %v", v.Type().Field(i).Name, err))
			}
		}
	}
}

// set sets a field from a scalar. The error says what the value is and what is allowed.
func set(v reflect.Value, tag reflect.StructTag, s scalar) error {
	err := assign(v, tag, s)
	if err == nil {
		return nil
	}
	problem := fmt.Sprintf("%s is not %s", s, Describe(v.Type(), tag))
	if !errors.Is(err, errWrong) {
		problem += "; " + err.Error()
	}
	return errors.New(problem)
}

func assign(v reflect.Value, tag reflect.StructTag, s scalar) error {
	if v.Kind() == reflect.String {
		return assignText(v, tag, s.text)
	}
	if word := tag.Get("zero"); word != "" && s.text == word {
		v.SetZero()
		return nil
	}
	if word := tag.Get("auto"); word != "" && s.text == word {
		v.SetInt(Auto)
		return nil
	}
	if s.quoted && v.Type() != typeDuration && v.Type() != typeSize {
		return errors.New("remove the quotes")
	}
	value, err := parse(v.Type(), s.text)
	if err != nil {
		return err
	}
	if !within(value, tag) {
		return errWrong
	}
	v.Set(value)
	return nil
}

func assignText(v reflect.Value, tag reflect.StructTag, text string) error {
	if list := tag.Get("oneof"); list != "" {
		allowed := strings.Split(list, ",")
		if !slices.Contains(allowed, text) {
			if near := suggest(text, allowed); near != "" {
				return fmt.Errorf("did you mean %s?", near)
			}
			return errWrong
		}
	}
	v.SetString(text)
	return nil
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
	if d, err := time.ParseDuration(text); err == nil {
		return d, nil
	}
	if d, err := time.ParseDuration(text + "s"); err == nil && d > 0 {
		return 0, fmt.Errorf("did you mean %s?", FormatDuration(d))
	}
	return 0, errWrong
}

func parseBool(text string) (bool, error) {
	switch text {
	case "true", "false":
		return text == "true", nil
	}
	switch strings.ToLower(text) {
	case "yes", "y", "on", "true":
		return false, errors.New("did you mean true?")
	case "no", "n", "off", "false":
		return false, errors.New("did you mean false?")
	}
	return false, errWrong
}

// within reports whether a value is within the bounds of its field's tag. A Boolean always is.
func within(v reflect.Value, tag reflect.StructTag) bool {
	if v.Kind() == reflect.Bool {
		return true
	}
	least, most := math.Inf(-1), math.Inf(1)
	if bound := tag.Get("min"); bound != "" {
		least = parseBound(v.Type(), bound)
	}
	if bound := tag.Get("max"); bound != "" {
		most = parseBound(v.Type(), bound)
	}
	n := toFloat(v)
	return n >= least && n <= most && !math.IsInf(n, 0)
}

func parseBound(t reflect.Type, text string) float64 {
	v, err := parse(t, text)
	if err != nil {
		panic(fmt.Sprintf("yamldoc: the bound %q of a %v: %v", text, t, err))
	}
	return toFloat(v)
}

func toFloat(v reflect.Value) float64 {
	if v.CanFloat() {
		return v.Float()
	}
	return float64(v.Int())
}

// format writes a value of a type other than string as a file writes it.
func format(v reflect.Value, tag reflect.StructTag) string {
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
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
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
	if err != nil {
		return 0, errWrong
	}
	for _, u := range units {
		if suffix == u.name || suffix == "" && u.shift == 0 {
			if value > math.MaxInt64>>u.shift {
				return 0, errWrong
			}
			return Size(value << u.shift), nil
		}
	}
	if suffix = strings.TrimSpace(suffix); suffix == "" {
		return 0, errWrong
	}
	for _, u := range units { // 512MB, 512M, 512 MiB and 512mib all mean 512MiB to some writers
		if strings.EqualFold(suffix[:1], u.name[:1]) {
			return 0, fmt.Errorf("did you mean %s%s?", digits, u.name)
		}
	}
	return 0, errWrong
}
