package settings

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// errWrong says that a text is not what it has to be, without a guess at what was meant.
var errWrong = errors.New("wrong")

// Scalar is a single value as it stands in the file.
type Scalar struct {
	Text   string
	Quoted bool // it can only be a text
}

var (
	typeDuration = reflect.TypeFor[time.Duration]()
	typeSize     = reflect.TypeFor[Size]()
)

// set sets a field from a scalar. Its error says what was given and what is allowed.
func set(v reflect.Value, tag reflect.StructTag, s Scalar) error {
	err := assign(v, tag, s)
	if err == nil {
		return nil
	}
	problem := fmt.Sprintf("%s is not %s", shown(s), Describe(v.Type(), tag))
	if !errors.Is(err, errWrong) {
		problem += "; " + err.Error()
	}
	return errors.New(problem)
}

func assign(v reflect.Value, tag reflect.StructTag, s Scalar) error {
	if v.Kind() == reflect.String {
		return assignText(v, tag, s.Text)
	}
	if word := tag.Get("zero"); word != "" && s.Text == word {
		v.SetZero()
		return nil
	}
	if word := tag.Get("auto"); word != "" && s.Text == word {
		v.SetInt(Auto)
		return nil
	}
	if s.Quoted && v.Type() != typeDuration && v.Type() != typeSize {
		return errors.New("leave the quotes away")
	}
	value, err := parse(v.Type(), s.Text)
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
		for _, a := range allowed {
			if a == text {
				v.SetString(text)
				return nil
			}
		}
		if near := nearest(text, allowed); near != "" {
			return fmt.Errorf("did you mean %s?", near)
		}
		return errWrong
	}
	v.SetString(text)
	return nil
}

// parse reads a text as a value of a type that is no string.
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
		panic("settings: no field may have the type " + t.String())
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

// within reports whether a value keeps the bounds of the field's tag. What is not a number keeps none.
func within(v reflect.Value, tag reflect.StructTag) bool {
	if v.Kind() == reflect.Bool {
		return true
	}
	least, most := math.Inf(-1), math.Inf(1)
	if bound := tag.Get("min"); bound != "" {
		least = bounding(v.Type(), bound)
	}
	if bound := tag.Get("max"); bound != "" {
		most = bounding(v.Type(), bound)
	}
	n := number(v)
	return n >= least && n <= most && !math.IsInf(n, 0)
}

func bounding(t reflect.Type, text string) float64 {
	v, err := parse(t, text)
	if err != nil {
		panic(fmt.Sprintf("settings: the bound %q of a %v: %v", text, t, err))
	}
	return number(v)
}

func number(v reflect.Value) float64 {
	if v.CanFloat() {
		return v.Float()
	}
	return float64(v.Int())
}

// format writes a value as a file says it, for a type that is no string.
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

// FormatDuration is Duration.String without the zeros at its end.
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
